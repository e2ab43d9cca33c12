"""Static evaluation: the part of a tensor's value that is known while the graph is built.

Shape rules need it: the target of a reshape is often arithmetic on `tf.shape(x)`. A value is
an int (or bool, float), a nested tuple of them with None for unknown elements, or None when
nothing is known. Only small tensors are followed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .graph import Operation, Tensor
    from .shape import Shape

_LIMIT = 1024  # elements; larger tensors are not shapes
_UNSEEN: Any = object()


def static_value(tensor: Any) -> Any:
    """Returns the value of `tensor` as far as it is known, in the form that this module's docstring describes."""
    known = getattr(tensor, "_static", _UNSEEN)
    if known is not _UNSEEN:
        return _nothing(tensor._spec.shape) if known is None else known
    if not hasattr(tensor, "op"):  # an eager tensor
        return frozen(np.asarray(tensor._value)) if tensor._value.size <= _LIMIT else None
    stack: list[Tensor] = [tensor]
    while stack:  # depth first, without recursion
        t = stack[-1]
        if _known(t) is not _UNSEEN:
            stack.pop()
            continue
        unseen = [i for i in _follow(t.op) if _known(i) is _UNSEEN]
        if unseen:
            stack.extend(unseen)
            continue
        stack.pop()
        t._static = _evaluate(t)
    value = tensor._static
    return _nothing(tensor._spec.shape) if value is None else value


def _nothing(shape: Shape) -> Any:
    """Returns a value of which only the shape is known."""
    if shape is None or None in shape or math.prod(shape) > _LIMIT:  # type: ignore[arg-type]  # all are known
        return None
    value: Any = None
    for n in reversed(shape):
        value = (value,) * n  # type: ignore[operator]  # no dimension is None here
    return value


def constant_value(tensor: Any) -> np.ndarray[Any, Any] | None:
    """Returns the full value of `tensor` as an array if it is known, else None."""
    if not hasattr(tensor, "op"):
        return np.asarray(tensor._value)
    if tensor.op.type == "Const":
        return np.asarray(tensor.op.attrs["value"])
    value = static_value(tensor)
    if value is None or _has_unknown(value):
        return None
    return np.asarray(value, tensor.dtype.np_dtype)


def _known(t: Tensor) -> Any:
    try:
        return t._static
    except AttributeError:
        return _UNSEEN


def _follow(op: Operation) -> tuple[Tensor, ...]:
    """Returns the inputs whose values decide the value of `op`'s output."""
    if op.type in _PARTIAL or op.type in _ELEMENTWISE or op.type in _FOLDED:
        return tuple(t for t in op.inputs if t.dtype.kind in "iub")
    return ()


def frozen(array: np.ndarray[Any, Any]) -> Any:
    """Converts an array to nested tuples."""

    def freeze(v: Any) -> Any:
        return tuple(freeze(i) for i in v) if isinstance(v, list) else v

    return freeze(array.tolist())


def _has_unknown(value: Any) -> bool:
    return any(map(_has_unknown, value)) if isinstance(value, tuple) else value is None


def _evaluate(t: Tensor) -> Any:
    op = t.op
    kind = op.type
    if kind == "Const":
        value = op.attrs["value"]
        return frozen(value) if value.size <= _LIMIT and t.dtype.kind in "iubf" else None
    if t.dtype.kind not in "iub":
        return None
    if kind in _PARTIAL:
        return _PARTIAL[kind](op)
    if kind in _ELEMENTWISE or kind in _FOLDED:
        values = [i._static if _known(i) is not _UNSEEN else None for i in op.inputs]
        if any(v is None for v in values):
            return None
        if kind in _ELEMENTWISE:
            return _elementwise(t, values)
        if not any(map(_has_unknown, values)):
            arrays = [np.asarray(v, i.dtype.np_dtype) for v, i in zip(values, op.inputs, strict=True)]
            return _run(t, arrays)
    return None


def _run(t: Tensor, arrays: list[Any]) -> Any:
    op = t.op
    try:
        attrs = {k: op._attr(k) for k in op.opdef.kernel_attrs}
        result = op.opdef.bind_kernel(np)(np, *op.opdef.pack(arrays, op.attrs), **attrs)
    except Exception:  # the run will raise its own error
        return None
    array = np.asarray(op.opdef.unpack(result)[t.value_index])
    return frozen(array) if array.size <= _LIMIT else None


