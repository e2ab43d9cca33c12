"""`tf.io.gfile`."""

from graphgrad.platform.files import GFile as GFile
from graphgrad.platform.files import copy as copy
from graphgrad.platform.files import exists as exists
from graphgrad.platform.files import glob as glob
from graphgrad.platform.files import isdir as isdir
from graphgrad.platform.files import join as join
from graphgrad.platform.files import listdir as listdir
from graphgrad.platform.files import makedirs as makedirs
from graphgrad.platform.files import mkdir as mkdir
from graphgrad.platform.files import remove as remove
from graphgrad.platform.files import rename as rename
from graphgrad.platform.files import rmtree as rmtree
from graphgrad.platform.files import stat as stat
from graphgrad.platform.files import walk as walk
from graphgrad.platform.files import get_registered_schemes as get_registered_schemes
