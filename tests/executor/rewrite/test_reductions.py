"""Reductions of compiled programs that become matrix products, against NumPy's in double precision."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.rewrite import reductions
from graphgrad.executor.runtime.session import HostSession
from tests.support.effort import part

from .rewritten import rewritten

_rewritten = functools.partial(rewritten, reductions.rewrite)


def _draw(rng):
    """Draws an array of some 4,000 to 100,000 elements, and axes."""
    while True:
        rank = int(rng.integers(1, 6))
        shape = tuple(int(n) for n in rng.choice([1, 2, 3, 7, 16, 31, 32, 64, 257, 2049, 5000], rank))
        if 1 << 12 <= np.prod(shape) <= 100_000:
            axes = tuple(int(a) for a in np.flatnonzero(rng.random(rank) < 0.5))
            return rng.standard_normal(shape).astype(rng.choice([np.float32, np.float64])), axes or (rank - 1,)


@pytest.mark.parametrize("seed", part(range(60), 3))
def test_agrees_with_numpy(seed):
    rng = np.random.default_rng(seed)
    x, axes = _draw(rng)
    size = rng.choice([0, 1, 3])  # of values that are not finite
    x.ravel()[rng.integers(0, x.size, size)] = rng.choice([np.inf, -np.inf, np.nan], size)
    found, _ = _rewritten(lambda a: (jnp.sum(a, axes), jnp.max(a, axes), jnp.min(a, axes),
                                     jnp.max(a, axes, initial=a.dtype.type(0.5))), x)
    with np.errstate(invalid="ignore"):
        wide = x.astype(np.float64)
        wanted = [wide.sum(axes), wide.max(axes), wide.min(axes), wide.max(axes, initial=0.5)]
    n = np.prod([x.shape[a] for a in axes])
    np.testing.assert_allclose(found[0], wanted[0], rtol=0, atol=60 * np.finfo(x.dtype).eps * n**0.5)
    for got, want in zip(found[1:], wanted[1:], strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shape, axes", [((1024, 128), 0), ((1024, 128), 1), ((16, 64, 128), (0, 1)), ((4, 64, 64), 1),
                                         ((8, 28, 28, 32), (0, 1, 2)), ((9, 5, 1024), (0, 2)), ((16384,), 0)])
def test_sums_become_products(shape, axes):
    (got,), text = _rewritten(lambda a: jnp.sum(a, axes), np.ones(shape, np.float32))
    assert "stablehlo.reduce(" not in text and "dot_general" in text
    np.testing.assert_array_equal(got, np.ones(shape).sum(axes))


@pytest.mark.parametrize("shape, axes, dtype", [((16, 8), 1, np.float32), ((5000, 20), 1, np.float32),
                                                ((1024, 128), 0, np.int32), ((4, 5000, 2), 1, np.float32)])
def test_others_stay(shape, axes, dtype):
    (got,), text = _rewritten(lambda a: jnp.sum(a, axes, dtype=dtype), np.ones(shape, dtype))
    assert "stablehlo.reduce(" in text and "dot_general" not in text
    np.testing.assert_array_equal(got, np.ones(shape).sum(axes))


def test_maxima_are_halved():
    x = np.random.default_rng(0).standard_normal((64, 256)).astype(np.float32)
    x[3, 200], x[5, 7] = np.nan, -np.nan
    (most, first), text = _rewritten(lambda a: (jnp.max(a, 1), jnp.max(a, 0)), x)
    assert text.count("stablehlo.slice") == 8
    np.testing.assert_array_equal(most, x.max(1))
    np.testing.assert_array_equal(first, x.max(0))


@pytest.mark.parametrize("initial, rewritten", [(0, True), (1, False)])
def test_only_sums_from_zero(initial, rewritten):
    def total(a):
        return jax.lax.reduce(a, np.float32(initial), jax.lax.add, (1,))

    _, text = _rewritten(total, np.ones((64, 256), np.float32))  # XLA does not say what sums from 1 are
    assert ("dot_general" in text) is rewritten


def test_many_terms_are_added_in_parts():
    x = np.random.default_rng(0).random((1 << 16, 3), np.float32)
    (total, across), _ = _rewritten(lambda a: (jnp.sum(a, 0), jnp.sum(a.T, 1)), x)
    for found in (total, across):
        np.testing.assert_allclose(found, x.astype(np.float64).sum(0), rtol=2e-6)


def test_within_loops_and_branches():
    rng = np.random.default_rng(0)
    with tf.Graph().as_default():
        w = tf.constant(rng.standard_normal((64, 256)).astype(np.float32))
        x = tf.placeholder(tf.float32, [256, 64])

        def body(i, v):
            y = tf.tanh(tf.matmul(v, w))
            return i + 1, v + tf.reduce_mean(y, 1, keepdims=True) + tf.reduce_max(y, 1, keepdims=True)

        last = tf.while_loop(lambda i, _: i < 3, body, [0, x])[1]
        last = tf.cond(last[0, 0] > -1e9, lambda: last * tf.reduce_sum(last, 0), lambda: last)
        fetches = [last, *tf.gradients(last, [x])]
        feed = {x: rng.standard_normal((256, 64)).astype(np.float32)}
        with tf.Session() as session, HostSession() as host:
            for _ in range(3):
                for got, want in zip(session.run(fetches, feed), host.run(fetches, feed), strict=True):
                    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3 * np.abs(want).max())
