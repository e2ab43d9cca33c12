"""Derivatives of special functions with respect to their parameters, of any order.

Derivatives of the incomplete gamma function with respect to `a` are integrals. With S the logarithm of a gamma
deviate, P(a, x) is the probability that S < log x, and the n-th derivative of its density is the density times a
polynomial in S: Bell's, of the derivatives of the logarithm of the density. The same holds for the incomplete beta
function, with the logit of a beta deviate. The integrals are computed by the trapezoidal rule in the logarithm of the
distance from x: the integrands are analytic and decay at both ends, so its error falls exponentially.
"""

from __future__ import annotations

import math

import numpy as np

from graphgrad.ir.dtypes import float32, float64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import broadcast
from graphgrad.op_traits import Cost
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.elementwise import scalars_or_one_shape
from graphgrad.ops.common.lax_functions import lax_of, special_of

from . import special_numpy

_DOUBLE = frozenset({float32, float64})
_DECAY = 40.0  # how far, in logarithms, a density falls until it is omitted
_STEP = 1 / 16
_LOWEST = -39.0
_NODES = round((0.5 - _LOWEST) / _STEP)


def _functions(xp):
    """Returns the logarithm of gamma and polygamma (n, x), for an array module."""
    if xp is np:
        return special_numpy.lgamma, _host_polygamma
    special = special_of(xp)

    def polygamma(n, x):
        return special.digamma(x) if n == 0 else special.polygamma(n, x)

    return special.gammaln, polygamma


def _host_polygamma(n, x):
    return special_numpy.digamma(x) if n == 0 else special_numpy.polygamma(float(n), x)


def _trapezoidal(xp, reach, integrand):
    """Returns the integral of a function of u from 0 on; it is negligible from `reach` on."""

    def body(k, total):
        u = reach * xp.exp(xp.asarray(_LOWEST + _STEP * k, reach.dtype))
        return total + u * integrand(u)

    total = xp.zeros_like(reach)
    if xp is np and reach.size <= 1000:  # all nodes at once
        u = np.exp(_LOWEST + _STEP * np.arange(_NODES)).reshape((-1,) + (1,) * reach.ndim) * reach
        total = (u * integrand(u)).sum(0)
    elif xp is np:
        for k in range(_NODES):
            total = body(k, total)
    else:
        total = lax_of(xp).fori_loop(0, _NODES, body, total)
    return total * _STEP


def _reach(start, fall, slope):
    """Finds where a convex function `fall` reaches `_DECAY`, by Newton's method from the right."""
    u = start
    for _ in range(12):
        u = u - (fall(u) - _DECAY) / slope(u)
    return u


def _bell(kappa, n, add, mul):
    """Returns the n-th complete Bell polynomial of kappa(1), kappa(2), ..., by its recurrence."""
    values = [None]  # the first is 1
    for m in range(n):
        total = None
        for i in range(m + 1):
            term = kappa(i + 1) if values[m - i] is None else mul(values[m - i], kappa(i + 1))
            count = math.comb(m, i)
            term = term if count == 1 else mul(term, float(count))
            total = term if total is None else add(total, term)
        values.append(total)
    return values[n]


def _plus(a, b):
    return a + b


def _times(a, b):
    return a * b


# -- the incomplete gamma function ---------------------------------------------------------


@op("IgammaDerivative", "a: T, x: T -> z: T", T=_DOUBLE, shape=broadcast, cost=Cost.SERIES)
def igamma_derivative_op(xp, a, x, *, order):
    """Computes the derivative of Igamma of some order (at least 1) with respect to a."""
    dtype = a.dtype
    a, x = xp.broadcast_arrays(xp.asarray(a).astype(xp.float64), xp.asarray(x).astype(xp.float64))
    lgamma, polygamma = _functions(xp)
    fine = (a > 0) & (x > 0) & (x < math.inf)
    a, x = xp.where(fine, a, 1.0), xp.where(fine, x, 1.0)
    c, below = xp.log(x), x < a + 1
    sign = xp.where(below, -1.0, xp.ones_like(x))  # the direction in which to integrate
    cumulants = [-polygamma(k, a) for k in range(order)]
    top = a * c - x - lgamma(a)

    def fall(u):
        return xp.where(below, a * u + x * xp.expm1(-u), x * xp.expm1(u) - a * u)

    def slope(u):
        return xp.where(below, a - x * xp.exp(-u), x * xp.exp(u) - a)

    reach = _reach(xp.where(below, (_DECAY + x) / a, xp.sqrt(2 * _DECAY / x)), fall, slope)

    def integrand(u):
        s = c + sign * u

        def kappa(k):
            return cumulants[k - 1] + s if k == 1 else cumulants[k - 1]

        return _bell(kappa, order, _plus, _times) * xp.exp(top - fall(u))

    with np.errstate(all="ignore"):
        value = -sign * _trapezoidal(xp, reach, integrand)
    return xp.where(fine, value, 0.0 if order else 1.0).astype(dtype)


