"""Tensors to and from serialized `TensorProto` messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import ANY, as_dtype, string
from graphgrad.ir.graph_messages import TensorProto
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.proto.wire import delimited, varint
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike

_DTYPE, _SHAPE, _CONTENT, _STRINGS = 1, 2, 4, 8  # fields of the message
_LARGE = 1 << 24  # bytes


def _as_message(array: Any, dtype: Any) -> bytes:
    dims = b"".join(delimited(2, varint(1 << 3) + varint(n) if n else b"") for n in array.shape)
    head = varint(_DTYPE << 3) + varint(dtype.enum) + delimited(_SHAPE, dims)
    if dtype is string:
        return head + b"".join(delimited(_STRINGS, v) for v in array.reshape(-1).tolist())
    return head + (delimited(_CONTENT, np.ascontiguousarray(array).tobytes()) if array.size else b"")


@op("SerializeTensor", "tensor: T -> serialized: string", T=ANY, flags=("host",))
def serialize_tensor_op(xp, tensor):
    """Serializes a tensor."""
    array = np.asarray(tensor)
    dtype = string if array.dtype == object else as_dtype(array.dtype)
    out = np.empty((), object)
    out[()] = _as_message(array, dtype)
    return out


@serialize_tensor_op.shape
def _scalar(x):
    return ()


@op("ParseTensor", "serialized: string -> output: out_type", out_type=ANY, flags=("host",))
def parse_tensor_op(xp, serialized, *, out_type):
    """Parses a serialized tensor."""
    if serialized.ndim:
        raise Complaint(f"Expected `serialized` to be a scalar, got shape: {list(serialized.shape)}", "serialized[0]")
    data = serialized.item()
    try:
        dtype, array = from_message(data)
    except (ValueError, TypeError) as e:
        raise Complaint(f"Could not parse `serialized` as TensorProto: {data[:40]!r} ({e})",
                        "give what serialize_tensor returned") from None
    if dtype is not out_type:
        raise Complaint(f"Type mismatch between parsed tensor ({dtype.name}) and dtype ({out_type.name})",
                        f"out_type=tf.{dtype.name}")
    return array


@parse_tensor_op.shape
def _unknown(x):
    return None


def from_message(data: bytes) -> tuple[Any, Any]:
    """Parses dtype and array of a serialized message; raises ValueError or TypeError if it is invalid.

    A large array of one value shares the memory of one element, and must not be written to.
    """
    message = TensorProto.FromString(data)
    array = message.array()
    repeated = array.nbytes > _LARGE and not any(array.strides)
    return as_dtype(int(message.dtype)), array if repeated else np.array(array)


for _record in (serialize_tensor_op, parse_tensor_op):
    _record.grad(NOT_DIFFERENTIABLE)


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Serializes a tensor as the message `TensorProto`.

    Args:
      tensor: any tensor.
      name: a name for the operation.
    Returns: a scalar string.
    Gradient: none.
    Reference: TensorFlow 2.21 SerializeTensor.

    >>> sess.run(tf.io.serialize_tensor([1.0, 2.0]))
    b'\\x08\\x01\\x12\\x04\\x12\\x02\\x08\\x02"\\x08\\x00\\x00\\x80?\\x00\\x00\\x00@'
    """
    return raw.SerializeTensor(tensor, name=name)


def parse_tensor(serialized: Any, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """Parses a tensor from the serialized message `TensorProto`.

    Args:
      serialized: a scalar string.
      out_type: the dtype of the tensor.
      name: a name for the operation.
    Returns: the tensor.
    Raises: InvalidArgumentError at run time for another dtype, or a string that is not such a message.
    Gradient: none.
    Reference: TensorFlow 2.21 ParseTensor.

    >>> sess.run(tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32))
    array([1, 2], dtype=int32)
    """
    return raw.ParseTensor(serialized, out_type=as_dtype(out_type), name=name)
