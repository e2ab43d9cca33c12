"""`tf.experimental.numpy`. Written by `make faces` from exports.txt."""

from graphgrad.ops.math.numpy_functions import finfo as finfo
from graphgrad.ops.math.numpy_functions import iinfo as iinfo
from graphgrad.ops.math.numpy_functions import select as select

__all__ = [
    "finfo", "iinfo", "select"
]
