"""Running sums, products and log-sum-exps along an axis."""

from __future__ import annotations

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import FLOATING, INDEX, NUMERIC, int32
from ..ir.opdef import op, raw
from ..ir.static import static_value
from .elementwise import conj
from .reduce import wide


def _checked(axis, rank):
    if not -rank <= axis < rank:
        raise Complaint(f"Expected scan axis in the range [{-rank}, {rank}), but got {axis}",
                        "use an axis in that range" if rank else "reshape the scalar to a vector")
    return int(axis) % rank


def _scan_shape(x, axis):
    """Shape rule: the shape of x, if it has the axis."""
    if x is not None and axis is not None:
        _checked(axis, len(x))
    return x


def _along(rank, axis, part):
    """The index that takes `part` of one axis and all of the others."""
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
    """Accumulation on a device along an axis, in a loop: XLA:CPU's own is up to 30 times slower where steps are broad.

    Args:
      combine: a function of jax.numpy and two arrays.
      neutral: what accumulation starts from.
      narrow: the function of `jax.lax` that does it where steps are not broad; by default there is none.
    """

    def run(x, axis, reverse):
        from jax import lax
        from jax import numpy as jnp

        if narrow is not None and x.size < _BROAD * x.shape[axis]:
            return getattr(lax, narrow)(x, axis=axis, reverse=reverse)

        def step(carry, row):
            carry = combine(jnp, carry, row)
            return carry, carry

        rows = jnp.moveaxis(x, axis, 0)
        start = jnp.full(rows.shape[1:], neutral, x.dtype)
        return jnp.moveaxis(lax.scan(step, start, rows, reverse=reverse)[1], 0, axis)

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


@op("Cumsum", "x: T, axis: Tidx -> out: T", T=NUMERIC, Tidx=INDEX, host=("axis",), shape=_scan_shape)
def _cumsum(xp, x, axis, *, exclusive=False, reverse=False):
    """The sum of the elements up to each one."""
    return _scan(xp, x, axis, exclusive, reverse, 0, _running_sum, _SUM)


@_cumsum.grad
def _cumsum_grad(op, dy):
    backwards = not op.get_attr("reverse")
    return raw.Cumsum(dy, op.inputs[1], exclusive=op.get_attr("exclusive"), reverse=backwards), None


@op("Cumprod", "x: T, axis: Tidx -> out: T", T=NUMERIC, Tidx=INDEX, host=("axis",), shape=_scan_shape)
def _cumprod(xp, x, axis, *, exclusive=False, reverse=False):
    """The product of the elements up to each one."""
    return _scan(xp, x, axis, exclusive, reverse, 1, _running_product, _PRODUCT)


@_cumprod.grad
def _cumprod_grad(op, dy):
    """Products of other elements throughout and no quotients, so that it holds where some elements are zero.

    With left_i the product of the elements before i, the gradient is left_i * r_i where
    r_i = dy_i + x_(i+1) r_(i+1). For the exclusive product dy is one step ahead.
    """
    x, axis = conj(op.inputs[0]), op.inputs[1]
    lane = _Lane(op)
    if lane.size is None:
        return _cumprod_grad_by_division(op, dy), None
    left = raw.Cumprod(x, axis, exclusive=True, reverse=lane.reverse)
    b = lane.ahead(dy) if op.get_attr("exclusive") else dy
    return raw.Mul(left, lane.recurrence(b, lane.ahead(x))), None


