"""Number sequences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import constant_value, folded
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like, make_array
from graphgrad.ir.dtypes import FLOATING, INDEX, INTEGER, as_dtype, float64, int32
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.tensor import DTypeLike, Tensor
from graphgrad.ops.common.attribute_values import whole_array
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import fill, join, minus, part, plus, rank_of, shape_of


@op("Range", "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx", Tidx=INTEGER | FLOATING,
    host=("start", "limit", "delta"), partial_value=folded)
def range_op(xp, start, limit, delta):
    """Returns start, start + delta, ... up to, not including, limit."""
    n = _range_shape(start.item(), limit.item(), delta.item(), as_dtype(start.dtype))[0]
    kind = start.dtype
    if kind.kind == "i" and delta == 1 and int(start) + n <= np.iinfo(kind).max:
        return np.arange(int(start), int(start) + n, dtype=kind)
    return (start + np.arange(n).astype(kind) * delta).astype(kind)


@range_op.shape
def _range_shape(start, limit, delta, Tidx):
    if start is None or limit is None or delta is None:
        return (None,)
    if any(isinstance(v, tuple) for v in (start, limit, delta)):
        raise Complaint("start, limit and delta must be scalars", "give one number each")
    if delta == 0:
        raise Complaint("Requires delta != 0", "give another delta")
    if (limit - start) * delta < 0:
        sign, relation = ("delta > 0", "<=") if delta > 0 else ("delta < 0", ">=")
        raise Complaint(f"Requires start {relation} limit when {sign}: {start}, {limit}",
                        "change the sign of delta, or swap start and limit")
    if not isinstance(start, float):
        return (len(range(start, limit, delta)),)
    kind = Tidx.np_dtype.type  # its rounding decides whether the last number is reached
    with np.errstate(all="ignore"):
        return (math.ceil(abs((kind(limit) - kind(start)) / kind(delta))),)


range_op.grad(NOT_DIFFERENTIABLE)


@op("LinSpace", "start: T, stop: T, num: Tidx -> output: T", T=FLOATING, Tidx=INDEX, host=("num",))
def lin_space_op(xp, start, stop, num):
    """Returns `num` numbers at equal distances from start to stop."""
    n = int(num)
    if n < 1:
        raise Complaint(f"Requires num > 0: {n}", "give how many numbers there shall be")
    if n == 1:
        return xp.reshape(start, (1,))
    step = (stop - start) / np.asarray(n - 1, start.dtype)
    inner = start + step * np.arange(n - 1).astype(start.dtype)
    return xp.concatenate([inner, xp.reshape(stop, (1,))]).astype(start.dtype)


@lin_space_op.shape
def _lin_space_shape(start, stop, num):
    return (num,)


lin_space_op.grad(NOT_DIFFERENTIABLE)


# -- functions ---------------------------------------------------------------------

_HIERARCHY = ("int32", "int64", "float32", "float64")


def range_(start: Any, limit: Any = None, delta: Any = 1, dtype: DTypeLike | None = None,
           name: str | None = "range") -> Tensor:
    """Returns numbers at equal distances, without the limit.

    Args:
      start: scalar, the first number; the limit if that is omitted.
      limit: scalar, where the numbers end; not reached itself.
      delta: scalar, the distance, positive or negative.
      dtype: the dtype; by default the largest of int32, int64, float32, float64 among the arguments.
      name: a name for the operation.
    Returns: (ceil((limit - start) / delta),), `dtype`.
    Raises: ValueError, or InvalidArgumentError at run time, if delta is 0 or has the wrong sign.
    Gradient: None.
    Reference: TensorFlow 2.21 Range.

    >>> sess.run(tf.range(3, 9, 2))
    array([3, 5, 7], dtype=int32)
    """
    if limit is None:
        start, limit = 0, start
    values = [start, limit, delta]
    if dtype is not None:
        wanted = as_dtype(dtype)
    else:
        names = [_dtype_name(v) for v in values]
        strange = next((n for n in names if n not in _HIERARCHY), None)
        if strange is not None:
            wanted = as_dtype(strange)
        else:
            wanted = as_dtype(max(names, key=_HIERARCHY.index))
    return raw.Range(*[_as(v, wanted) for v in values], name=name)


def _dtype_name(value: Any) -> str:
    if is_tensor_like(value):
        return str(as_dtype(value.dtype).name)
    return str(make_array(value).dtype.name)


def _as(value: Any, dtype: Any) -> Any:
    """Returns the value in `dtype`: a cast tensor, or a NumPy scalar."""
    if is_tensor_like(value):
        tensor = convert_to_tensor(value)
        return tensor if tensor.dtype is dtype else raw.Cast(tensor, DstT=dtype)
    array = whole_array(value, "range", dtype.np_dtype) if dtype.is_integer else np.asarray(value)
    return array.astype(dtype.np_dtype)


def _known_number(num: Any) -> int | None:
    """Returns how many numbers there shall be, None if that is known at run time only."""
    known = constant_value(convert_to_tensor(num)) if is_tensor_like(num) else whole_array(num, "num", np.int64)
    if known is None:
        return None
    if np.ndim(known):
        raise ValueError(f"num must be a scalar, but has the shape {np.shape(known)}. Fix: give one number")
    if int(known) < 0:
        raise ValueError(f"num must not be negative: {int(known)}. Fix: give how many numbers there shall be")
    return int(known)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    """Returns numbers at equal distances, including both ends.

    Args:
      start, stop: (*D), broadcast against each other; integers are taken as float64.
      num: scalar int >= 0, the number of elements.
      name: a name for the operations.
      axis: int, where the new axis goes.
    Returns: D with `num` inserted at `axis`.
    Raises: ValueError, or InvalidArgumentError at run time, if num is negative.
    Gradient: of start + i * (stop - start) / (num - 1).
    Reference: TensorFlow 2.21 `tf.linspace`.

    >>> sess.run(tf.linspace(0.0, 1.0, 3))
    array([0. , 0.5, 1. ], dtype=float32)
    """
    with name_scope(name, "linspace"):
        start = convert_to_tensor(start, name="start")
        stop = convert_to_tensor(stop, start.dtype if not is_tensor_like(stop) else None, name="stop")
        if start.dtype.is_integer:
            start, stop = raw.Cast(start, DstT=float64), raw.Cast(stop, DstT=float64)
        if start._spec.shape != stop._spec.shape or not is_fully_defined(start._spec.shape):
            shape = raw.BroadcastArgs(shape_of(start), shape_of(stop))
            start, stop = raw.BroadcastTo(start, shape), raw.BroadcastTo(stop, shape)
        rank = rank_of(start)
        at = plus(plus(rank, 1), axis) if axis < 0 else axis
        first, last = raw.ExpandDims(start, at), raw.ExpandDims(stop, at)
        n = _known_number(num)
        if n is not None:
            steps = np.arange(1, n - 1).astype(start.dtype.np_dtype)
            apart = np.asarray(max(n - 1, 1), start.dtype.np_dtype)
        else:
            num = raw.Cast(num, DstT=int32)
            steps = raw.Cast(raw.Range(1, raw.Maximum(raw.Sub(num, 1), 1), 1), DstT=start.dtype)
            apart = raw.Cast(raw.Maximum(raw.Sub(num, 1), 1), DstT=start.dtype)
        step = raw.RealDiv(raw.Sub(last, first), apart)
        column = join(fill(at, 1), [-1], fill(minus(rank, at), 1))
        steps = steps.reshape(column) if isinstance(steps, np.ndarray) and isinstance(column, np.ndarray) \
            else raw.Reshape(steps, column)
        inner = raw.AddV2(first, raw.Mul(step, steps))
        both = raw.ConcatV2([first, inner, last], at)
        if n is not None:
            return both if n > 1 else first if n else raw.GatherV2(first, np.zeros(0, np.int32), at)
        size = raw.Shape(raw.Range(0, num, 1))  # which rejects numbers below 0
        shape = shape_of(first)
        return raw.Slice(both, raw.ZerosLike(raw.Shape(first)),
                         join(part(shape, 0, at), size, part(shape, plus(at, 1), plus(rank, 1))))


limit_ranks(scalars="LinSpace.start LinSpace.stop LinSpace.num Range.start Range.limit Range.delta")
