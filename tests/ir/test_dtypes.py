"""Numbers of 2 to 8 bits."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.support.sessions import run_in_numpy

pytestmark = pytest.mark.usefixtures("graph")


# TensorFlow 2.21's: enum, whether floating, (min, max), and what 1.3, -2, 300, 0.2, -3 become where it casts on CPUs.
_SMALL = {
    "float4_e2m1fn": (33, True, (-6, 6), None), "float8_e4m3b11fnuz": (27, True, (-30, 30), None),
    "float8_e4m3fn": (25, True, (-448, 448), [1.25, -2, 288, 0.203125, -3]),
    "float8_e4m3fnuz": (26, True, (-240, 240), None),
    "float8_e5m2": (24, True, (-57344, 57344), [1.25, -2, 320, 0.1875, -3]),
    "float8_e5m2fnuz": (28, True, (-57344, 57344), None), "int2": (31, False, (-2, 1), None),
    "int4": (29, False, (-8, 7), None), "uint2": (32, False, (0, 3), None), "uint4": (30, False, (0, 15), None),
}


@pytest.mark.parametrize("name", _SMALL)
def test_small_dtypes(name: str) -> None:
    """Numbers of 2 to 8 bits have TensorFlow's names and limits, and are cast to and from."""
    enum, floating, limits, cast = _SMALL[name]
    dtype = getattr(tf.dtypes.experimental, name)
    assert dtype is getattr(tf2.experimental, name) is tf.as_dtype(name) and int(dtype) == enum and dtype.size == 1
    assert dtype.is_floating is floating and dtype.is_integer is not floating and not dtype.is_differentiable
    assert (float(dtype.min), float(dtype.max)) == limits
    there = tf.cast(tf.constant([1.0, 0.0]), dtype)
    back = run_in_numpy(tf.cast(tf.reshape(there, [2, 1])[::-1], tf.float32))
    assert there.dtype is dtype and back.tolist() == [[0.0], [1.0]]
    if cast:
        assert run_in_numpy(tf.cast(tf.cast(tf.constant([1.3, -2, 300, 0.2, -3]), dtype), tf.float32)).tolist() == cast


def test_small_dtypes_compiled() -> None:
    """XLA casts as NumPy does."""
    x = tf.placeholder(tf.float32, [5])
    casts = [tf.cast(tf.cast(x, getattr(tf.dtypes.experimental, n)), tf.float32)
             for n in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz")]
    feed = {x: np.float32([1.3, -2, 200, 0.2, -3])}
    with tf.Session() as sess, HostSession() as host:
        sess.run(casts, feed)
        for compiled, known in zip(sess.run(casts, feed), host.run(casts, feed), strict=True):
            assert compiled.tolist() == known.tolist()
