"""Tensors as strings and back, in TensorFlow's message `TensorProto`."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import ANY, as_dtype, string
from ..ir.opdef import NOT_DIFFERENTIABLE, op, raw
from ..ir.wire import delimited, read_fields, read_varint, signed, varint

# Fields of the message: dtype, shape, all bytes; then values one by one, by kind.
_DTYPE, _SHAPE, _CONTENT, _STRINGS = 1, 2, 4, 8
_PACKED = {5: "f", 6: "d", 7: None, 9: "cf", 10: None, 11: None, 12: "cd", 13: None, 16: None, 17: None}


def _as_message(array: Any, dtype: Any) -> bytes:
    dims = b"".join(delimited(2, varint(1 << 3) + varint(n) if n else b"") for n in array.shape)
    head = varint(_DTYPE << 3) + varint(dtype.enum) + delimited(_SHAPE, dims)
    if dtype is string:
        return head + b"".join(delimited(_STRINGS, v) for v in array.reshape(-1).tolist())
    return head + (delimited(_CONTENT, np.ascontiguousarray(array).tobytes()) if array.size else b"")


@op("SerializeTensor", "tensor: T -> serialized: string", T=ANY, flags=("host",))
def serialize_tensor_op(xp, tensor):
    """A tensor as a string."""
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
    """The tensor that a string stands for."""
    data = serialized.item()
    try:
        dtype, shape, array = _from_message(data)
    except (ValueError, IndexError, KeyError, struct.error):
        raise Complaint(f"Could not parse `serialized` as TensorProto: {data[:40]!r}",
                        "give what serialize_tensor returned") from None
    if dtype is not out_type:
        raise Complaint(f"Type mismatch between parsed tensor ({dtype.name}) and dtype ({out_type.name})",
                        f"out_type=tf.{dtype.name}")
    return array.reshape(shape)


@parse_tensor_op.shape
def _unknown(x):
    return None


def _from_message(data: bytes) -> tuple[Any, tuple[int, ...], Any]:
    dtype, shape, content, strings, values = None, (), None, [], []  # type: Any, Any, Any, list[bytes], list[Any]
    for number, _, value in read_fields(data):
        if number == _DTYPE:
            dtype = as_dtype(value)
        elif number == _SHAPE:
            shape = tuple(_size(dim) for n, _, dim in read_fields(value) if n == 2)
        elif number == _CONTENT:
            content = value
        elif number == _STRINGS:
            strings.append(value)
        elif number in _PACKED:
            values.extend(_unpacked(value, _PACKED[number]))
    if dtype is None:
        raise ValueError("no dtype")
    count = int(np.prod(shape, dtype=np.int64))
    if dtype is string:
        filled = np.empty(count, object)
        filled[:] = strings + strings[-1:] * (count - len(strings))
        return dtype, shape, filled
    if content is not None:
        return dtype, shape, np.frombuffer(content, dtype.np_dtype).copy()
    array = np.zeros(count, dtype.np_dtype)
    if values:  # the last one stands for all that follow
        array[:] = np.asarray(values + values[-1:] * (count - len(values))).astype(dtype.np_dtype)
    return dtype, shape, array


def _size(dim: bytes) -> int:
    return next((signed(value) for n, _, value in read_fields(dim) if n == 1), 0)


def _unpacked(value: Any, kind: str | None) -> list[Any]:
    if isinstance(value, int):
        return [signed(value)]
    if kind is None:
        found, at = [], 0
        while at < len(value):
            number, at = read_varint(value, at)
            found.append(signed(number))
        return found
    numbers = [v for (v,) in struct.iter_unpack("<" + kind[-1], value)]
    return [complex(a, b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)] if kind[0] == "c" else numbers


for _record in (serialize_tensor_op, parse_tensor_op):
    _record.grad(NOT_DIFFERENTIABLE)


def serialize_tensor(tensor: Any, name: str | None = None) -> Any:
    """A tensor as a string, the serialized message `TensorProto`.

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


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Any:
    """The tensor that a serialized message `TensorProto` stands for.

    Args:
      serialized: a scalar string.
      out_type: the dtype of the tensor.
      name: a name for the operation.
    Returns: the tensor.
    Raises: InvalidArgumentError at run time for another dtype, or a string that is no such message.
    Gradient: none.
    Reference: TensorFlow 2.21 ParseTensor.

    >>> sess.run(tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32))
    array([1, 2], dtype=int32)
    """
    return raw.ParseTensor(serialized, out_type=as_dtype(out_type), name=name)
