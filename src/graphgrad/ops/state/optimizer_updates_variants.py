"""Optimizer update ops that vary those of `optimizer_updates`."""

from __future__ import annotations

from graphgrad.ir.dtypes import INDEX, NUMERIC
from graphgrad.ir.opdef import op

from .optimizer_updates import _check, _update, _update_rows

_STATEFUL = ("stateful",)


def _adagrad_v2(xp, value, accum, grad, lr, epsilon, update_slots):
    accum = accum + grad * grad if update_slots else accum
    return value - grad * lr / (xp.sqrt(accum) + epsilon), accum


@op("ResourceApplyAdagradV2", "var: resource, accum: resource, lr: T, epsilon: T, grad: T ->", T=NUMERIC,
    flags=_STATEFUL)
def apply_adagrad_v2(xp, var, accum, lr, epsilon, grad, *, use_locking=False, update_slots=True):
    """Updates accum += grad**2; var -= lr * grad / (sqrt(accum) + epsilon)."""
    _update(xp, _adagrad_v2, (var, accum), grad, lr, epsilon, update_slots)


@op("ResourceSparseApplyAdagradV2", "var: resource, accum: resource, lr: T, epsilon: T, grad: T, indices: Tindices ->",
    T=NUMERIC, Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_adagrad_v2(xp, var, accum, lr, epsilon, grad, indices, *, use_locking=False, update_slots=True):
    """Applies Adagrad with an epsilon for some rows; the others and their slots are unchanged."""
    _update_rows(xp, _adagrad_v2, (var, accum), indices, False, grad, lr, epsilon, update_slots)


def _keras_momentum(xp, value, accum, grad, lr, momentum, use_nesterov):
    accum = accum * momentum - grad * lr
    return value + (accum * momentum - grad * lr if use_nesterov else accum), accum


@op("ResourceApplyKerasMomentum", "var: resource, accum: resource, lr: T, grad: T, momentum: T ->", T=NUMERIC,
    flags=_STATEFUL)
def apply_keras_momentum(xp, var, accum, lr, grad, momentum, *, use_locking=False, use_nesterov=False):
    """Updates accum = momentum * accum - lr * grad; var += accum, or with Nesterov's look-ahead."""
    _update(xp, _keras_momentum, (var, accum), grad, lr, momentum, use_nesterov)


@op("ResourceSparseApplyKerasMomentum", "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, "
    "momentum: T ->", T=NUMERIC, Tindices=INDEX, flags=_STATEFUL)
def sparse_apply_keras_momentum(xp, var, accum, lr, grad, indices, momentum, *, use_locking=False,
                                use_nesterov=False):
    """Applies momentum with the rate in the slot for some rows; the others and their slots are unchanged."""
    _update_rows(xp, _keras_momentum, (var, accum), indices, False, grad, lr, momentum, use_nesterov)


@op("ResourceApplyAdaMax", "var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: T, beta2: T, "
    "epsilon: T, grad: T ->", T=NUMERIC, flags=_STATEFUL)
def apply_ada_max(xp, var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad, *, use_locking=False):
    """Applies Adam with the maximum of the gradients in place of their mean square."""
    _check(var, grad)
    one = xp.asarray(1, grad.dtype)
    m.value = m.value + (grad - m.value) * (one - beta1)
    v.value = xp.maximum(beta2 * v.value, xp.abs(grad))
    var.value = var.value - lr / (one - beta1_power) * (m.value / (v.value + epsilon))


@op("ResourceApplyAdamWithAmsgrad", "var: resource, m: resource, v: resource, vhat: resource, beta1_power: T, "
    "beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T ->", T=NUMERIC, flags=_STATEFUL)
def apply_adam_with_amsgrad(xp, var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, *,
                            use_locking=False):
    """Applies Adam with the greatest mean square so far."""
    _check(var, grad)
    one = xp.asarray(1, grad.dtype)
    m.value = m.value + (grad - m.value) * (one - beta1)
    v.value = v.value + (grad * grad - v.value) * (one - beta2)
    vhat.value = xp.maximum(vhat.value, v.value)
    alpha = lr * xp.sqrt(one - beta2_power) / (one - beta1_power)
    var.value = var.value - m.value * alpha / (xp.sqrt(vhat.value) + epsilon)
