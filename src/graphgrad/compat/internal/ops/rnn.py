"""What `tensorflow.python.ops.rnn` and `rnn_cell_impl` have besides cells, which programs take from there."""

from __future__ import annotations

from typing import Any

from graphgrad.compat.v1.nn import rnn_cell as rnn_cell_impl
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape


def _concat(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """Joins two shapes.

    Args:
      prefix, suffix: sizes: tensors, ints, or lists of them.
      static: whether the result is a list, of what is known, in place of a tensor.
    Returns: an int32 vector; a list of ints and None.
    Raises: ValueError for a tensor that is no scalar or vector, or for sizes that are not known if it is a tensor.
    """
    parts = [_sizes(prefix), _sizes(suffix)]
    if static:
        return [size for _, known in parts for size in known]
    if any(tensor is None for tensor, _ in parts):
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}. Fix: give all sizes")
    return raw.ConcatV2([tensor for tensor, _ in parts], 0)


def _sizes(given: Any) -> tuple[Any, list[Any]]:
    """Returns sizes as a vector, None if one is not known; and as a list."""
    if is_tensor_like(given):
        tensor = convert_to_tensor(given)
        if tensor.shape.rank not in (0, 1):
            raise ValueError(f"prefix tensor must be either a scalar or vector, but saw tensor: {tensor}. "
                             "Fix: tf.reshape(x, [-1])")
        tensor = raw.Reshape(tensor, [-1])
        known = constant_value(tensor)
        return tensor, list(tensor.shape.as_list()[0] * [None]) if known is None else known.tolist()
    sizes = TensorShape(given if isinstance(given, (list, tuple, TensorShape)) else [given]).as_list()
    return None if None in sizes else convert_to_tensor(sizes, int32), sizes


__all__ = ["_concat", "rnn_cell_impl"]
