"""Optimizer update ops, in place on a variable and its slots.

The sparse ones get rows and their indices. By TensorFlow's contract indices are distinct;
with `sum_duplicates` (an attribute of ours) rows with one index are summed first, which
saves the optimizer a host op that finds the distinct ones.
"""

from __future__ import annotations

import operator

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import INDEX, NUMERIC
from graphgrad.ir.opdef import op
from graphgrad.ir.shape import shape_str
from graphgrad.ir.values.array_rows import combine_rows, set_rows
from graphgrad.ir.values.spare_arrays import copy_for_rows

_STATEFUL = ("stateful",)
_value = operator.attrgetter("value")


def _check(ref, grad):
    if tuple(ref.value.shape) != tuple(grad.shape):
        raise Complaint(f"var and grad do not have the same shape {shape_str(tuple(ref.value.shape))} "
                        f"{shape_str(tuple(grad.shape))}", "give a gradient of the variable's shape")


def _check_rows(ref, grad, indices):
    want = (*indices.shape, *ref.value.shape[1:])
    if indices.ndim != 1 or tuple(grad.shape) != want:
        raise Complaint(f"grad must hold a row of var for each index: {shape_str(want)} expected",
                        "give values of shape (n, *var.shape[1:]) and indices of shape (n,)")
    if isinstance(indices, np.ndarray) and indices.size:
        outside = (indices < 0) | (indices >= ref.value.shape[0])
        if outside.any():
            at = int(np.argmax(outside))
            raise Complaint(f"indices[{at}] = {indices[at]} is not in [0, {ref.value.shape[0]})",
                            f"give indices in [0, {ref.value.shape[0]})")


def _totals(xp, ref, grad, indices):
    """Computes, for each position, the sum of the rows of `grad` that have the same index."""
    if xp is np:
        _, inverse = np.unique(indices, return_inverse=True)
        sums = np.zeros_like(grad)
        combine_rows(sums, inverse.reshape(-1), grad, np.add)
        return sums[inverse.reshape(-1)]
    n = indices.shape[0]
    if n <= 1:
        return grad
    # One position represents all with the same index: the last. It is found without sorting.
    last = xp.zeros((ref.value.shape[0],), np.int32).at[indices].max(xp.arange(n, dtype=np.int32))[indices]
    return xp.zeros_like(grad).at[last].add(grad)[last]


def _set_rows(xp, ref, indices, rows):
    if xp is np:
        value = copy_for_rows(ref.value, indices)
        set_rows(value, indices, rows)
        ref.value = value
    else:
        ref.value = xp.asarray(ref.value).at[indices].set(rows)


def _rows_of(xp, ref, indices):
    return xp.take(ref.value, indices, axis=0)


def _update(xp, rule, refs, grad, *rest):
    """Applies a rule, a function (xp, value, *slots, gradient, ...) -> new ones, to a variable and its slots."""
    _check(refs[0], grad)
    for ref, new in zip(refs, rule(xp, *map(_value, refs), grad, *rest)):
        ref.value = new


def _update_rows(xp, rule, refs, indices, sum_duplicates, grad, *rest):
    """Applies a rule to some rows of a variable and its slots; the others are unchanged."""
    _check_rows(refs[0], grad, indices)
    if sum_duplicates:
        grad = _totals(xp, refs[0], grad, indices)
    rows = [xp.take(r.value, indices, axis=0) for r in refs]
    for ref, new in zip(refs, rule(xp, *rows, grad, *rest)):
        _set_rows(xp, ref, indices, new)


# -- gradient descent --------------------------------------------------------------


@op("ResourceApplyGradientDescent", "var: resource, alpha: T, delta: T ->", T=NUMERIC, flags=_STATEFUL)
def apply_gradient_descent(xp, var, alpha, delta, *, use_locking=False):
    """Updates var -= alpha * delta."""
    _check(var, delta)
    var.value = var.value - alpha * delta


# -- momentum ----------------------------------------------------------------------


def _momentum(xp, value, accum, grad, lr, momentum, use_nesterov):
    accum = accum * momentum + grad
    step = grad * lr + accum * momentum * lr if use_nesterov else accum * lr
    return value - step, accum


@op("ResourceApplyMomentum", "var: resource, accum: resource, lr: T, grad: T, momentum: T ->", T=NUMERIC,
    flags=_STATEFUL)
def apply_momentum(xp, var, accum, lr, grad, momentum, *, use_locking=False, use_nesterov=False):
    """Updates accum = momentum * accum + grad; var -= lr * accum, or with Nesterov's look-ahead."""
    _update(xp, _momentum, (var, accum), grad, lr, momentum, use_nesterov)


