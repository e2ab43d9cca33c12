"""Distributions of stateless random numbers that are not TensorFlow's own."""

from __future__ import annotations

import math

import numpy as np
import pytest

import graphgrad as tf

_CDF = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2.0)))


@pytest.mark.parametrize("count, chance", [(10.0, 0.5), (4.0, 0.1), (50.0, 0.9), (1.0, 0.3), (300.0, 0.02)])
def test_binomial(count: float, chance: float) -> None:
    """Numbers of successes have the mean, the variance and the chance of zero that they should."""
    n = 20000
    x = np.asarray(tf.random.stateless_binomial([n], [3, 4], count, chance, tf.float64))
    assert np.all((x >= 0) & (x <= count) & (x == np.floor(x)))
    variance = count * chance * (1 - chance)
    assert abs(x.mean() - count * chance) < 5 * math.sqrt(variance / n)
    assert abs(x.var() / variance - 1) < 0.1
    none = (1 - chance) ** count
    assert abs((x == 0).mean() - none) < 5 * math.sqrt(none / n) + 1e-9


@pytest.mark.parametrize("mean, scale, low, high", [(0.0, 1.0, -1.0, 2.0), (1.0, 2.0, 0.0, np.inf),
                                                    (0.0, 1.0, 6.0, 8.0),
                                                    (0.0, 1.0, -9.0, -7.0)])
def test_truncated_normal(mean: float, scale: float, low: float, high: float) -> None:
    """Deviates lie between the bounds, and their quantiles are evenly spread, far out in the tails too."""
    x = np.sort(np.asarray(tf.random.stateless_parameterized_truncated_normal(
        [4000], [1, 2], np.float64(mean), scale, low, high)))
    assert low <= x[0] and x[-1] <= high
    a, b, z = ((v - mean) / scale for v in (low, high, x))
    if a > 0:  # the other tail has more digits
        a, b, z = -b, -a, -z[::-1]
    u = (_CDF(z) - _CDF(a)) / (_CDF(b) - _CDF(a))
    assert np.abs(u - (np.arange(4000) + 0.5) / 4000).max() < 1.95 / math.sqrt(4000)  # Kolmogorov and Smirnov, 0.1 %


@pytest.mark.parametrize("last", [1, 6, 999])
def test_index_shuffle(last: int) -> None:
    """Indices are permuted, in another way for another seed."""
    every = tf.range(last + 1)
    orders = [np.asarray(tf.random.experimental.index_shuffle(every, [k, 7], last)) for k in (1, 2)]
    for order in orders:
        assert sorted(order.tolist()) == list(range(last + 1))
    assert last < 9 or np.mean(orders[0] == orders[1]) < 0.1
