"""Random generators: TensorFlow's numbers and states, and what programs do with generators."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.executor.runtime.session import HostSession

from . import generator_cases

_RECORDED = pathlib.Path(__file__).parents[2] / "recorded" / "generators.npz"
_TOLERANCE = {"float16": 5e-3, "float32": 2e-6, "float64": 1e-12}


@pytest.mark.parametrize("draw", [generator_cases.eagerly, generator_cases.by_threefry])
def test_numbers(draw: Any) -> None:
    """Draws, states and seeds are those that TensorFlow has recorded; ThreeFry's those that it has on XLA."""
    found = draw(tf)
    assert len(found) > 30
    with np.load(_RECORDED) as recorded:
        for name, got in found.items():
            want = recorded[name]
            assert got.dtype == want.dtype and got.shape == want.shape, name
            if want.dtype.kind == "f":
                tolerance = _TOLERANCE[want.dtype.name]
                np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=name)
            else:
                np.testing.assert_array_equal(got, want, err_msg=name)


def test_graph() -> None:
    """Each run of a graph draws anew, as eager mode does; the state is a variable of the session."""
    eager = tf.random.Generator.from_seed(5)
    want = [np.asarray(eager.normal([2])) for _ in range(3)]
    with tf.Graph().as_default(), HostSession() as sess:
        g = tf.random.Generator.from_seed(5)
        x = g.normal([2])
        sess.run(g.state.initializer)
        for w in want:
            np.testing.assert_allclose(sess.run(x), w, rtol=1e-6)


def test_function_and_gradient() -> None:
    """A function draws anew in each call; gradients reach mean and deviation, by the numbers drawn."""
    g = tf.random.Generator.from_seed(5)
    copy = tf.random.Generator(copy_from=g)

    @tf.function
    def draw(mean: Any, scale: Any) -> Any:
        return g.normal([3], mean, scale)

    mean, scale = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([mean, scale])
        y = draw(mean, scale)
    by_mean, by_scale = tape.gradient(y, [mean, scale])
    z = np.asarray(copy.normal([3]))
    np.testing.assert_allclose(np.asarray(y), 1 + 2 * z, rtol=1e-6)
    assert float(by_mean) == 3.0
    np.testing.assert_allclose(float(by_scale), z.sum(), rtol=1e-6)
    np.testing.assert_allclose(np.asarray(draw(mean, scale)), 1 + 2 * np.asarray(copy.normal([3])), rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(g.state), np.asarray(copy.state))


def test_states() -> None:
    """States are set and read in several ways; two generators of chance differ."""
    g = tf.random.Generator.from_key_counter(5, [1, 2], "philox")
    np.testing.assert_array_equal(np.asarray(g.state), [1, 2, 5])
    assert int(g.key) == 5 and g.algorithm == tf.random.Algorithm.PHILOX.value
    g.reset([3, 4, 2**63])
    np.testing.assert_array_equal(np.asarray(g.state), [3, 4, -(2**63)])
    g.reset_from_seed(9)
    np.testing.assert_array_equal(np.asarray(g.state), [9, 0, 0])
    g.reset_from_key_counter(7, [1, 0])
    np.testing.assert_array_equal(np.asarray(g.state), [1, 0, 7])
    a, b = (tf.random.Generator.from_non_deterministic_state() for _ in range(2))
    assert not np.array_equal(np.asarray(a.state), np.asarray(b.state))
    shared = tf.random.Generator(state=a.state, alg="philox")
    a.skip(1)
    np.testing.assert_array_equal(np.asarray(shared.state), np.asarray(a.state))
    before = tf.random.get_global_generator()
    tf.random.set_global_generator(g)
    assert tf.random.get_global_generator() is g
    tf.random.set_global_generator(before)
    numbers = np.asarray(tf.raw_ops.NonDeterministicInts(shape=[1000], dtype=tf.int64))
    assert len(set(numbers.tolist())) == 1000 and abs((numbers > 0).mean() - 0.5) < 0.1


_G = tf.random.Generator


@pytest.mark.parametrize(("make", "error", "match"), [
    (lambda: _G.from_state([1, 2], "philox"), ValueError, r"(?s)Shapes \(2,\) and \[3\] are incompatible.*Fix:"),
    (lambda: _G.from_seed(1, "mt"), ValueError, "(?s)unsupported value mt.*Fix:"),
    (lambda: _G.from_seed(1, 1.5), TypeError, "(?s)Can't convert argument `alg`.*Fix:"),
    (lambda: _G.from_key_counter(1, [1, 2, 3], "philox"), ValueError, "are incompatible"),
    (lambda: _G(state=[1, 2, 3]), AssertionError, "(?s)needs a state and an algorithm.*Fix:"),
    (lambda: _G(_G.from_seed(1), alg=1), AssertionError, "(?s)A copy has the state.*Fix:"),
    (lambda: _G.from_seed(1).uniform([2], dtype=tf.int32), ValueError, "(?s)both `None` or both non-`None`.*Fix:"),
    (lambda: _G.from_seed(1, "threefry").binomial([2], 3.0, 0.5), tf.errors.InvalidArgumentError,
     "(?s)Unsupported algorithm id: 2.*Fix:"),
    (lambda: tf.random.experimental.stateless_shuffle([1, 2], [1, 2], "threefry"), ValueError,
     "(?s)ThreeFry algorithm does not shuffle.*Fix:"),
])
def test_refused(make: Any, error: type[Exception], match: str) -> None:
    """What makes no generator is refused, with a remedy."""
    with pytest.raises(error, match=match):
        make()
