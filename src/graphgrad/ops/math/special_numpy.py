"""Special functions in NumPy, in double precision; a device uses XLA's."""

from __future__ import annotations

import math

import numpy as np


def _elementwise(function, at_error):
    """Vectorizes a function of `math`; the result is `at_error` where it raises, at a pole or for an overflow."""

    def guarded(v):
        try:
            return function(v)
        except (ValueError, OverflowError):
            return at_error

    ufunc = np.frompyfunc(guarded, 1, 1)

    def apply(x):
        return np.asarray(ufunc(x), np.float64)

    return apply


erf = _elementwise(math.erf, math.nan)
erfc = _elementwise(math.erfc, math.nan)
lgamma = _elementwise(math.lgamma, math.inf)


def erfcinv(p):
    """Computes z with erfc(z) = p, for p in [0, 2], by Newton's method from Winitzki's approximation."""
    tail = np.minimum(p, 2 - p)
    log = np.log(tail * (2 - tail))
    half = 2 / (math.pi * 0.147) + log / 2
    z = np.sqrt(np.sqrt(half * half - log / 0.147) - half)
    for _ in range(5):
        # Near the middle erf keeps more digits; far out the logarithm is nearly a parabola.
        rest, scale = erfc(z), np.exp(z * z)
        miss = np.where(tail > 0.5, ((1 - tail) - erf(z)) * scale, rest * scale * (np.log(rest) - np.log(tail)))
        step = miss * (math.sqrt(math.pi) / 2)
        z = np.where(np.isfinite(step), z + step, z)
    z = np.where(tail == 0, np.inf, np.where(tail == 1, 0.0, z))
    return np.where((p < 0) | (p > 2), np.nan, np.where(p > 1, -z, z))


def erfinv(p):
    """Computes z with erf(z) = p."""
    tail = 1 - np.abs(p)
    z = np.abs(erfcinv(tail))
    # For small p, 1 - p has lost digits: one more step on erf itself.
    small = np.abs(p) < 0.5
    z = np.where(small, z - (erf(z) - np.abs(p)) * (math.sqrt(math.pi) / 2) * np.exp(np.where(small, z * z, 0)), z)
    return np.where(np.abs(p) > 1, np.nan, np.copysign(z, p))


def ndtri(p):
    """Computes the quantile of the standard normal distribution."""
    return -math.sqrt(2) * erfcinv(2 * p)


_BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330]


def digamma(x):
    """Computes the derivative of lgamma by reflection, recurrence and asymptotic series."""
    x = np.asarray(x, np.float64)
    negative = x <= 0
    pole = negative & (x == np.floor(x))
    y = np.where(negative, 1 - x, x)
    shift = np.zeros_like(y)
    for _ in range(10):
        low = y < 10
        shift = np.where(low, shift + 1 / np.where(low, y, 1), shift)
        y = np.where(low, y + 1, y)
    series = sum(b / (2 * j) * y ** (-2 * j) for j, b in enumerate(_BERNOULLI, 1))
    value = np.log(y) - 0.5 / y - series - shift
    reflected = value - math.pi / np.tan(math.pi * np.where(pole, 0.5, x - np.floor(x)))
    return np.where(pole, np.nan, np.where(negative, reflected, value))


def zeta(s, q):
    """Computes Hurwitz's zeta function, the sum of (q + k)**-s, by the Euler-Maclaurin formula after some ten terms."""
    s, q = np.broadcast_arrays(np.asarray(s, np.float64), np.asarray(q, np.float64))
    pole = (q <= 0) & (q == np.floor(q))
    undefined = (s < 1) | ((q <= 0) & ~pole & (s != np.floor(s)))
    fine = ~(pole | undefined | (s == 1))
    s, a = np.where(fine, s, 2.0), np.where(fine, q, 1.0)
    fraction = np.where(a < 0, a - np.floor(a), a)
    total = _zeta_of_positive(s, fraction)
    if np.any(a < 0):  # the terms below zero are a piece of another such sum, with signs
        size = np.where(a < 0, -a, 0.0)
        below = _zeta_of_positive(s, np.where(a < 0, 1 - fraction, 1.0)) - _zeta_of_positive(s, size + 1)
        total = total + np.where(np.mod(s, 2) == 1, -below, below)
    return np.where(fine, total, np.where(undefined, np.nan, np.inf))


def _zeta_of_positive(s, a):
    total = np.zeros_like(a)
    while np.any(a < 10):
        low = a < 10
        total = np.where(low, total + np.where(low, a, 1.0) ** -s, total)
        a = np.where(low, a + 1, a)
    total = total + a ** (1 - s) / (s - 1) + 0.5 * a**-s
    factor = s * a ** (-s - 1)
    for j, b in enumerate(_BERNOULLI, 1):
        total = total + b / math.factorial(2 * j) * factor
        factor = factor * (s + 2 * j - 1) * (s + 2 * j) / (a * a)
    return total


