"""Arrays as `TensorProto` messages, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import make_array
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.graph import Tensor
from graphgrad.ir.graph_messages import TensorProto


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False,
                      allow_broadcast: bool = False) -> TensorProto:
    """Converts an array to a `TensorProto`.

    Args:
      values: a number, a list or an array.
      dtype: the dtype; that of the values if not given.
      shape: the shape; that of the values if not given.
      verify_shape: whether the values must have the shape already.
      allow_broadcast: whether a single value may be broadcast.
    Raises: TypeError for tensors, and for values that do not have the dtype; ValueError for another number of values.
    Reference: TensorFlow 2.21 `tf.make_tensor_proto`.

    >>> tf.make_ndarray(tf.make_tensor_proto([1.0, 2.0]))
    array([1., 2.], dtype=float32)
    """
    if isinstance(values, TensorProto):
        return values
    if isinstance(values, Tensor):
        raise TypeError("List of Tensors when single Tensor expected" if isinstance(values, list) else
                        f"Expected a value that is known while building, got {values}. Fix: run the tensor first")
    wanted = None if dtype is None else as_dtype(dtype)
    array = np.asarray(values) if isinstance(values, np.ndarray) and wanted is None else make_array(values, wanted)
    kind = wanted or as_dtype(array.dtype)
    if shape is not None:
        shape = [int(n) for n in shape]
        count = int(np.prod(shape, dtype=int))
        if verify_shape and list(array.shape) != shape:
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, but got {array.shape}.")
        if array.size != count:
            if array.size != 1 or not (allow_broadcast or not verify_shape):
                raise ValueError(f"{array.size} values do not fill the shape {shape}. Fix: give {count} values, or one")
            array = np.broadcast_to(array.reshape(()), shape)
        array = array.reshape(shape)
    return TensorProto.of(array, kind)


def make_ndarray(tensor: Any) -> np.ndarray[Any, Any]:
    """Converts a `TensorProto` to an array.

    Args:
      tensor: the message.
    Reference: TensorFlow 2.21 `tf.make_ndarray`.
    """
    if not isinstance(tensor, TensorProto):
        tensor = TensorProto.FromString(tensor.SerializeToString())
    return np.array(tensor.array())