@op("ResourceSparseApplyMomentum", "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T ->",
    T=NUMERIC, Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_momentum(xp, var, accum, lr, grad, indices, momentum, *, use_locking=False, use_nesterov=False,
                          sum_duplicates=False):
    """Applies momentum for some rows; the others and their slots are unchanged."""
    _update_rows(xp, _momentum, (var, accum), indices, sum_duplicates, grad, lr, momentum, use_nesterov)


# -- adam --------------------------------------------------------------------------


@op("ResourceApplyAdam", "var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, "
    "beta2: T, epsilon: T, grad: T ->", T=NUMERIC, flags=_STATEFUL)
def apply_adam(xp, var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, *, use_locking=False,
               use_nesterov=False):
    """Applies Adam, with the bias corrections in the step size."""
    _check(var, grad)
    one = xp.asarray(1, grad.dtype)
    alpha = lr * xp.sqrt(one - beta2_power) / (one - beta1_power)
    m.value = m.value + (grad - m.value) * (one - beta1)
    v.value = v.value + (grad * grad - v.value) * (one - beta2)
    ahead = grad * (one - beta1) + beta1 * m.value if use_nesterov else m.value
    var.value = var.value - ahead * alpha / (xp.sqrt(v.value) + epsilon)


# -- adagrad -----------------------------------------------------------------------


@op("ResourceApplyAdagrad", "var: resource, accum: resource, lr: T, grad: T ->", T=NUMERIC, flags=_STATEFUL)
def apply_adagrad(xp, var, accum, lr, grad, *, use_locking=False, update_slots=True):
    """Updates accum += grad**2; var -= lr * grad / sqrt(accum)."""
    _check(var, grad)
    if update_slots:
        accum.value = accum.value + grad * grad
    var.value = var.value - grad * lr / xp.sqrt(accum.value)


@op("ResourceSparseApplyAdagrad", "var: resource, accum: resource, lr: T, grad: T, indices: Tindices ->", T=NUMERIC,
    Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_adagrad(xp, var, accum, lr, grad, indices, *, use_locking=False, update_slots=True,
                         sum_duplicates=False):
    """Applies Adagrad for some rows; the others and their slots are unchanged."""
    _check_rows(var, grad, indices)
    if sum_duplicates:
        grad = _totals(xp, var, grad, indices)
    acc = _rows_of(xp, accum, indices)
    if update_slots:
        acc = acc + grad * grad
        _set_rows(xp, accum, indices, acc)
    _set_rows(xp, var, indices, _rows_of(xp, var, indices) - grad * lr / xp.sqrt(acc))


# -- rmsprop -----------------------------------------------------------------------


def _rms_prop(xp, value, ms, mom, grad, lr, rho, momentum, epsilon):
    ms = ms + (grad * grad - ms) * (xp.asarray(1, grad.dtype) - rho)
    mom = mom * momentum + grad * lr / xp.sqrt(ms + epsilon)
    return value - mom, ms, mom


def _centered_rms_prop(xp, value, ms, mom, mg, grad, lr, rho, momentum, epsilon):
    rest = xp.asarray(1, grad.dtype) - rho
    ms, mg = ms + (grad * grad - ms) * rest, mg + (grad - mg) * rest
    mom = mom * momentum + grad * lr / xp.sqrt(ms - mg * mg + epsilon)
    return value - mom, ms, mom, mg


@op("ResourceApplyRMSProp", "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, "
    "grad: T ->", T=NUMERIC, flags=_STATEFUL)
def apply_rms_prop(xp, var, ms, mom, lr, rho, momentum, epsilon, grad, *, use_locking=False):
    """Updates ms = mean of grad**2; mom = momentum * mom + lr * grad / sqrt(ms + epsilon); var -= mom."""
    _update(xp, _rms_prop, (var, ms, mom), grad, lr, rho, momentum, epsilon)


@op("ResourceApplyCenteredRMSProp", "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, "
    "momentum: T, epsilon: T, grad: T ->", T=NUMERIC, flags=_STATEFUL)
def apply_centered_rms_prop(xp, var, mg, ms, mom, lr, rho, momentum, epsilon, grad, *, use_locking=False):
    """Applies RMSProp with the variance of the gradient in place of its mean square."""
    _update(xp, _centered_rms_prop, (var, ms, mom, mg), grad, lr, rho, momentum, epsilon)


@op("ResourceSparseApplyRMSProp", "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, "
    "grad: T, indices: Tindices ->", T=NUMERIC, Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_rms_prop(xp, var, ms, mom, lr, rho, momentum, epsilon, grad, indices, *, use_locking=False,
                          sum_duplicates=False):
    """Applies RMSProp for some rows; the others and their slots are unchanged."""
    _update_rows(xp, _rms_prop, (var, ms, mom), indices, sum_duplicates, grad, lr, rho, momentum, epsilon)


@op("ResourceSparseApplyCenteredRMSProp", "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, "
    "momentum: T, epsilon: T, grad: T, indices: Tindices ->", T=NUMERIC, Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_centered_rms_prop(xp, var, mg, ms, mom, lr, rho, momentum, epsilon, grad, indices, *,
                                   use_locking=False, sum_duplicates=False):
    """Applies centered RMSProp for some rows; the others and their slots are unchanged."""
    _update_rows(xp, _centered_rms_prop, (var, ms, mom, mg), indices, sum_duplicates, grad, lr, rho, momentum, epsilon)


# -- adadelta ----------------------------------------------------------------------


def _adadelta(xp, value, accum, accum_update, grad, lr, rho, epsilon):
    one = xp.asarray(1, grad.dtype)
    accum = accum * rho + grad * grad * (one - rho)
    update = xp.sqrt(accum_update + epsilon) / xp.sqrt(accum + epsilon) * grad
    return value - update * lr, accum, accum_update * rho + update * update * (one - rho)


@op("ResourceApplyAdadelta", "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, "
    "grad: T ->", T=NUMERIC, flags=_STATEFUL)
def apply_adadelta(xp, var, accum, accum_update, lr, rho, epsilon, grad, *, use_locking=False):
    """Applies Adadelta: steps sqrt(mean update**2 / mean grad**2) * grad."""
    _update(xp, _adadelta, (var, accum, accum_update), grad, lr, rho, epsilon)


@op("ResourceSparseApplyAdadelta", "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, "
    "epsilon: T, grad: T, indices: Tindices ->", T=NUMERIC, Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_adadelta(xp, var, accum, accum_update, lr, rho, epsilon, grad, indices, *, use_locking=False,
                          sum_duplicates=False):
    """Applies Adadelta for some rows; the others and their slots are unchanged."""
    _update_rows(xp, _adadelta, (var, accum, accum_update), indices, sum_duplicates, grad, lr, rho, epsilon)


# -- follow the regularized leader -------------------------------------------------


def _ftrl(xp, value, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power):
    new_accum = accum + grad * grad
    shrunk = grad if l2_shrinkage is None else grad + 2 * l2_shrinkage * value
    old_power, new_power = xp.power(accum, -lr_power), xp.power(new_accum, -lr_power)
    linear = linear + shrunk - (new_power - old_power) / lr * value
    quadratic = new_power / lr + 2 * l2
    value = (xp.clip(linear, -l1, l1) - linear) / quadratic
    return value, new_accum, linear


@op("ResourceApplyFtrl", "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, "
    "lr_power: T ->", T=NUMERIC, flags=_STATEFUL)
def apply_ftrl(xp, var, accum, linear, grad, lr, l1, l2, lr_power, *, use_locking=False, multiply_linear_by_lr=False):
    """Applies FTRL (McMahan et al., 2013): per-coordinate learning rates with L1 and L2 regularization."""
    _update(xp, _ftrl, (var, accum, linear), grad, lr, l1, l2, None, lr_power)


@op("ResourceApplyFtrlV2", "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, "
    "l2_shrinkage: T, lr_power: T ->", T=NUMERIC, flags=_STATEFUL)
def apply_ftrl_v2(xp, var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power, *, use_locking=False,
                  multiply_linear_by_lr=False):
    """Applies FTRL with weight decay in the gradient."""
    _update(xp, _ftrl, (var, accum, linear), grad, lr, l1, l2, l2_shrinkage, lr_power)


@op("ResourceSparseApplyFtrl", "var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, "
    "l1: T, l2: T, lr_power: T ->", T=NUMERIC, Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_ftrl(xp, var, accum, linear, grad, indices, lr, l1, l2, lr_power, *, use_locking=False,
                      multiply_linear_by_lr=False, sum_duplicates=False):
    """Applies FTRL for some rows; the others and their slots are unchanged."""
    _update_rows(xp, _ftrl, (var, accum, linear), indices, sum_duplicates, grad, lr, l1, l2, None, lr_power)


@op("ResourceSparseApplyFtrlV2", "var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, "
    "l1: T, l2: T, l2_shrinkage: T, lr_power: T ->", T=NUMERIC, Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_ftrl_v2(xp, var, accum, linear, grad, indices, lr, l1, l2, l2_shrinkage, lr_power, *,
                         use_locking=False, multiply_linear_by_lr=False, sum_duplicates=False):
    """Applies FTRL with weight decay for some rows; the others and their slots are unchanged."""
    _update_rows(xp, _ftrl, (var, accum, linear), indices, sum_duplicates, grad, lr, l1, l2, l2_shrinkage, lr_power)
