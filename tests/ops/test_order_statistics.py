"""The largest elements along an axis."""

from __future__ import annotations

import pytest

import graphgrad.compat.v1 as tf
from tests.support.sessions import run_in_numpy

pytestmark = pytest.mark.usefixtures("graph")


def test_the_largest_along_any_axis() -> None:
    """Positions and derivatives as TensorFlow's under XLA."""
    x = tf.constant([[1.0, 5, 3, 2], [4, 0, 9, 7]])
    most, where = tf.math.approx_max_k(x, 2)
    rows = tf.approx_top_k(x, 1, reduction_dimension=0, is_max_k=False)
    values, places, slope, least = run_in_numpy([most, where, tf.gradients(most, x)[0], rows.values])
    assert values.tolist() == [[5, 3], [9, 7]] and places.tolist() == [[1, 2], [2, 3]]
    assert slope.tolist() == [[0, 1, 1, 0], [0, 0, 1, 1]] and least.tolist() == [[1, 0, 3, 2]]
