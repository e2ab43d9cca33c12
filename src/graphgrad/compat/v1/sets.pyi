"""`tf.sets` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.sparse.sets import set_difference as difference
from graphgrad.extras.sparse.sets import set_difference as set_difference
from graphgrad.extras.sparse.sets import set_intersection as intersection
from graphgrad.extras.sparse.sets import set_intersection as set_intersection
from graphgrad.extras.sparse.sets import set_size as set_size
from graphgrad.extras.sparse.sets import set_size as size
from graphgrad.extras.sparse.sets import set_union as set_union
from graphgrad.extras.sparse.sets import set_union as union

__all__ = [
    "difference", "intersection", "set_difference", "set_intersection", "set_size", "set_union", "size", "union"
]
