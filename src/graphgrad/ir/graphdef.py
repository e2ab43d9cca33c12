"""A graph as TensorFlow's `GraphDef` message: names, types, inputs, devices and attributes of its operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import DType
from .graph import Graph, Operation
from .protobuf import delimited, varint

_LARGEST = 1024  # bytes of a constant that are written; beyond that its shape alone


def graph_def(graph: Graph) -> bytes:
    """The serialized `GraphDef` of a graph, as a picture needs it.

    Functions and large constants are named, not written, so it cannot be run again.

    Args:
      graph: the graph.
    Reference: TensorFlow 2.21 graph.proto, node_def.proto, attr_value.proto.
    """
    nodes = [delimited(1, _node(op)) for op in graph.get_operations()]
    return b"".join(nodes) + delimited(4, varint(1 << 3) + varint(2474))  # the producer's version


def _node(op: Operation) -> bytes:
    node = op.node_def
    parts = [delimited(1, node.name.encode()), delimited(2, node.op.encode())]
    parts += [delimited(3, name.encode()) for name in node.input]
    if node.device:
        parts.append(delimited(4, node.device.encode()))
    attrs = {name: _attr(name, value) for name, value in node.attr.items()}
    attrs["_output_shapes"] = delimited(1, b"".join(delimited(7, _shape(t._spec.shape)) for t in op.outputs))
    if op._colocation:
        attrs["_class"] = delimited(1, b"".join(delimited(2, c.encode()) for c in op._colocation))
    entries = [delimited(1, name.encode()) + delimited(2, value) for name, value in sorted(attrs.items()) if value]
    return b"".join(parts + [delimited(5, entry) for entry in entries])


def _attr(name: str, value: Any) -> bytes:
    """The `AttrValue`; empty for what has none."""
    if isinstance(value, DType):
        return _number(6, value.enum)
    if isinstance(value, bool):
        return _number(5, value)
    if isinstance(value, int):
        return _number(3, value)
    if isinstance(value, float):
        return varint(4 << 3 | 5) + np.array(value, "<f4").tobytes()
    if isinstance(value, (str, bytes)):
        return delimited(2, value.encode() if isinstance(value, str) else value)
    if isinstance(value, (np.ndarray, np.generic)):
        return _tensor(np.asarray(value))
    if name.endswith("shape") and (value is None or _is_shape(value)):
        return delimited(7, _shape(value))
    if isinstance(value, (list, tuple)):
        return delimited(1, b"".join(_attr_item(v) for v in value))
    function = getattr(value, "name", None)
    return delimited(10, delimited(1, function.encode())) if isinstance(function, str) else b""


def _attr_item(value: Any) -> bytes:
    """An element of a list, whose fields have the numbers of single values."""
    if value is None or (isinstance(value, tuple) and _is_shape(value)):
        return delimited(7, _shape(value))
    return b"" if isinstance(value, (list, tuple, np.ndarray)) else _attr("", value)


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(n is None or type(n) is int for n in value)


def _number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(int(value))


def _shape(shape: Any) -> bytes:
    if shape is None:
        return _number(3, 1)
    return b"".join(delimited(2, _number(1, -1 if n is None else int(n))) for n in shape)


def _tensor(array: Any) -> bytes:
    from .dtypes import as_dtype, string

    dtype = as_dtype(array.dtype)
    content = b""
    if dtype is string:
        strings = [v.encode() if isinstance(v, str) else bytes(v) for v in array.ravel().tolist()]
        if sum(map(len, strings)) <= _LARGEST:
            content = b"".join(delimited(8, v) for v in strings)
    elif array.nbytes <= _LARGEST:
        content = delimited(4, array.tobytes())
    return delimited(8, _number(1, dtype.enum) + delimited(2, _shape(array.shape)) + content)