def _log_density(a, x):
    """Returns the logarithm of the derivative of P(a, x) by x."""
    return raw.Sub(raw.Sub(raw.Mul(raw.Sub(a, 1), raw.Log(x)), x), raw.Lgamma(a))


def _score(a, x, order):
    """Returns the derivative of the density by a, of an order, over the density."""
    log = raw.Log(x)

    def kappa(k):
        if k == 1:
            return raw.Sub(log, raw.Digamma(a))
        return raw.Neg(raw.Polygamma(np.asarray(k - 1, a.dtype.np_dtype), a))

    return _bell(kappa, order, raw.AddV2, raw.Mul)


@igamma_derivative_op.grad
def _igamma_derivative_grad(op, dz):
    return igamma_derivative_slopes(op, dz, op._attr("order"))


def igamma_derivative_slopes(op, dz, order):
    """Computes the gradients of an operation that is a derivative of P(a, x) with respect to a."""
    a, x = op.inputs
    by_a = raw.IgammaDerivative(a, x, order=order + 1)
    by_x = raw.Mul(raw.Exp(_log_density(a, x)), _score(a, x, order))
    return unbroadcast(raw.Mul(by_a, dz), raw.Mul(by_x, dz), a, x)


def random_gamma_grad_slopes(alpha, sample, value):
    """Computes the gradients of `value`, the derivative of a gamma deviate with respect to its parameter, for both.

    It is -P_a / p, for p the density, so its own derivatives are those of a quotient.
    """
    if alpha.dtype not in _DOUBLE:
        a, x, v = (raw.Cast(t, DstT=float32) for t in (alpha, sample, value))
        return tuple(raw.Cast(g, DstT=alpha.dtype) for g in random_gamma_grad_slopes(a, x, v))
    score = _score(alpha, sample, 1)
    second = raw.Mul(raw.IgammaDerivative(alpha, sample, order=2), raw.Exp(raw.Neg(_log_density(alpha, sample))))
    by_alpha = raw.Neg(raw.AddV2(second, raw.Mul(value, score)))
    falling = raw.Sub(raw.RealDiv(raw.Sub(alpha, 1), sample), 1)
    return by_alpha, raw.Neg(raw.AddV2(score, raw.Mul(value, falling)))


# -- the incomplete beta function ----------------------------------------------------------


def _bell_of_two(kappa, n, m, add, mul):
    """Returns the complete Bell polynomial of two orders; kappa(i, j) are mixed derivatives of a logarithm."""
    values = {(0, 0): None}
    for i in range(n + 1):
        for j in range(m + 1):
            if not (i or j):
                continue
            total = None
            p, q = (i - 1, j) if i else (0, j - 1)
            for k in range(p + 1):
                for r in range(q + 1):
                    left = values[(p - k, q - r)]
                    factor = kappa(k + 1, r) if i else kappa(0, r + 1)
                    term = factor if left is None else mul(left, factor)
                    count = math.comb(p, k) * math.comb(q, r)
                    term = term if count == 1 else mul(term, float(count))
                    total = term if total is None else add(total, term)
            values[(i, j)] = total
    return values[(n, m)]


@op("BetaincDerivative", "a: T, b: T, x: T -> z: T", T=_DOUBLE, shape=scalars_or_one_shape, cost=Cost.SERIES)
def betainc_derivative_op(xp, a, b, x, *, order_a, order_b):
    """Computes the derivative of Betainc of some orders (not both 0) with respect to a and b."""
    dtype = a.dtype
    a, b, x = xp.broadcast_arrays(*(xp.asarray(v).astype(xp.float64) for v in (a, b, x)))
    lgamma, polygamma = _functions(xp)
    fine = (a > 0) & (b > 0) & (x > 0) & (x < 1)
    a, b, x = xp.where(fine, a, 1.0), xp.where(fine, b, 1.0), xp.where(fine, x, 0.5)
    both = a + b
    below = x * both < a
    # Above the mean, integrate the other deviate 1 - T from below.
    first, place = xp.where(below, a, b), xp.where(below, x, 1 - x)
    c = xp.log(place) - xp.log1p(-place)
    top = xp.log1p(xp.exp(c))
    log_beta = lgamma(a) + lgamma(b) - lgamma(both)
    peak = first * c - both * top - log_beta
    known = {}
    for k in range(order_a + order_b):
        known[(k + 1, 0)], known[(0, k + 1)] = polygamma(k, a), polygamma(k, b)
    sums = [polygamma(k, both) for k in range(order_a + order_b)]

    def fall(u):
        return first * u - both * (top - xp.log1p(xp.exp(c - u)))

    def slope(u):
        return first - both / (1 + xp.exp(u - c))

    reach = _reach((_DECAY + both * top) / first, fall, slope)

    def integrand(u):
        s = c - u
        log_low, log_high = -xp.log1p(xp.exp(-s)), -xp.log1p(xp.exp(s))
        logs = {(1, 0): xp.where(below, log_low, log_high), (0, 1): xp.where(below, log_high, log_low)}

        def kappa(i, j):
            value = sums[i + j - 1]
            if not (i and j):
                value = value - known[(i, j)]
            return value + logs[(i, j)] if i + j == 1 else value

        return _bell_of_two(kappa, order_a, order_b, _plus, _times) * xp.exp(peak - fall(u))

    with np.errstate(all="ignore"):
        value = xp.where(below, 1.0, -xp.ones_like(reach)) * _trapezoidal(xp, reach, integrand)
    return xp.where(fine, value, 0.0).astype(dtype)


