"""Variables that a step writes in place: those whose values only what their update depends on reads."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf


def _in_place(session: Any, fetches: Any, variables: list[Any]) -> list[bool]:
    """Returns which variables a run writes in place."""
    plan = session._entry(fetches, {}).executable.plan
    slots = {cell.name: slot for slot, cell in plan.loads}
    return [slots[v.op.name] in plan.steps[-1].donated for v in variables]


def _layers(count: int) -> tuple[Any, list[Any]]:
    h: Any = tf.constant(np.linspace(-1, 1, 12).reshape(4, 3), tf.float32)
    weights = [tf.get_variable(f"w{i}", [3, 3], initializer=tf.random_normal_initializer(seed=i)) for i in range(count)]
    for w in weights:
        h = tf.tanh(tf.matmul(h, w))
    return tf.reduce_sum(h), weights


def test_the_gradient_of_a_layers_input_reads_its_weights(graph: Any, first_in_xla: Any) -> None:
    """The update need not come after it; of the first layer there is none."""
    loss, weights = _layers(3)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert _in_place(session, step, weights) == [True, False, False]


def test_what_is_fetched_may_come_after_the_update(graph: Any, first_in_xla: Any) -> None:
    _, (w, *_) = _layers(1)
    old = w.read_value()
    with tf.control_dependencies([old]):
        update = tf.assign_add(w, tf.ones([3, 3]))
    other = tf.reduce_sum(tf.exp(old))
    with tf.Session() as session:
        for fetches, wanted in ((update, True), ([other, update], False)):
            session.run(tf.global_variables_initializer())
            session.run(fetches)
            assert _in_place(session, fetches, [w]) == [wanted]


def test_updates_that_read_each_others_variables(graph: Any, first_in_xla: Any) -> None:
    """Neither of two updates, each by the other's old value, may take the other's place."""
    a, b = (tf.get_variable(n, [1000], initializer=tf.constant_initializer(v)) for n, v in (("a", 1.0), ("b", 2.0)))
    old_a, old_b = a.read_value(), b.read_value()
    with tf.control_dependencies([old_a, old_b]):
        step = tf.group(a.assign(old_a + 10 * old_b), b.assign(old_b - old_a))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wanted = np.array([1.0, 2.0])
        for _ in range(3):
            session.run(step)
            wanted = np.array([wanted[0] + 10 * wanted[1], wanted[1] - wanted[0]])
            for value, want in zip(session.run([a, b]), wanted, strict=True):
                np.testing.assert_array_equal(value, np.full(1000, want, np.float32))
        assert _in_place(session, step, [a, b]) == [False, False]


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam"])
def test_numbers_are_those_of_numpy(optimizer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is written in place, after ten steps variables, and what was fetched before, are as NumPy has them."""
    made = {"sgd": lambda: tf.train.GradientDescentOptimizer(0.1), "momentum": lambda: tf.train.MomentumOptimizer(
        0.1, 0.9), "adam": lambda: tf.train.AdamOptimizer(0.01)}[optimizer]
    found = []
    for engine in ("numpy", "xla"):
        monkeypatch.setenv("GRAPHGRAD_FIRST_RUN", engine)
        with tf.Graph().as_default(), tf.Session() as session:
            loss, weights = _layers(4)
            step = made().minimize(loss)
            session.run(tf.global_variables_initializer())
            found.append([session.run([loss, *weights, step])[:-1] for _ in range(10)] + [session.run(weights)])
    for got, want in zip(*map(list, map(itertools.chain.from_iterable, found)), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)
