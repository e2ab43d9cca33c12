"""Rules by composition, in eager mode and in a session; what they need."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir.opdef import raw
from tests.support.table import generator

_RNG = generator("composed")
_SHAPES = [(3, 2, 3), (2, 4), (2, 4), (7, 16), (4,), (4,), (4,), (16,)]
_ARRAYS = [_RNG.uniform(-1, 1, s) for s in _SHAPES]


def _slope(x):
    """The sum of squares of the layer's gradient for x, by a tape."""
    args = [tf2.constant(a) for a in _ARRAYS[1:]]
    with tf2.GradientTape() as tape:
        tape.watch(x)
        h = raw.BlockLSTM(tf2.constant(3, tf2.int64), x, *args)[6]
    return tf2.reduce_sum(tape.gradient(h, x) ** 2)


def test_tape() -> None:
    """A tape around a tape records what the inner rules are composed of."""
    x = tf2.constant(_ARRAYS[0])
    with tf2.GradientTape() as tape:
        tape.watch(x)
        value = _slope(x)
    got = tape.gradient(value, x).numpy()
    step = np.zeros(_SHAPES[0])
    step[1, 1, 1] = 1e-5
    ends = [_slope(tf2.constant(_ARRAYS[0] + s)).numpy() for s in (step, -step)]
    np.testing.assert_allclose(got[1, 1, 1], (ends[0] - ends[1]) / 2e-5, rtol=1e-6)


def test_session_agrees_with_tape() -> None:
    """The compiled second derivative is the one of the tape."""
    x = tf2.constant(_ARRAYS[0])
    with tf2.GradientTape() as tape:
        tape.watch(x)
        value = _slope(x)
    want = tape.gradient(value, x).numpy()
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, _SHAPES[0])
        h = raw.BlockLSTM(tf.constant(3, tf.int64), x, *[tf.constant(a) for a in _ARRAYS[1:]])[6]
        (g,) = tf.gradients(h, x)
        (gg,) = tf.gradients(tf.reduce_sum(g**2), x)
        np.testing.assert_allclose(sess.run(gg, {x: _ARRAYS[0]}), want, rtol=1e-9)


def test_unknown_steps() -> None:
    """A layer of unknown length has a first gradient; a second one is refused with a remedy."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, (None, 2, 3))
        h = raw.BlockLSTM(tf.constant(3, tf.int64), x, *[tf.constant(a) for a in _ARRAYS[1:]])[6]
        (g,) = tf.gradients(h, x)
        assert sess.run(g, {x: _ARRAYS[0]}).shape == _SHAPES[0]
        with pytest.raises(LookupError, match="(?s)BlockLSTMGrad needs a number of steps.*Fix: set_shape"):
            tf.gradients(g, x)


def test_sizes_of_noise() -> None:
    """The shape of dropout's choices may hold tensors, and None for the size of x."""

    @tf2.function(input_signature=[tf2.TensorSpec([None, 3, 5])])
    def dropped(x):
        return [tf2.nn.experimental.stateless_dropout(x, 0.5, [1, 2], noise_shape=(n, 1, m))
                for n, m in ((tf2.shape(x)[0], 5), (None, None), (tf2.shape(x)[0], None))]

    found = [d.numpy() for d in dropped(tf2.ones([4, 3, 5]))]
    assert np.all(found[0][:, :1] == found[0]) and np.unique(found[0]).tolist() == [0, 2]
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