def _cumprod_grad_by_division(op, dy):
    """For an axis of unknown size: sums of dy * y, divided by x; the first zero of a lane is left out by itself."""
    x, axis = conj(op.inputs[0]), op.inputs[1]
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
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

    Attributes:
      size: the number of elements along it, None if it is not known.
      reverse: whether the scan runs from the end.
    """

    def __init__(self, op):
        shape, axis = op.inputs[0]._spec.shape, static_value(op.inputs[1])
        self.reverse = op.get_attr("reverse")
        self.size = None
        if shape is not None and axis is not None:
            self.rank, self.axis = len(shape), _checked(axis, len(shape))
            self.size = shape[self.axis]

    def ahead(self, t, steps=1):
        """For each element of `t` the one that the scan reaches `steps` later; 0 past the end."""
        return self.pad(self.without_first(t, steps), steps)

    def without_first(self, t, steps=1):
        """The elements of `t` less those that the scan reaches first."""
        return self._slice(t, steps, at_front=not self.reverse)

    def without_last(self, t, steps=1):
        """The elements of `t` less those that the scan reaches last."""
        return self._slice(t, steps, at_front=self.reverse)

    def pad(self, t, steps=1):
        """Zeros behind the elements that the scan reaches last."""
        paddings = np.zeros((self.rank, 2), np.int32)
        paddings[self.axis, 0 if self.reverse else 1] = min(steps, self.size)
        return raw.Pad(t, paddings)

    def _slice(self, t, steps, at_front):
        steps = min(steps, self.size)
        begin, size = np.zeros(self.rank, np.int32), np.full(self.rank, -1, np.int32)
        begin[self.axis] = steps if at_front else 0
        size[self.axis] = self.size - steps
        return raw.Slice(t, begin, size)

    def recurrence(self, b, a):
        """The r with r_i = b_i + a_i r_(i+1), in log2(size) steps that each double the reach."""
        steps = 1
        while steps < self.size:
            b = raw.AddV2(b, raw.Mul(a, self.ahead(b, steps)))
            steps *= 2
            if steps < self.size:
                a = raw.Mul(a, self.ahead(a, steps // 2))
        return b


@op("CumulativeLogsumexp", "x: T, axis: Tidx -> out: T", T=FLOATING, Tidx=INDEX, host=("axis",), shape=_scan_shape)
def _cumulative_logsumexp(xp, x, axis, *, exclusive=False, reverse=False):
    """log(sum(exp(x))) of the elements up to each one."""
    return _scan(xp, x, axis, exclusive, reverse, -np.inf, _running_logsumexp, _LOG_SUM)


@_cumulative_logsumexp.grad
def _cumulative_logsumexp_grad(op, dy):
    """exp(x_i - y_i) s_i where s_i = dy_i + exp(y_i - y_(i+1)) s_(i+1): no exponent is positive."""
    x, axis = op.inputs
    lane = _Lane(op)
    if lane.size is None:
        return _cumulative_logsumexp_grad_by_logarithms(op, dy), None
    y = op.outputs[0]
    if op.get_attr("exclusive"):
        y, dy = raw.CumulativeLogsumexp(x, axis, reverse=lane.reverse), lane.ahead(dy)
    # The last element has no successor: padding comes behind exp, which 0 would overflow.
    s = lane.recurrence(dy, lane.pad(raw.Exp(raw.Sub(lane.without_last(y), lane.without_first(y)))))
    return raw.Mul(raw.Exp(raw.Sub(x, y)), s), None


def _cumulative_logsumexp_grad_by_logarithms(op, dy):
    """For an axis of unknown size: the sums taken of logarithms, positive and negative dy apart."""
    x, axis = op.inputs
    options = {"exclusive": op.get_attr("exclusive"), "reverse": not op.get_attr("reverse")}

    def part(chosen, dy):
        log = raw.SelectV2(chosen, raw.Log(raw.SelectV2(chosen, dy, 1)), dy.dtype.min)
        return raw.Exp(raw.AddV2(raw.CumulativeLogsumexp(raw.Sub(log, op.outputs[0]), axis, **options), x))

    return raw.Sub(part(raw.Greater(dy, 0), dy), part(raw.Less(dy, 0), raw.Neg(dy)))


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """The sum of the elements up to each one along an axis.

    Args:
      x: a numeric tensor.
      axis: the axis, in [-rank, rank).
      exclusive: whether an element itself is left out.
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


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """The product of the elements up to each one along an axis.

    Args:
      x: a numeric tensor.
      axis: the axis, in [-rank, rank).
      exclusive: whether an element itself is left out.
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


def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """log(sum(exp(x))) of the elements up to each one along an axis, without overflow.

    Args:
      x: a float tensor.
      axis: the axis, in [-rank, rank).
      exclusive: whether an element itself is left out.
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
