"""`tf.experimental.numpy`. Written by `make faces` from exports.txt."""

from graphgrad.ops.common.numpy_functions import finfo as finfo
from graphgrad.ops.common.numpy_functions import select as select

__all__ = [
    "finfo", "select"
]
