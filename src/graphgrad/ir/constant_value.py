"""The partial evaluator: what is known of a tensor without running the graph.

It answers three questions: what is the value (`constant_value`), what is the known part of it (`static_value`), and
from what does it follow (`Origins`): from constants and shapes alone, from values that are fed, or from the run. Shape
rules ask the second, since the target of a reshape is often arithmetic on `tf.shape(x)`; gradients ask the first and
the third for the trip counts of loops, the executor the third for what it folds and compiles in. Where more is known
of a tensor, such as the shape that a run gives it, a `Known` is asked in its place.

A partial value is an int (or bool, float), a nested tuple of them with None for unknown elements, or None when nothing
is known. Only small tensors are followed.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .op_signature import Spec

if TYPE_CHECKING:
    from .dtypes import DType
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
    """Returns the full value of `tensor` as an array if it is known, else None.

    Args:
      tensor: a tensor.
    Returns: an array of the tensor's dtype and shape; None if an element is known only at run time.
    Reference: TensorFlow 2.21 `tf.get_static_value`.

    >>> tf.get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    >>> tf.get_static_value(tf.placeholder(tf.int32, [])) is None
    True
    """
    if not hasattr(tensor, "op"):
        return np.asarray(tensor._value)
    if tensor.op.type == "Const":
        return np.asarray(tensor.op.attrs["value"])
    value = static_value(tensor)
    if value is None or has_unknown(value):
        return None
    return np.asarray(value, tensor.dtype.np_dtype)


def _known(t: Tensor) -> Any:
    try:
        return t._static
    except AttributeError:
        return _UNSEEN


def _follow(op: Operation) -> tuple[Tensor, ...]:
    """Returns the inputs whose values decide the value of `op`'s output."""
    opdef = op.opdef
    if opdef.value_rule is None or opdef.shape_only:
        return ()
    return tuple([t for t in op.inputs if t.dtype.kind in "iub"])


def frozen(array: np.ndarray[Any, Any]) -> Any:
    """Converts an array to nested tuples."""

    def freeze(v: Any) -> Any:
        return tuple(freeze(i) for i in v) if isinstance(v, list) else v

    return freeze(array.tolist())


def has_unknown(value: Any) -> bool:
    """Returns whether an element of a partial value is not known."""
    return any(map(has_unknown, value)) if isinstance(value, tuple) else value is None


def _evaluate(t: Tensor) -> Any:
    op = t.op
    if op.type == "Const":
        value = op.attrs["value"]
        return frozen(value) if value.size <= _LIMIT and t.dtype.kind in "iubf" else None
    rule = op.opdef.value_rule
    if rule is None or t.dtype.kind not in "iub":
        return None
    return rule(t, [None if (v := _known(i)) is _UNSEEN else v for i in op.inputs])


class Known:
    """Stands for a tensor, as an input of shape rules, of which more is known than the graph says.

    Args:
      dtype: its dtype.
      shape: its shape.
      value: its partial value.
    """

    __slots__ = ("dtype", "_spec", "_static")

    def __init__(self, dtype: DType, shape: Shape, value: Any):
        self.dtype, self._spec, self._static = dtype, Spec.of(dtype, shape), value

    @classmethod
    def of(cls, tensor: Tensor, value: Any) -> Known:
        """Returns what is known of a tensor in a run.

        Args:
          tensor: the tensor.
          value: an array, or something else with a shape.
        """
        seen = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "iub" and value.size <= _LIMIT
        return cls(tensor.dtype, tuple(map(int, value.shape)), frozen(np.asarray(value)) if seen else None)


def may_reject(op: Operation) -> bool:
    """Returns whether an operation may reject values (`OpTraits.refuses`), as far as is known without running."""
    opdef = op.opdef
    if opdef.fault is None:
        return False
    if opdef.fault_needs is None or opdef.has_lists:
        return True
    arrays = []
    for i, t in enumerate(op.inputs):
        value, shape = constant_value(t), t._spec.shape
        if value is None:
            if shape is None or None in shape or (i in opdef.fault_needs and t.dtype.kind in "iu"):
                return True
            value = np.broadcast_to(np.zeros((), t.dtype.np_dtype), shape)  # type: ignore[arg-type]  # all are known
        arrays.append(value)
    conditions = opdef.faults(np, arrays, None, {k: op._attr(k) for k in opdef.kernel_attrs})
    return any(np.any((c[0] < 0) | (c[0] >= c[1]) if isinstance(c, tuple) else c) for c in conditions)


class Origin(enum.IntEnum):
    """From what a value follows: the larger, the later it is known."""

    SHAPES = 0  # constants and shapes alone: known when an operation is compiled
    FEEDS = 1  # values that are fed, too: known when a run begins
    RUN = 2  # anything else


class Origins:
    """From what the values of tensors follow.

    Args:
      given: the origins of tensors, by id, whatever computes them.
    """

    def __init__(self, given: Mapping[int, Origin] | None = None):
        self._known: dict[int, Origin] = dict(given or {})

    def of(self, tensor: Tensor) -> Origin:
        """Returns the origin of a tensor's value."""
        known = self._known
        found = known.get(id(tensor))
        if found is not None:
            return found
        stack = [tensor]
        while stack:  # depth first, without recursion
            t = stack[-1]
            op = t.op
            if op.opdef.shape_only or op.type == "Const":
                known[id(t)] = Origin.SHAPES
            elif not op.inputs or not op.opdef.pure or "host" in op.opdef.flags:
                known[id(t)] = Origin.RUN
            else:
                found = Origin.SHAPES
                for i in op.inputs:
                    origin = known.get(id(i))
                    if origin is None:
                        stack.append(i)
                    elif origin > found:
                        found = origin
                if stack[-1] is not t:
                    continue
                known[id(t)] = found
            stack.pop()
        return known[id(tensor)]


# -- rules, see `OpTraits.partial_value` -------------------------------------------------


def folded(t: Tensor, values: list[Any]) -> Any:
    """Returns the kernel's result, if all elements of all inputs are known."""
    if any(map(has_unknown, values)):
        return None
    return _run(t, [np.asarray(v, i.dtype.np_dtype) for v, i in zip(values, t.op.inputs, strict=True)])


def _run(t: Tensor, arrays: list[Any]) -> Any:
    op = t.op
    try:
        attrs = {k: op._attr(k) for k in op.opdef.kernel_attrs}
        result = op.opdef.bind_kernel(np)(np, *op.opdef.pack(arrays, op.attrs), **attrs)
    except Exception:  # the run will raise its own error
        return None
    array = np.asarray(op.opdef.unpack(result)[t.value_index])
    return frozen(array) if array.size <= _LIMIT else None


def elementwise(t: Tensor, values: list[Any]) -> Any:
    """Returns the kernel's result for each known element of scalars and vectors."""
    if any(v is None for v in values):
        return None
    op = t.op
    vectors = [v for v in values if isinstance(v, tuple)]
    if any(isinstance(i, tuple) for v in vectors for i in v):
        if any(map(has_unknown, values)):
            return None
        return _run(t, [np.asarray(v, i.dtype.np_dtype) for v, i in zip(values, op.inputs, strict=True)])
    n = max((len(v) for v in vectors), default=None)

    def at(i: int) -> Any:
        scalars = [v[i if len(v) > 1 else 0] if isinstance(v, tuple) else v for v in values]
        if any(s is None for s in scalars):
            return None
        return _run(t, [np.asarray(s, i.dtype.np_dtype) for s, i in zip(scalars, op.inputs, strict=True)])

    return at(0) if n is None else tuple(at(i) for i in range(n))