def betainc_slopes(op, dz, order_a, order_b):
    """Computes the gradients of an operation that is a derivative of the incomplete beta function."""
    a, b, x = op.inputs
    both = raw.AddV2(a, b)
    log_beta = raw.Sub(raw.AddV2(raw.Lgamma(a), raw.Lgamma(b)), raw.Lgamma(both))
    powers = raw.AddV2(raw.Xlog1py(raw.Sub(b, 1), raw.Neg(x)), raw.Xlogy(raw.Sub(a, 1), x))
    by_x = raw.Mul(raw.Exp(raw.Sub(powers, log_beta)), dz)
    if order_a or order_b:

        def polygamma(n, v):
            return raw.Digamma(v) if n == 0 else raw.Polygamma(np.asarray(n, v.dtype.np_dtype), v)

        def kappa(i, j):
            value = polygamma(i + j - 1, both)
            if not (i and j):
                value = raw.Sub(value, polygamma(i + j - 1, a if i else b))
            if i + j == 1:
                value = raw.AddV2(value, raw.Log(x) if i else raw.Log1p(raw.Neg(x)))
            return value

        by_x = raw.Mul(by_x, _bell_of_two(kappa, order_a, order_b, raw.AddV2, raw.Mul))
    by_a = raw.Mul(raw.BetaincDerivative(a, b, x, order_a=order_a + 1, order_b=order_b), dz)
    by_b = raw.Mul(raw.BetaincDerivative(a, b, x, order_a=order_a, order_b=order_b + 1), dz)
    whole = op.outputs[0]
    return tuple(unbroadcast(None, g, whole, t)[1] for g, t in ((by_a, a), (by_b, b), (by_x, x)))


@betainc_derivative_op.grad
def _betainc_derivative_grad(op, dz):
    return betainc_slopes(op, dz, op._attr("order_a"), op._attr("order_b"))


# -- Hurwitz's zeta function ---------------------------------------------------------------

_TERMS = 10
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


def _product(a, b):
    """Returns the product of two Taylor series, as long as the first."""
    return [sum(a[i] * b[k - i] for i in range(k + 1) if k - i < len(b)) for k in range(len(a))]


@op("ZetaDerivative", "x: T, q: T -> z: T", T=_DOUBLE, shape=broadcast, cost=Cost.SERIES)
def zeta_derivative_op(xp, x, q, *, order):
    """Computes the derivative of Zeta of some order by x: the Euler-Maclaurin formula on Taylor series."""
    dtype = x.dtype
    x, q = xp.broadcast_arrays(xp.asarray(x).astype(xp.float64), xp.asarray(q).astype(xp.float64))
    fine = (x > 1) & (q > 0)
    s, q = xp.where(fine, x, 2.0), xp.where(fine, q, 1.0)

    def power(a):
        """Computes a**-s."""
        log = -xp.log(a)
        return [xp.exp(s * log) * log**k / math.factorial(k) for k in range(order + 1)]

    total = [sum(t) for t in zip(*(power(q + k) for k in range(_TERMS)), strict=True)]
    a = q + _TERMS
    last = power(a)
    tail = _product(last, [(-1.0) ** k * a / (s - 1) ** (k + 1) for k in range(order + 1)])
    total = [t + u + 0.5 * v for t, u, v in zip(total, tail, last, strict=True)]
    rising = _product([v / a for v in last], [s, 1.0])
    for j, b in enumerate(_BERNOULLI, 1):
        total = [t + b / math.factorial(2 * j) * v for t, v in zip(total, rising, strict=True)]
        rising = _product(_product([v / (a * a) for v in rising], [s + 2 * j - 1, 1.0]), [s + 2 * j, 1.0])
    return xp.where(fine, total[order] * math.factorial(order), math.nan).astype(dtype)


def zeta_slopes(op, dz, order):
    """Computes the gradients of an operation that is a derivative of zeta with respect to x."""
    x, q = op.inputs

    def derivative(v, n):
        return raw.Zeta(v, q) if n == 0 else raw.ZetaDerivative(v, q, order=n)

    beside = raw.AddV2(x, 1)
    by_q = raw.Mul(x, derivative(beside, order))
    if order:
        by_q = raw.AddV2(by_q, raw.Mul(float(order), derivative(beside, order - 1)))
    by_x = derivative(x, order + 1)
    return unbroadcast(raw.Mul(by_x, dz), raw.Mul(raw.Neg(by_q), dz), x, q)


@zeta_derivative_op.grad
def _zeta_derivative_grad(op, dz):
    return zeta_slopes(op, dz, op._attr("order"))
