"""Special functions on the host, in double precision, by SciPy where it has them; a device uses XLA's."""

from __future__ import annotations

import numpy as np

from graphgrad.ops.common import host_arrays
from graphgrad.system.late_imports import load


def _special():
    return load("scipy.special")


def erf(x):
    """Computes the error function."""
    return _special().erf(x)


# atanh(erf(x)) / x as a polynomial of x**2 up to 16, by least squares with the weights that make the largest relative
# error of erf least (3e-7 in single precision, that of the evaluation included); beyond, erf is 1 in this precision.
_ERF = tuple(map(np.float32, (1.4185327755942e-7, -5.6684943956497e-6, 8.7637446995359e-5, -6.1978498706594e-4,
                              -1.9183041877113e-4, 1.0276905447245e-1, 1.1283792257309)))


def erf_single(x):
    """Computes the error function of float32 with few operations, all of which NumPy vectorizes."""
    return host_arrays.elementwise(_erf_steps, x, scratch=1)


def _erf_steps(out, x, square):
    np.multiply(x, x, out=square)
    np.minimum(square, np.float32(16), out=square)
    np.multiply(square, _ERF[0], out=out)
    np.add(out, _ERF[1], out=out)
    for factor in _ERF[2:]:
        np.multiply(out, square, out=out)
        np.add(out, factor, out=out)
    np.multiply(out, x, out=out)
    np.tanh(out, out=out)


def erfc(x):
    """Computes 1 - erf(x)."""
    return _special().erfc(x)


def erfinv(p):
    """Computes z with erf(z) = p."""
    return _special().erfinv(p)


def ndtri(p):
    """Computes the quantile of the standard normal distribution."""
    return _special().ndtri(p)


def lgamma(x):
    """Computes log(|gamma(x)|)."""
    return np.where(x == -np.inf, np.inf, _special().gammaln(x)) if np.any(x == -np.inf) else _special().gammaln(x)


def digamma(x):
    """Computes the derivative of lgamma, NaN at its poles."""
    return np.where(x == 0, np.nan, _special().psi(x))


def zeta(s, q):
    """Computes Hurwitz's zeta function, the sum of (q + k)**-s."""
    s, q = np.broadcast_arrays(np.asarray(s, np.float64), np.asarray(q, np.float64))
    pole = (q <= 0) & (q == np.floor(q))
    undefined = (s < 1) | (s == np.inf) | ((q <= 0) & ~pole & (s != np.floor(s)))
    fine = ~(pole | undefined | (s == 1))
    s, a = np.where(fine, s, 2.0), np.where(fine, q, 1.0)
    fraction = np.where(a < 0, a - np.floor(a), a)  # SciPy would add up all terms below zero
    total = _special().zeta(s, fraction)
    if np.any(a < 0):  # the terms below zero are a piece of another such sum, with signs
        size = np.where(a < 0, -a, 0.0)
        below = _special().zeta(s, np.where(a < 0, 1 - fraction, 1.0)) - _special().zeta(s, size + 1)
        total = total + np.where(np.mod(s, 2) == 1, -below, below)
    return np.where(fine, total, np.where(undefined, np.nan, np.inf))


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


def _regularised(function, a, x, at_infinity):
    """Applies a function of SciPy; the result is NaN where a is no positive number."""
    value = function(a, x)
    usual = (a > 0) & (a < np.inf)
    return value if usual.all() else np.where(usual, value, np.where((a == x) & (a > 0), at_infinity, np.nan))


def igamma(a, x):
    """Computes the regularised lower incomplete gamma function P(a, x)."""
    return _regularised(_special().gammainc, *np.broadcast_arrays(a, x), 1.0)


def igammac(a, x):
    """Computes the regularised upper incomplete gamma function Q(a, x)."""
    return _regularised(_special().gammaincc, *np.broadcast_arrays(a, x), 0.0)


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
    return np.where((a > 0) & (b > 0), _special().betainc(a, b, x), np.nan)
