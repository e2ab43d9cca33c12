"""Rejection sampling of gamma and Poisson deviates in NumPy.

Every result draws from its own part of the stream, so that all are computed at once; rejected ones are drawn again.
Numbers come in TensorFlow's order, so the results are TensorFlow's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.ir.dtypes import float64

from . import philox

_STRETCH = 256  # blocks between the starts of two results
_SHORT = 42  # the same for sums of geometric deviates; longer ones continue in the next result's blocks
_lgamma = np.vectorize(math.lgamma, otypes=[np.float64])


class _Draws:
    """Numbers of a distribution for many results, taken from the end of each group."""

    def __init__(self, source: _Source, distribution: Any):
        self.source = source
        self.distribution = distribution
        self.group = np.empty((source.size, distribution.width))
        self.left = np.zeros(source.size, np.int64)

    def next(self, which: np.ndarray) -> np.ndarray:
        """Returns the next number of each of the results `which`."""
        empty = which[self.left[which] == 0]
        if len(empty):
            self.group[empty] = np.stack(self.distribution.host(*self.source.blocks(empty)), 1)
            self.left[empty] = self.distribution.width
        self.left[which] -= 1
        return self.group[which, self.left[which]]


class _Source:
    """The blocks of each result's part of the stream, in order."""

    def __init__(self, stream: philox.Stream, size: int, stretch: int = _STRETCH):
        self.stream = stream
        self.size = size
        self.position = np.arange(size, dtype=np.uint64) * np.uint64(stretch)

    def blocks(self, which: np.ndarray) -> tuple[np.ndarray, ...]:
        """Returns the next block of each of the results `which`."""
        words = philox.host_blocks(self.stream, self.position[which])
        self.position[which] += np.uint64(1)
        return words


def _arranged(values: np.ndarray, shape: tuple[int, ...], parameter: np.ndarray) -> np.ndarray:
    """Reorders one row per parameter, the order of drawing, to the order of the result."""
    rows = values.reshape(parameter.size, math.prod(shape))
    return np.ascontiguousarray(rows.T).reshape(shape + parameter.shape)


def gamma(stream: philox.Stream, shape: tuple[int, ...], alpha: np.ndarray) -> np.ndarray:
    """Draws gamma deviates of scale 1 (Marsaglia and Tsang, 2000).

    Args:
      stream: the stream to draw from.
      shape: the shape of the draws for each parameter.
      alpha: the shape parameters, all positive.
    Returns: (*shape, *alpha.shape), dtype of `alpha`.
    """
    a = np.repeat(alpha.astype(np.float64).reshape(-1), math.prod(shape))
    source = _Source(stream, a.size)
    normal, uniform = _Draws(source, philox.NormalDeviates(float64)), _Draws(source, philox.UniformFloats(float64))
    result = np.empty(a.size)
    with np.errstate(all="ignore"):
        exponential = np.nonzero(a == 1)[0]
        result[exponential] = -np.log1p(-uniform.next(exponential))
        d = a + np.where(a < 1, 2 / 3, -1 / 3)
        c = 1 / (3 * np.sqrt(d))
        result[~(a > 0)] = np.nan
        waiting = np.nonzero((a != 1) & (a > 0))[0]
        while len(waiting):
            x = normal.next(waiting)
            v = 1 + c[waiting] * x
            positive = v > 0
            tried, x, v = waiting[positive], x[positive], v[positive] ** 3
            u = uniform.next(tried)
            scale = d[tried]
            accepted = (u < 1 - 0.0331 * x**4) | (np.log(u) < 0.5 * x * x + scale * (1 - v + np.log(v)))
            done = tried[accepted]
            result[done] = (scale * v)[accepted]
            small = done[a[done] < 1]
            result[small] *= uniform.next(small) ** (1 / a[small])
            waiting = np.setdiff1d(waiting, done, assume_unique=True)
    return _arranged(result, shape, alpha).astype(alpha.dtype)


def poisson(stream: philox.Stream, shape: tuple[int, ...], rate: np.ndarray) -> np.ndarray:
    """Draws Poisson deviates: products of uniform numbers below rate 10, from there on Hörmann's rejection (1993).

    Args:
      stream: the stream to draw from.
      shape: the shape of the draws for each rate.
      rate: the rates; those that are negative or not finite give NaN.
    Returns: (*shape, *rate.shape), float64.
    """
    r = np.repeat(rate.astype(np.float64).reshape(-1), math.prod(shape))
    uniform = _Draws(_Source(stream, r.size), philox.UniformFloats(float64))
    result = np.full(r.size, np.nan)
    with np.errstate(all="ignore"):
        _multiply(uniform, r, np.nonzero((r >= 0) & (r < 10))[0], result)
        _transform(uniform, r, np.nonzero((r >= 10) & np.isfinite(r))[0], result)
    return _arranged(result, shape, rate)


