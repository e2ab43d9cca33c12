"""`tf.io.gfile`. Written by `make faces` from exports.txt."""

from graphgrad.platform.gfile import GFile as GFile
from graphgrad.platform.gfile import copy as copy
from graphgrad.platform.gfile import exists as exists
from graphgrad.platform.gfile import get_registered_schemes as get_registered_schemes
from graphgrad.platform.gfile import glob as glob
from graphgrad.platform.gfile import isdir as isdir
from graphgrad.platform.gfile import join as join
from graphgrad.platform.gfile import listdir as listdir
from graphgrad.platform.gfile import makedirs as makedirs
from graphgrad.platform.gfile import mkdir as mkdir
from graphgrad.platform.gfile import remove as remove
from graphgrad.platform.gfile import rename as rename
from graphgrad.platform.gfile import rmtree as rmtree
from graphgrad.platform.gfile import stat as stat
from graphgrad.platform.gfile import walk as walk

__all__ = [
    "GFile", "copy", "exists", "get_registered_schemes", "glob", "isdir", "join", "listdir", "makedirs", "mkdir",
    "remove", "rename", "rmtree", "stat", "walk"
]
