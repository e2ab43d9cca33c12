"""Lowerings that depend on sizes, at sizes that the table of operations does not have: XLA against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.session import HostSession

RNG = np.random.RandomState(0)


def _compare(build, *arrays, tolerance=1e-5):
    """Runs what `build` makes of placeholders through XLA and in NumPy, its results relative to the largest one."""
    with tf.Graph().as_default():
        xs = [tf.placeholder(a.dtype, a.shape) for a in arrays]
        fetches = build(*xs)
        feeds = dict(zip(xs, arrays, strict=True))
        with tf.Session() as compiled, HostSession() as host:
            pairs = zip(compiled.run(fetches, feeds), host.run(fetches, feeds), strict=True)
    for got, want in pairs:
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * max(1e-30, np.abs(want).max()))


def _normal(*shape, dtype=np.float32):
    return RNG.randn(*shape).astype(dtype)


@pytest.mark.parametrize("batch", [4, 7, 9])  # summed in 2 parts, as a whole, in 3 parts
def test_filter_gradient_of_many_positions(batch):
    """Beyond 8,192 positions the sum over them is dealt out to several convolutions."""
    def build(x, dy):
        return [tf.raw_ops.Conv2DBackpropFilter(input=x, filter_sizes=[3, 3, 1, 2], out_backprop=dy,
                                                strides=[1, 1, 1, 1], padding="SAME")]  # fmt: skip

    _compare(build, _normal(batch, 50, 50, 1), _normal(batch, 50, 50, 2), tolerance=1e-4)


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_filter_of_one_cell(stride):
    """It is a product of matrices, forwards and backwards."""
    def build(x, f, dy):
        y = tf.nn.conv2d(x, f, [1, stride, stride, 1], "SAME")
        return [y, *tf.gradients(y, [x, f], dy)]

    out = -(-8 // stride)
    _compare(build, _normal(2, 8, 8, 3), _normal(1, 1, 3, 4), _normal(2, out, out, 4))
