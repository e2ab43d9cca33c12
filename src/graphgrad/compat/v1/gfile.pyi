"""`tf.gfile` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.platform.gfile import Copy as Copy
from graphgrad.platform.gfile import DeleteRecursively as DeleteRecursively
from graphgrad.platform.gfile import Exists as Exists
from graphgrad.platform.gfile import FastGFile as FastGFile
from graphgrad.platform.gfile import GFile as GFile
from graphgrad.platform.gfile import GFile as Open
from graphgrad.platform.gfile import Glob as Glob
from graphgrad.platform.gfile import IsDirectory as IsDirectory
from graphgrad.platform.gfile import ListDirectory as ListDirectory
from graphgrad.platform.gfile import MakeDirs as MakeDirs
from graphgrad.platform.gfile import MkDir as MkDir
from graphgrad.platform.gfile import Remove as Remove
from graphgrad.platform.gfile import Rename as Rename
from graphgrad.platform.gfile import Stat as Stat
from graphgrad.platform.gfile import Walk as Walk

__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory", "ListDirectory", "MakeDirs",
    "MkDir", "Open", "Remove", "Rename", "Stat", "Walk"
]
