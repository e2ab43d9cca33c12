"""`tf.sets` of TensorFlow 1."""

from graphgrad.ops.sets import set_difference as difference
from graphgrad.ops.sets import set_intersection as intersection
from graphgrad.ops.sets import set_size as size
from graphgrad.ops.sets import set_union as union
from graphgrad.ops.sets import set_difference as set_difference
from graphgrad.ops.sets import set_intersection as set_intersection
from graphgrad.ops.sets import set_size as set_size
from graphgrad.ops.sets import set_union as set_union