def polygamma(n, x):
    """Computes the n-th derivative of digamma."""
    n, x = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(x, np.float64))
    value = np.where(np.mod(n, 2) == 0, -1.0, 1.0) * np.exp(lgamma(n + 1)) * zeta(n + 1, x)
    return np.where((n < 0) | (n != np.floor(n)), np.nan, np.where(n == 0, digamma(x), value))


# -- incomplete gamma and beta -----------------------------------------------------


def _power_over_gamma(a, x):
    """Computes x**a exp(-x) / gamma(a + 1)."""
    return np.exp(a * np.log(x) - x - lgamma(a + 1))


def _gamma_series(a, x):
    """Computes P(a, x) and its derivative with respect to a from the power series, all of whose terms are positive."""
    front = _power_over_gamma(a, x)
    term, slope = np.ones_like(x), np.zeros_like(x)
    total, slopes = term, slope
    for n in range(1, 5000):
        ratio = x / (a + n)
        slope = (slope - term / (a + n)) * ratio
        term = term * ratio
        total, slopes = total + term, slopes + slope
        if np.all((term <= 1e-17 * total) & (np.abs(slope) <= 1e-17 * np.abs(slopes))):
            break
    return front * total, front * (total * (np.log(x) - digamma(a + 1)) + slopes)


def _lentz(b0, step, count):
    """Returns a continued fraction b0 + a1/(b1 + a2/(b2 + ...)); `step(n)` gives (a_n, b_n)."""
    tiny = 1e-300
    value = np.where(b0 == 0, tiny, b0)
    c, d = value, np.zeros_like(value)
    for n in range(1, count):
        a, b = step(n)
        d = b + a * d
        c = b + a / c
        d = 1 / np.where(d == 0, tiny, d)
        c = np.where(c == 0, tiny, c)
        value = value * (c * d)
        if np.all(np.abs(c * d - 1) < 1e-16):
            break
    return value


def _gamma_fraction(a, x):
    """Computes Q(a, x) from Legendre's continued fraction, for x > a + 1."""

    def step(n):
        return -n * (n - a), x + 2 * n + 1 - a

    return _power_over_gamma(a, x) * a / _lentz(x + 1 - a, step, 2000)


def _by_region(a, x):
    """Computes P and Q, each computed without cancellation."""
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    outside = (a <= 0) | (x < 0) | np.isnan(a) | np.isnan(x)
    inside = ~outside & (x > 0) & np.isfinite(x)
    safe_a, safe_x = np.where(inside, a, 1.0), np.where(inside, x, 1.0)
    far = safe_x > safe_a + 1
    p = _gamma_series(safe_a, np.where(far, np.minimum(safe_a, 1.0), safe_x))[0]
    q = _gamma_fraction(np.where(far, safe_a, 1.0), np.where(far, safe_x, 3.0))
    p, q = np.where(far, 1 - q, p), np.where(far, q, 1 - p)
    p = np.where(inside, p, np.where(x == 0, 0.0, 1.0))
    q = np.where(inside, q, np.where(x == 0, 1.0, 0.0))
    return np.where(outside, np.nan, p), np.where(outside, np.nan, q)


def igamma(a, x):
    """Computes the regularised lower incomplete gamma function P(a, x)."""
    return _by_region(a, x)[0]


def igammac(a, x):
    """Computes the regularised upper incomplete gamma function Q(a, x)."""
    return _by_region(a, x)[1]


def igamma_grad_a(a, x):
    """Computes the derivative of P(a, x) with respect to a."""
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    inside = (a > 0) & (x > 0) & np.isfinite(x)
    safe_a, safe_x = np.where(inside, a, 1.0), np.where(inside, x, 1.0)
    nothing = _power_over_gamma(safe_a, safe_x) == 0  # far from a; the series itself overflows
    value = np.where(nothing, 0.0, _gamma_series(safe_a, np.where(nothing, 1.0, safe_x))[1])
    return np.where(inside, value, np.where((a > 0) & ((x == 0) | (x == np.inf)), 0.0, np.nan))


def betainc(a, b, x):
    """Computes the regularised incomplete beta function."""
    a, b, x = np.broadcast_arrays(*(np.asarray(t, np.float64) for t in (a, b, x)))
    outside = (a <= 0) | (b <= 0) | (x < 0) | (x > 1) | np.isnan(a + b + x)
    inside = ~outside & (x > 0) & (x < 1)
    a, b = np.where(inside, a, 1.0), np.where(inside, b, 1.0)
    y = np.where(inside, x, 0.5)
    swap = y > (a + 1) / (a + b + 2)  # there the fraction of the other side converges faster
    a, b, y = np.where(swap, b, a), np.where(swap, a, b), np.where(swap, 1 - y, y)

    def step(n):
        m = n // 2
        if n % 2:
            return -(a + m) * (a + b + m) * y / ((a + 2 * m) * (a + 2 * m + 1)), np.ones_like(y)
        return m * (b - m) * y / ((a + 2 * m - 1) * (a + 2 * m)), np.ones_like(y)

    front = np.exp(a * np.log(y) + b * np.log1p(-y) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a
    value = front / _lentz(np.ones_like(y), step, 2000)
    value = np.where(swap, 1 - value, value)
    return np.where(outside, np.nan, np.where(inside, value, x))
