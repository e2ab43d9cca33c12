"""`tf.sets`. Written by `make faces` from exports.txt."""

from graphgrad.extras.sparse.sets import set_difference as difference
from graphgrad.extras.sparse.sets import set_intersection as intersection
from graphgrad.extras.sparse.sets import set_size as size
from graphgrad.extras.sparse.sets import set_union as union

__all__ = [
    "difference", "intersection", "size", "union"
]
