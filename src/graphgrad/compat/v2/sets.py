"""`tf.sets` of TensorFlow 2."""

from graphgrad.ops.sets import set_difference as difference
from graphgrad.ops.sets import set_intersection as intersection
from graphgrad.ops.sets import set_size as size
from graphgrad.ops.sets import set_union as union
