"""`tf.logging` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.platform.logging_v1 import DEBUG as DEBUG
from graphgrad.platform.logging_v1 import ERROR as ERROR
from graphgrad.platform.logging_v1 import FATAL as FATAL
from graphgrad.platform.logging_v1 import INFO as INFO
from graphgrad.platform.logging_v1 import TaskLevelStatusMessage as TaskLevelStatusMessage
from graphgrad.platform.logging_v1 import WARN as WARN
from graphgrad.platform.logging_v1 import debug as debug
from graphgrad.platform.logging_v1 import error as error
from graphgrad.platform.logging_v1 import fatal as fatal
from graphgrad.platform.logging_v1 import flush as flush
from graphgrad.platform.logging_v1 import get_verbosity as get_verbosity
from graphgrad.platform.logging_v1 import info as info
from graphgrad.platform.logging_v1 import log as log
from graphgrad.platform.logging_v1 import log_every_n as log_every_n
from graphgrad.platform.logging_v1 import log_first_n as log_first_n
from graphgrad.platform.logging_v1 import log_if as log_if
from graphgrad.platform.logging_v1 import set_verbosity as set_verbosity
from graphgrad.platform.logging_v1 import vlog as vlog
from graphgrad.platform.logging_v1 import warn as warn
from graphgrad.platform.logging_v1 import warning as warning

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "TaskLevelStatusMessage", "WARN", "debug", "error", "fatal", "flush",
    "get_verbosity", "info", "log", "log_every_n", "log_first_n", "log_if", "set_verbosity", "vlog", "warn", "warning"
]
