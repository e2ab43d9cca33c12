"""`tf.logging` of TensorFlow 1."""

from graphgrad.platform.logs import DEBUG as DEBUG
from graphgrad.platform.logs import ERROR as ERROR
from graphgrad.platform.logs import FATAL as FATAL
from graphgrad.platform.logs import INFO as INFO
from graphgrad.platform.logs import TaskLevelStatusMessage as TaskLevelStatusMessage
from graphgrad.platform.logs import WARN as WARN
from graphgrad.platform.logs import debug as debug
from graphgrad.platform.logs import error as error
from graphgrad.platform.logs import fatal as fatal
from graphgrad.platform.logs import flush as flush
from graphgrad.platform.logs import get_verbosity as get_verbosity
from graphgrad.platform.logs import info as info
from graphgrad.platform.logs import log as log
from graphgrad.platform.logs import log_every_n as log_every_n
from graphgrad.platform.logs import log_first_n as log_first_n
from graphgrad.platform.logs import log_if as log_if
from graphgrad.platform.logs import set_verbosity as set_verbosity
from graphgrad.platform.logs import vlog as vlog
from graphgrad.platform.logs import warn as warn
from graphgrad.platform.logs import warning as warning
