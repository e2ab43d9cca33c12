"""`with_space_to_batch`, beside TensorFlow 2.21's values and dilated convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support.sessions import run_in_numpy

pytestmark = pytest.mark.usefixtures("graph")


_IMAGE = np.arange(168, dtype=np.float32).reshape(2, 7, 6, 2)
_FILTER = np.linspace(-1, 1, 36).reshape(3, 2, 2, 3).astype(np.float32)


def _conv(x: Any, n: int, padding: str) -> Any:
    return tf2.nn.conv2d(x, _FILTER, [1, 1, 1, 1], padding)


def _pool(x: Any, n: int, padding: str) -> Any:
    return tf2.nn.max_pool2d(x, [2, 1], [1, 1], padding)


def test_with_space_to_batch() -> None:
    """Shapes and sums that TensorFlow 2.21 gives, and dilated convolutions."""
    f = tf.nn.with_space_to_batch
    found = run_in_numpy([f(_IMAGE, [2, 3], "SAME", _conv, filter_shape=[3, 2]), f(_IMAGE, [2, 1], "VALID", _conv),
                 f(_IMAGE, [1, 1], "SAME", _conv), f(_IMAGE, [2], "VALID", _pool, spatial_dims=[1])])
    known = [((2, 7, 6, 3), 6500.0586, -468372.18), ((2, 3, 5, 3), 12080.571, 541020.86),
             ((2, 7, 6, 3), 3556.2856, -527493.64), ((2, 5, 6, 2), 11460.0, 869060.0)]
    for value, (shape, total, weighted) in zip(found, known, strict=True):
        assert value.shape == shape
        np.testing.assert_allclose([value.sum(), (value * np.arange(value.size).reshape(shape)).sum()],
                                   [total, weighted], rtol=1e-5)
    late = tf.placeholder_with_default(_IMAGE, [None, None, None, 2])
    dilated = tf2.nn.conv2d(_IMAGE, _FILTER, 1, "SAME", dilations=[2, 3])
    whole, again = run_in_numpy([dilated, f(late, [2, 3], "SAME", _conv, filter_shape=[3, 2])])
    np.testing.assert_allclose(again, whole, rtol=1e-4, atol=1e-3)
    for args, text in ((([2, 2], "SAME"), "filter_shape must be specified"), (([2, 0], "VALID"), "positive numbers"),
                       (([2, 2], "X"), "Invalid padding method"), (([2, 2, 2, 2], "VALID"), "rank 5 at least")):
        with pytest.raises(ValueError, match=f"(?s){text}.*Fix:"):
            f(_IMAGE, *args, _conv)
    with pytest.raises(ValueError, match="(?s)must be 1 numbers from 1 on.*Fix:"):
        f(_IMAGE, [2], "VALID", _conv, spatial_dims=[0])
