"""`tf.gfile` of TensorFlow 1."""

from graphgrad.platform.files import Copy as Copy
from graphgrad.platform.files import DeleteRecursively as DeleteRecursively
from graphgrad.platform.files import Exists as Exists
from graphgrad.platform.files import FastGFile as FastGFile
from graphgrad.platform.files import GFile as GFile
from graphgrad.platform.files import GFile as Open
from graphgrad.platform.files import Glob as Glob
from graphgrad.platform.files import IsDirectory as IsDirectory
from graphgrad.platform.files import ListDirectory as ListDirectory
from graphgrad.platform.files import MakeDirs as MakeDirs
from graphgrad.platform.files import MkDir as MkDir
from graphgrad.platform.files import Remove as Remove
from graphgrad.platform.files import Rename as Rename
from graphgrad.platform.files import Stat as Stat
from graphgrad.platform.files import Walk as Walk