def _multiply(uniform: _Draws, rate: np.ndarray, waiting: np.ndarray, result: np.ndarray) -> None:
    limit = np.exp(-rate)
    product = np.ones(rate.size)
    count = np.zeros(rate.size)
    while len(waiting):
        product[waiting] *= uniform.next(waiting)
        done = product[waiting] <= limit[waiting]
        result[waiting[done]] = count[waiting[done]]
        waiting = waiting[~done]
        count[waiting] += 1


def _transform(uniform: _Draws, rate: np.ndarray, waiting: np.ndarray, result: np.ndarray) -> None:
    while len(waiting):
        r = rate[waiting]
        b = 0.931 + 2.53 * np.sqrt(r)
        a = -0.059 + 0.02483 * b
        inverse = 1.1239 + 1.1328 / (b - 3.4)
        u = uniform.next(waiting) - 0.5
        v = uniform.next(waiting)
        edge = 0.5 - np.abs(u)
        k = np.floor((2 * a / edge + b) * u + r + 0.43)
        quick = (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        never = (k < 0) | ((edge < 0.013) & (v > edge))
        log_density = -r + k * np.log(r) - _lgamma(np.where(never, 0, k) + 1)
        slow = ~never & (np.log(v * inverse / (a / (edge * edge) + b)) <= log_density)
        done = quick | slow
        result[waiting[done]] = k[done]
        waiting = waiting[~done]


def binomial(stream: philox.Stream, shape: tuple[int, ...], counts: np.ndarray, probs: np.ndarray) -> np.ndarray:
    """Draws numbers of successes: sums of geometric deviates; from 10 expected on by Hörmann's rejection (1993).

    Args:
      stream: the stream to draw from.
      shape: the shape of the draws for each pair of parameters.
      counts, probs: of one shape.
    Returns: (*shape, *counts.shape), float64; NaN for invalid parameters.
    """
    n = np.repeat(counts.astype(np.float64).reshape(-1), math.prod(shape))
    p = np.repeat(probs.astype(np.float64).reshape(-1), math.prod(shape))
    uniform = _Draws(_Source(stream, n.size), philox.UniformFloats(float64))
    fine = (n >= 0) & np.isfinite(n) & (p >= 0) & (p <= 1)
    rare = np.where(p > 0.5, 1 - p, p)  # of the rarer outcome
    result = np.full(n.size, np.nan)
    result[fine & ((n == 0) | (rare == 0))] = 0.0
    open_ = fine & (n > 0) & (rare > 0)
    with np.errstate(all="ignore"):
        few = _Draws(_Source(stream, n.size, _SHORT), philox.UniformFloats(float64))
        _count(few, n, rare, np.nonzero(open_ & (n * rare < 10))[0], result)
        _reject(uniform, n, rare, np.nonzero(open_ & (n * rare >= 10))[0], result)
    return _arranged(np.where(p > 0.5, n - result, result), shape, counts)


def _count(uniform: _Draws, n: np.ndarray, p: np.ndarray, waiting: np.ndarray, result: np.ndarray) -> None:
    """Counts the geometric deviates that fit into n trials."""
    trials, successes = np.zeros(n.size), np.zeros(n.size)
    while len(waiting):
        trials[waiting] += np.ceil(np.log(uniform.next(waiting)) / np.log1p(-p[waiting]))
        over = trials[waiting] > n[waiting]
        result[waiting[over]] = successes[waiting[over]]
        waiting = waiting[~over]
        successes[waiting] += 1


def _stirling(k: np.ndarray) -> np.ndarray:
    """Computes log(k!) less Stirling's approximation of it at k + 1."""
    return _lgamma(k + 1) - ((k + 0.5) * np.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))


def _reject(uniform: _Draws, n: np.ndarray, p: np.ndarray, waiting: np.ndarray, result: np.ndarray) -> None:
    while len(waiting):
        trials, chance = n[waiting], p[waiting]
        spread = np.sqrt(trials * chance * (1 - chance))
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * chance
        odds = chance / (1 - chance)
        mode = np.floor((trials + 1) * chance)
        u = uniform.next(waiting) - 0.5
        v = uniform.next(waiting)
        edge = 0.5 - np.abs(u)
        k = np.floor((2 * a / edge + b) * u + trials * chance + 0.5)
        quick = (edge >= 0.07) & (v <= 0.92 - 4.2 / b)
        never = (k < 0) | (k > trials)
        j = np.where(never, 0, k)
        bound = ((mode + 0.5) * np.log((mode + 1) / (odds * (trials - mode + 1)))
                 + (trials + 1) * np.log((trials - mode + 1) / (trials - j + 1))
                 + (j + 0.5) * np.log(odds * (trials - j + 1) / (j + 1))
                 + _stirling(mode) + _stirling(trials - mode) - _stirling(j) - _stirling(trials - j))
        slow = ~never & (np.log(v * (2.83 + 5.1 / b) * spread / (a / (edge * edge) + b)) <= bound)
        done = quick | slow
        result[waiting[done]] = k[done]
        waiting = waiting[~done]


__all__ = ["binomial", "gamma", "poisson"]
