"""Optimizer update ops with a proximal step or dual averaging."""

from __future__ import annotations

from graphgrad.ir.dtypes import INDEX, NUMERIC
from graphgrad.ir.opdef import op

from .optimizer_updates import _check, _check_rows, _rows_of, _set_rows

_STATEFUL = ("stateful",)


def _shrink(xp, x, by):
    """Moves x towards zero by `by`, but not beyond."""
    return xp.sign(x) * xp.maximum(xp.abs(x) - by, xp.asarray(0, x.dtype))


def _proximal(xp, value, rate, l1, l2, grad):
    one = xp.asarray(1, grad.dtype)
    moved = value - grad * rate
    return xp.where(l1 > 0, _shrink(xp, moved, rate * l1), moved) / (one + l2 * rate)


@op("ResourceApplyProximalGradientDescent", "var: resource, alpha: T, l1: T, l2: T, delta: T ->", T=NUMERIC,
    flags=_STATEFUL)
def apply_proximal_gradient_descent(xp, var, alpha, l1, l2, delta, *, use_locking=False):
    """Applies a step of gradient descent, then a proximal step towards zero."""
    _check(var, delta)
    var.value = _proximal(xp, var.value, alpha, l1, l2, delta)


@op("ResourceSparseApplyProximalGradientDescent", "var: resource, alpha: T, l1: T, l2: T, grad: T, "
    "indices: Tindices ->", T=NUMERIC, Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_proximal_gradient_descent(xp, var, alpha, l1, l2, grad, indices, *, use_locking=False):
    """Applies proximal gradient descent for some rows; the others are unchanged."""
    _check_rows(var, grad, indices)
    _set_rows(xp, var, indices, _proximal(xp, _rows_of(xp, var, indices), alpha, l1, l2, grad))


@op("ResourceApplyProximalAdagrad", "var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T ->", T=NUMERIC,
    flags=_STATEFUL)
def apply_proximal_adagrad(xp, var, accum, lr, l1, l2, grad, *, use_locking=False):
    """Updates accum += grad**2, and applies a proximal step at the rate lr / sqrt(accum)."""
    _check(var, grad)
    accum.value = accum.value + grad * grad
    var.value = _proximal(xp, var.value, lr / xp.sqrt(accum.value), l1, l2, grad)


@op("ResourceSparseApplyProximalAdagrad", "var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T, "
    "indices: Tindices ->", T=NUMERIC, Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_proximal_adagrad(xp, var, accum, lr, l1, l2, grad, indices, *, use_locking=False):
    """Applies proximal Adagrad for some rows; the others and their slots are unchanged."""
    _check_rows(var, grad, indices)
    sums = _rows_of(xp, accum, indices) + grad * grad
    _set_rows(xp, accum, indices, sums)
    _set_rows(xp, var, indices, _proximal(xp, _rows_of(xp, var, indices), lr / xp.sqrt(sums), l1, l2, grad))


def _dual_averaging(xp, total, squares, grad, lr, l1, l2, step):
    total, squares = total + grad, squares + grad * grad
    steps = xp.asarray(step).astype(grad.dtype)
    shrunk = xp.where(l1 > 0, _shrink(xp, total, l1 * steps), total)
    return -lr * shrunk / (l2 * steps * lr + xp.sqrt(squares)), total, squares


@op("ResourceApplyAdagradDA", "var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource, "
    "grad: T, lr: T, l1: T, l2: T, global_step: int64 ->", T=NUMERIC, flags=_STATEFUL)
def apply_adagrad_da(xp, var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step, *,
                     use_locking=False):
    """Adds to the sums of gradients and of their squares; the variable follows from them."""
    _check(var, grad)
    new = _dual_averaging(xp, gradient_accumulator.value, gradient_squared_accumulator.value, grad, lr, l1, l2,
                          global_step)
    var.value, gradient_accumulator.value, gradient_squared_accumulator.value = new


@op("ResourceSparseApplyAdagradDA", "var: resource, grad_accum: resource, grad_squared_accum: resource, grad: T, "
    "indices: Tindices, lr: T, l1: T, l2: T, global_step: int64 ->", T=NUMERIC, Tindices=INDEX,
    flags=_STATEFUL)
def sparse_apply_adagrad_da(xp, var, grad_accum, grad_squared_accum, grad, indices, lr, l1, l2, global_step, *,
                            use_locking=False):
    """Applies Adagrad with dual averaging for some rows; the others and their slots are unchanged."""
    _check_rows(var, grad, indices)
    refs = (var, grad_accum, grad_squared_accum)
    new = _dual_averaging(xp, *(_rows_of(xp, r, indices) for r in refs[1:]), grad, lr, l1, l2, global_step)
    for ref, rows in zip(refs, new, strict=True):
        _set_rows(xp, ref, indices, rows)
