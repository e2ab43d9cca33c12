"""Updates of a variable to which a constant was assigned just before, in one program of XLA: the updates are traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphgrad as tf


def _rows(u: Any) -> Any:
    return tf.IndexedSlices(u, [1])


UPDATES: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "scatter_nd_update": (lambda v, u: v.scatter_nd_update([[1]], u), 2.5),
    "scatter_nd_add": (lambda v, u: v.scatter_nd_add([[1]], u), 7.5),
    "scatter_nd_sub": (lambda v, u: v.scatter_nd_sub([[1]], u), 2.5),
    "scatter_nd_min": (lambda v, u: v.scatter_nd_min([[1]], u), 2.5),
    "scatter_nd_max": (lambda v, u: v.scatter_nd_max([[1]], u), 5.0),
    "scatter_add": (lambda v, u: v.scatter_add(_rows(u)), 7.5),
    "scatter_sub": (lambda v, u: v.scatter_sub(_rows(u)), 2.5),
    "scatter_mul": (lambda v, u: v.scatter_mul(_rows(u)), 12.5),
    "scatter_div": (lambda v, u: v.scatter_div(_rows(u)), 2.0),
    "scatter_min": (lambda v, u: v.scatter_min(_rows(u)), 2.5),
    "scatter_max": (lambda v, u: v.scatter_max(_rows(u)), 5.0),
    "scatter_update": (lambda v, u: v.scatter_update(_rows(u)), 2.5),
    "a slice": (lambda v, u: v[1:2].assign(u), 2.5),
    "an element": (lambda v, u: v[1].assign(u[0]), 2.5),
    "in a branch": (lambda v, u: tf.cond(u[0] > 0.0, lambda: v.scatter_nd_update([[1]], u),
                                         lambda: v.scatter_nd_update([[2]], u)), 2.5),
}


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_of_a_constant(name: str) -> None:
    update, expected = UPDATES[name]
    v = tf.Variable([1.0, 2.0, 3.0])

    def step(u: Any) -> Any:
        v.assign([4.0, 5.0, 6.0])
        update(v, u)
        return v.read_value()

    function = tf.function(step)
    for run in (step, function, function, function):
        assert run(tf.constant([2.5])).numpy().tolist() == [4.0, expected, 6.0]
        assert v.numpy().tolist() == [4.0, expected, 6.0]
