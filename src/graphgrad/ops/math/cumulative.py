"""Running sums, products and log-sum-exps along an axis."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import static_value
from graphgrad.ir.dtypes import COMPLEX, FLOATING, INDEX, NUMERIC, int32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import merged
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Cost, Linear
from graphgrad.ops.common.dependence import spread
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.lax_functions import lax_of, module_of
from graphgrad.ops.common.rank_limits import limit_ranks

from .reduce import wide


def _checked(axis, rank):
    if not -rank <= axis < rank:
        raise Complaint(f"Expected scan axis in the range [{-rank}, {rank}), but got {axis}",
                        "use an axis in that range" if rank else "reshape the scalar to a vector")
    return int(axis) % rank


def _scan_shape(x, axis):
    """Returns the shape of x, and checks the axis."""
    if x is not None and axis is not None:
        _checked(axis, len(x))
    return x


def _along(rank, axis, part):
    """Returns the index that takes `part` of one axis and all of the others."""
    return (slice(None),) * axis + (part,) + (slice(None),) * (rank - axis - 1)


def _scan(xp, x, axis, exclusive, reverse, neutral, on_host, on_device):
    """Accumulates along the axis."""
    axis = _checked(int(axis), x.ndim)
    x, dtype = wide(x), x.dtype
    if exclusive and x.shape[axis]:
        edge = xp.full(x.shape[:axis] + (1,) + x.shape[axis + 1 :], neutral, x.dtype)
        if reverse:
            x = xp.concatenate([x[_along(x.ndim, axis, slice(1, None))], edge], axis)
        else:
            x = xp.concatenate([edge, x[_along(x.ndim, axis, slice(None, -1))]], axis)
    if xp is not np:
        return on_device(x, axis=axis, reverse=bool(reverse)).astype(dtype)
    flip = _along(x.ndim, axis, slice(None, None, -1 if reverse else 1))
    return on_host(x[flip], axis)[flip].astype(dtype)


def _running_sum(x, axis):
    return np.cumsum(x, axis, dtype=x.dtype)


def _running_product(x, axis):
    return np.cumprod(x, axis, dtype=x.dtype)


_BROAD = 128  # elements in a step from which on a loop over the steps is faster than windows of all predecessors


def _step_by_step(combine, neutral, narrow=None):
    """Accumulates along an axis in a loop: XLA:CPU's own is up to 30 times slower where steps are large.

    Args:
      combine: a function of jax.numpy and two arrays.
      neutral: the neutral element, from which accumulation starts.
      narrow: the function of `jax.lax` that does it where steps are not broad; by default there is none.
    """

    def run(x, axis, reverse):
        xp = module_of(x)
        lax = lax_of(xp)
        if narrow is not None and x.size < _BROAD * x.shape[axis]:
            return getattr(lax, narrow)(x, axis=axis, reverse=reverse)

        def step(carry, row):
            carry = combine(xp, carry, row)
            return carry, carry

        rows = xp.moveaxis(x, axis, 0)
        start = xp.full(rows.shape[1:], neutral, x.dtype)
        return xp.moveaxis(lax.scan(step, start, rows, reverse=reverse)[1], 0, axis)

    return run


def _add(xp, total, x):
    return total + x


def _multiply(xp, product, x):
    return product * x


def _log_add(xp, total, x):
    return xp.logaddexp(total, x)


_SUM, _PRODUCT = _step_by_step(_add, 0, "cumsum"), _step_by_step(_multiply, 1, "cumprod")
_LOG_SUM = _step_by_step(_log_add, -np.inf)


def _running_logsumexp(x, axis):
    return np.logaddexp.accumulate(x, axis, dtype=x.dtype)


@op("Cumsum", "x: T, axis: Tidx -> out: T", T=NUMERIC, Tidx=INDEX, host=("axis",), shape=_scan_shape, cost=Cost.HEAVY,
    linear=Linear.JOINTLY)
def _cumsum(xp, x, axis, *, exclusive=False, reverse=False):
    """Computes the sum of the elements up to each one."""
    return _scan(xp, x, axis, exclusive, reverse, 0, _running_sum, _SUM)


def _scanned(op, values, index):
    shape = op.inputs[0]._spec.shape
    return None if values[1] is None else [spread(shape, [int(values[1]) % len(shape)]), None]


_cumsum.dependences(_scanned)


@_cumsum.grad
def _cumsum_grad(op, dy):
    backwards = not op._attr("reverse")
    return raw.Cumsum(dy, op.inputs[1], exclusive=op._attr("exclusive"), reverse=backwards), None


@op("Cumprod", "x: T, axis: Tidx -> out: T", T=NUMERIC, Tidx=INDEX, host=("axis",), shape=_scan_shape, cost=Cost.HEAVY,
    eager_seconds=3.5e-9)
def _cumprod(xp, x, axis, *, exclusive=False, reverse=False):
    """Computes the product of the elements up to each one."""
    return _scan(xp, x, axis, exclusive, reverse, 1, _running_product, _PRODUCT)


@_cumprod.grad
def _cumprod_grad(op, dy):
    """Computes the gradient from products of other elements, without quotients: it holds where some are zero.

    With left_i the product of the elements before i, the gradient is left_i * r_i where
    r_i = dy_i + x_(i+1) r_(i+1). For the exclusive product dy is one step ahead.
    """
    x, axis = conj(op.inputs[0]), op.inputs[1]
    lane = _Lane.of(op)
    if lane.size is None:
        return _cumprod_grad_by_division(op, dy), None
    left = raw.Cumprod(x, axis, exclusive=True, reverse=lane.reverse)
    b = lane.ahead(dy) if op._attr("exclusive") else dy
    return raw.Mul(left, raw.LinearRecurrence(b, lane.ahead(x), axis=lane.axis, reverse=not lane.reverse)), None


def _cumprod_grad_by_division(op, dy):
    """Computes sums of dy * y, divided by x, for an axis of unknown size; treats the first zero of a lane apart."""
    x, axis = conj(op.inputs[0]), op.inputs[1]
    exclusive, reverse = op._attr("exclusive"), op._attr("reverse")
    is_zero = raw.Equal(x, 0)
    zeros = raw.Cumsum(raw.Cast(is_zero, DstT=int32), axis, reverse=reverse)
    first_zero = raw.LogicalAnd(is_zero, raw.Equal(zeros, 1))

    def total(factors):
        y = raw.Cumprod(factors, axis, exclusive=exclusive, reverse=reverse)
        return raw.Cumsum(raw.Mul(y, dy), axis, exclusive=exclusive, reverse=not reverse)

    without = total(raw.SelectV2(first_zero, 1, x))
    return raw.SelectV2(first_zero, without, raw.RealDiv(total(x), raw.SelectV2(is_zero, 1, x)))


class _Lane:
    """The axis of a scan in a gradient rule.

    Args:
      shape: the static shape, or None.
      axis: the axis, None if it is not known.
      reverse: whether the scan runs from the end.

    Attributes:
      size: the number of elements along it, None if it is not known.
    """

    def __init__(self, shape, axis, reverse):
        self.reverse = reverse
        self.size = None
        if shape is not None and axis is not None:
            self.rank, self.axis = len(shape), _checked(axis, len(shape))
            self.size = shape[self.axis]

    @classmethod
    def of(cls, op):
        """Returns the axis of a cumulative operation."""
        return cls(op.inputs[0]._spec.shape, static_value(op.inputs[1]), op._attr("reverse"))

    def ahead(self, t):
        """Returns, for each element of `t`, the next one in the order of the scan; 0 for the last one."""
        return self.pad(self.without_first(t))

    def behind(self, t):
        """Returns, for each element of `t`, the previous one in the order of the scan; 0 for the first one."""
        return self._pad(self.without_last(t), at_front=not self.reverse)

    def without_first(self, t):
        """Returns `t` without the first element in the order of the scan."""
        return self._slice(t, at_front=not self.reverse)

    def without_last(self, t):
        """Returns `t` without the last element in the order of the scan."""
        return self._slice(t, at_front=self.reverse)

    def last(self, t):
        """Returns the last element of `t` in the order of the scan."""
        begin, size = np.zeros(self.rank, np.int32), np.full(self.rank, -1, np.int32)
        size[self.axis] = min(1, self.size)
        begin[self.axis] = 0 if self.reverse else self.size - size[self.axis]
        return raw.Slice(t, begin, size)

    def pad(self, t):
        """Appends a zero after the last element in the order of the scan."""
        return self._pad(t, at_front=self.reverse)

    def _pad(self, t, at_front):
        paddings = np.zeros((self.rank, 2), np.int32)
        paddings[self.axis, 0 if at_front else 1] = min(1, self.size)
        return raw.Pad(t, paddings)

    def _slice(self, t, at_front):
        steps = min(1, self.size)
        begin, size = np.zeros(self.rank, np.int32), np.full(self.rank, -1, np.int32)
        begin[self.axis] = steps if at_front else 0
        size[self.axis] = self.size - steps
        return raw.Slice(t, begin, size)


@op("LinearRecurrence", "b: T, a: T -> r: T", T=FLOATING | COMPLEX, eager_seconds=1.5e-8)
def _linear_recurrence(xp, b, a, *, axis, reverse=False):
    """Computes r_i = b_i + a_i r_(i-1) along an axis, or with r_(i+1) from the end. TensorFlow has no such op."""
    b, a, dtype = wide(b), wide(a), b.dtype
    n = b.shape[axis]
    if b.size < _BROAD * n:
        return _doubling(xp, b, a, axis, -1 if reverse else 1).astype(dtype)
    terms, factors = xp.moveaxis(b, axis, 0), xp.moveaxis(a, axis, 0)
    if xp is np:
        r = np.empty_like(terms)
        before = np.zeros(terms.shape[1:], terms.dtype)
        for i in reversed(range(n)) if reverse else range(n):
            before = r[i] = terms[i] + factors[i] * before
        return np.moveaxis(r, 0, axis).astype(dtype)
    def step(before, row):
        after = row[0] + row[1] * before
        return after, after

    start = xp.zeros(terms.shape[1:], terms.dtype)
    r = lax_of(xp).scan(step, start, (terms, factors), reverse=reverse)[1]
    return xp.moveaxis(r, 0, axis).astype(dtype)


def _doubling(xp, b, a, axis, direction):
    """Computes the same where steps are small: in log2(n) steps, each of which doubles the distance covered."""
    n = b.shape[axis]
    steps = 1
    while steps < n:
        b = b + a * _shifted(xp, b, axis, direction * steps)
        steps *= 2
        if steps < n:
            a = a * _shifted(xp, a, axis, direction * steps // 2)
    return b


def _shifted(xp, x, axis, steps):
    """Returns, for each element, the one `steps` before it; 0 where there is none."""
    n = x.shape[axis]
    zeros = xp.zeros((*x.shape[:axis], abs(steps), *x.shape[axis + 1 :]), x.dtype)
    if steps > 0:
        return xp.concatenate([zeros, x[_along(x.ndim, axis, slice(0, n - steps))]], axis)
    return xp.concatenate([x[_along(x.ndim, axis, slice(-steps, n))], zeros], axis)


@_linear_recurrence.shape
def _linear_recurrence_shape(b, a, axis):
    shape = merged(b, a)
    if shape is not None and not 0 <= axis < len(shape):
        raise Complaint(f"axis {axis} is not among the {len(shape)} dimensions", "use an axis in [0, rank)")
    return shape


@_linear_recurrence.grad
def _linear_recurrence_grad(op, dr):
    """Computes s_i = dr_i + a_(i+1) s_(i+1) for b, and s_i r_(i-1) for a."""
    a, axis, reverse = conj(op.inputs[1]), op._attr("axis"), op._attr("reverse")
    lane = _Lane(op.outputs[0]._spec.shape, axis, reverse)
    if lane.size is None:
        raise NotImplementedError("LinearRecurrence: the gradient needs an axis of known size.\n  Fix: use set_shape")
    s = raw.LinearRecurrence(dr, lane.ahead(a), axis=axis, reverse=not reverse)
    return s, raw.Mul(s, conj(lane.behind(op.outputs[0])))


@op("CumulativeLogsumexp", "x: T, axis: Tidx -> out: T", T=FLOATING, Tidx=INDEX, host=("axis",), shape=_scan_shape,
    cost=Cost.HEAVY)
def _cumulative_logsumexp(xp, x, axis, *, exclusive=False, reverse=False):
    """Computes log(sum(exp(x))) of the elements up to each one."""
    return _scan(xp, x, axis, exclusive, reverse, -np.inf, _running_logsumexp, _LOG_SUM)


@_cumulative_logsumexp.grad
def _cumulative_logsumexp_grad(op, dy):
    """Computes exp(x_i - y_i) s_i where s_i = dy_i + exp(y_i - y_(i+1)) s_(i+1): no exponent is positive."""
    x = op.inputs[0]
    lane = _Lane.of(op)
    if lane.size is None:
        return _cumulative_logsumexp_grad_by_logarithms(op, dy), None
    y = op.outputs[0]
    if op._attr("exclusive"):
        # y_i is the input of the next element. The last one has none: its dy is 0, so any large number can replace y.
        last_x, last_y = lane.last(x), lane.last(y)
        last = raw.StopGradient(raw.SelectV2(raw.Greater(last_x, last_y), last_x, last_y))  # no NaN that is only in x
        parts = [lane.without_first(y), last]
        y, dy = raw.ConcatV2(parts[::-1] if lane.reverse else parts, lane.axis), lane.ahead(dy)
    # The last element has no successor: padding is added after exp, which 0 would overflow.
    a = lane.pad(raw.Exp(raw.Sub(lane.without_last(y), lane.without_first(y))))
    s = raw.LinearRecurrence(dy, a, axis=lane.axis, reverse=not lane.reverse)
    return raw.Mul(raw.Exp(raw.Sub(x, y)), s), None


def _cumulative_logsumexp_grad_by_logarithms(op, dy):
    """Computes the sums by logarithms, for positive and negative dy apart; for an axis of unknown size."""
    x, axis = op.inputs
    options = {"exclusive": op._attr("exclusive"), "reverse": not op._attr("reverse")}

    def part(chosen, dy):
        log = raw.SelectV2(chosen, raw.Log(raw.SelectV2(chosen, dy, 1)), dy.dtype.min)
        return raw.Exp(raw.AddV2(raw.CumulativeLogsumexp(raw.Sub(log, op.outputs[0]), axis, **options), x))

    return raw.Sub(part(raw.Greater(dy, 0), dy), part(raw.Less(dy, 0), raw.Neg(dy)))


def cumsum(x: TensorLike, axis: TensorLike = 0, exclusive: bool = False, reverse: bool = False,
           name: str | None = None) -> Tensor:
    """Computes the sum of the elements up to each one along an axis.

    Args:
      x: a numeric tensor.
      axis: the axis, in [-rank, rank).
      exclusive: whether an element itself is omitted.
      reverse: whether to sum from the end.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for bool; ValueError for an axis out of range.
    Gradient: the running sum of dy from the other end.
    Reference: TensorFlow 2.21 Cumsum.

    >>> sess.run(tf.cumsum([1, 2, 3]))
    array([1, 3, 6], dtype=int32)
    """
    return raw.Cumsum(x, axis, exclusive=exclusive, reverse=reverse, name=name)


def cumprod(x: TensorLike, axis: TensorLike = 0, exclusive: bool = False, reverse: bool = False,
            name: str | None = None) -> Tensor:
    """Computes the product of the elements up to each one along an axis.

    Args:
      x: a numeric tensor.
      axis: the axis, in [-rank, rank).
      exclusive: whether an element itself is omitted.
      reverse: whether to multiply from the end.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for bool; ValueError for an axis out of range.
    Gradient: sums of products of the other elements; it holds also where some are 0.
    Reference: TensorFlow 2.21 Cumprod.

    >>> sess.run(tf.math.cumprod([1, 2, 3]))
    array([1, 2, 6], dtype=int32)
    """
    return raw.Cumprod(x, axis, exclusive=exclusive, reverse=reverse, name=name)


def cumulative_logsumexp(x: TensorLike, axis: TensorLike = 0, exclusive: bool = False, reverse: bool = False,
                         name: str | None = None) -> Tensor:
    """Computes log(sum(exp(x))) of the elements up to each one along an axis, without overflow.

    Args:
      x: a float tensor.
      axis: the axis, in [-rank, rank).
      exclusive: whether an element itself is omitted.
      reverse: whether to sum from the end.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes; ValueError for an axis out of range.
    Gradient: exp(x_i) times the sum of dy_k exp(-y_k) over the k that i counts for.
    Reference: TensorFlow 2.21 CumulativeLogsumexp.

    >>> sess.run(tf.math.cumulative_logsumexp([0.0, 0.0])).round(4)
    array([0.    , 0.6931], dtype=float32)
    """
    return raw.CumulativeLogsumexp(x, axis, exclusive=exclusive, reverse=reverse, name=name)


limit_ranks(scalars="Cumprod.axis Cumsum.axis CumulativeLogsumexp.axis")
