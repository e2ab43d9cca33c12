"""`tf.manip` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.ops.array.gather import gather_nd_v1 as gather_nd
from graphgrad.ops.array.reshape import reshape as reshape
from graphgrad.ops.array.scatter import scatter_nd as scatter_nd
from graphgrad.ops.array.space_to_batch import batch_to_space_nd as batch_to_space_nd
from graphgrad.ops.array.space_to_batch import space_to_batch_nd as space_to_batch_nd
from graphgrad.ops.array.tile import tile as tile
from graphgrad.ops.array.transpose import reverse as reverse
from graphgrad.ops.array.transpose import roll as roll

__all__ = [
    "batch_to_space_nd", "gather_nd", "reshape", "reverse", "roll", "scatter_nd", "space_to_batch_nd", "tile"
]