def _elementwise(t: Tensor, values: list[Any]) -> Any:
    op = t.op
    vectors = [v for v in values if isinstance(v, tuple)]
    if any(isinstance(i, tuple) for v in vectors for i in v):
        if any(map(_has_unknown, values)):
            return None
        return _run(t, [np.asarray(v, i.dtype.np_dtype) for v, i in zip(values, op.inputs, strict=True)])
    n = max((len(v) for v in vectors), default=None)

    def at(i: int) -> Any:
        scalars = [v[i if len(v) > 1 else 0] if isinstance(v, tuple) else v for v in values]
        if any(s is None for s in scalars):
            return None
        return _run(t, [np.asarray(s, i.dtype.np_dtype) for s, i in zip(scalars, op.inputs, strict=True)])

    return at(0) if n is None else tuple(at(i) for i in range(n))


def _shape(op: Operation) -> Any:
    return op.inputs[0]._spec.shape


def _rank(op: Operation) -> Any:
    shape = op.inputs[0]._spec.shape
    return None if shape is None else len(shape)


def _size(op: Operation) -> Any:
    from .shape import num_elements

    return num_elements(op.inputs[0]._spec.shape)


def _through(op: Operation) -> Any:
    return op.inputs[0]._static


def _cast(op: Operation) -> Any:
    value = op.inputs[0]._static if op.inputs[0].dtype.kind in "iub" else None
    if isinstance(value, tuple) and any(isinstance(v, tuple) for v in value):
        return None
    convert = int if op.outputs[0].dtype.kind in "iu" else bool
    if isinstance(value, tuple):
        return tuple(None if v is None else convert(v) for v in value)
    return None if value is None else convert(value)


def _pack(op: Operation) -> Any:
    values = [t._static for t in op.inputs]
    scalars = all(t._spec.shape == () for t in op.inputs)
    if scalars:
        return tuple(values)
    if op._attr("axis") != 0 or any(v is None for v in values):
        return None
    return tuple(values)


def _concat(op: Operation) -> Any:
    parts: list[Any] = []
    axis = op.inputs[-1]._static
    for t in op.inputs[:-1]:
        value = t._static
        if value is None:
            shape = t._spec.shape
            if shape is None or len(shape) != 1 or shape[0] is None:
                return None
            value = (None,) * shape[0]
        if axis not in (0, -1) or any(isinstance(v, tuple) for v in value):
            return None
        parts.extend(value)
    return tuple(parts)


def _strided_slice(op: Operation) -> Any:
    value, begin, end, strides = (t._static for t in op.inputs)
    if not isinstance(value, tuple) or any(
        not isinstance(v, tuple) or len(v) != 1 or v[0] is None for v in (begin, end, strides)
    ):
        return None
    if op._attr("ellipsis_mask") or op._attr("new_axis_mask"):
        return None
    if op._attr("shrink_axis_mask") & 1:
        return value[begin[0]] if -len(value) <= begin[0] < len(value) else None
    start = None if op._attr("begin_mask") & 1 else begin[0]
    stop = None if op._attr("end_mask") & 1 else end[0]
    return value[start : stop : strides[0]]


def _reshape(op: Operation) -> Any:
    value, target = (t._static for t in op.inputs)
    if target == () and isinstance(value, tuple) and len(value) == 1:
        return value[0]
    if isinstance(target, tuple) and len(target) == 1 and value is not None:
        while isinstance(value, tuple) and any(isinstance(v, tuple) for v in value):
            if not all(isinstance(v, tuple) for v in value):
                return None
            value = tuple([i for v in value for i in v])
        return value if isinstance(value, tuple) else (value,)
    return None


_PARTIAL: dict[str, Any] = {
    "Shape": _shape, "Rank": _rank, "Size": _size, "Identity": _through, "StopGradient": _through, "Cast": _cast,
    "Pack": _pack, "ConcatV2": _concat, "StridedSlice": _strided_slice, "Reshape": _reshape,
}
_ELEMENTWISE = frozenset({"Add", "AddV2", "Sub", "Mul", "FloorDiv", "Div", "RealDiv", "FloorMod", "Maximum", "Minimum",
                          "Neg"})
_FOLDED = frozenset({"Range", "Prod", "Sum", "Max", "Min", "GatherV2", "Slice", "Fill", "ExpandDims", "Squeeze",
                     "Transpose", "SelectV2", "Equal", "NotEqual", "Less", "Greater", "ReverseV2", "InvertPermutation",
                     "BroadcastArgs", "Tile", "Unpack", "Split", "DynamicStitch", "Select", "ListDiff",
                     "LogicalAnd", "LogicalOr", "LogicalNot", "BroadcastGradientArgs"})
