"""Small values that travel in one buffer, and what must not."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.plan import partition
from graphgrad.executor.program.plan_types import Cluster
from graphgrad.executor.runtime.session import HostSession

pytestmark = pytest.mark.usefixtures("graph", "small_clusters")


@pytest.fixture
def small_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters of at most 24 operations, so that small graphs have several."""
    for name, value in (("WHOLE", 24), ("LIGHT", 24), ("LARGEST", 24), ("UNLIKE", 0)):
        monkeypatch.setattr(partition, name, value)


def _clusters(session: Any, fetches: Any, feeds: Any) -> list[Cluster]:
    return [s for s in session._entry(fetches, feeds).executable.plan.steps if isinstance(s, Cluster)]


def _chain(x: Any, n: int) -> list[Any]:
    values = [x]
    for i in range(n):
        values.append(tf.tanh(values[-1]) * x + float(i % 2))
    return values


def test_values_kept_for_the_gradient_travel_together():
    x = tf.placeholder(tf.float32, [3, 2])
    gradient = tf.gradients(_chain(x, 30)[-1], x)[0]
    feeds = {x: np.linspace(-1, 1, 6).reshape(3, 2)}
    with tf.Session() as s, HostSession() as h:
        clusters = _clusters(s, gradient, feeds)
        assert len(clusters) > 4
        assert max(len(c.outs) for c in clusters) <= 6 < max(len(p) for c in clusters for p in c.packed.values())
        np.testing.assert_allclose(s.run(gradient, feeds), h.run(gradient, feeds), rtol=1e-5)


def test_what_others_look_at_travels_alone():
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.placeholder(tf.float32, [3])
    v = tf.Variable(np.ones(3, np.float32))
    values = _chain(y, 30)
    unknown = _chain(x, 30)
    large = _chain(tf.ones([4000]) * y[0], 30)
    seen = tf.py_func(np.sum, [values[7]], tf.float32)
    store = tf.assign(v, values[9])
    fetches = [*values[12:15], seen, store, *(tf.gradients(c[-1], y)[0] for c in (values, large)),
               tf.gradients(unknown[-1], x)[0]]
    feeds = {x: np.full((2, 2), 0.25), y: np.full(3, 0.5)}
    with tf.Session() as s, HostSession() as h:
        for session in (s, h):
            session.run(tf.global_variables_initializer())
        for a, b in zip(s.run(fetches, feeds), h.run(fetches, feeds), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4)
        plan = s._entry(fetches, feeds).executable.plan
        packed = {p for c in _clusters(s, fetches, feeds) for parts in c.packed.values() for p in parts}
        assert packed
        assert not packed & {*plan.fetches, *(slot for slot, _ in plan.stores)}
        for slot in packed:
            assert plan.static[slot].shape.num_elements() == 3, plan.static[slot]
            assert plan.static[slot] is not values[7]
        np.testing.assert_allclose(s.run(v), h.run(v), rtol=1e-5)


def test_dtypes_travel_apart():
    x = tf.placeholder(tf.float32, [4])
    y, d = x, tf.cast(x, tf.float64)
    for _ in range(24):
        y, d = tf.tanh(y), tf.tanh(d)
    gradient = tf.gradients([y, d], x)[0]
    feeds = {x: np.linspace(0.1, 1, 4)}
    with tf.Session() as s, HostSession() as h:
        clusters = _clusters(s, gradient, feeds)
        static = s._entry(gradient, feeds).executable.plan.static
        kinds = [{static[p].dtype for p in parts} for c in clusters for parts in c.packed.values()]
        assert all(len(k) == 1 for k in kinds) and set.union(*kinds) == {tf.float32, tf.float64}
        np.testing.assert_allclose(s.run(gradient, feeds), h.run(gradient, feeds), rtol=1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_random_graphs(seed):
    pick = random.Random(seed)
    x = tf.placeholder(tf.float32, [3])
    values = [x, x * 2.0]
    for _ in range(40):
        a, b = pick.choices(values[-12:], k=2)
        values.append(pick.choice([lambda a, b: tf.tanh(a) + 0.1 * b, lambda a, b: tf.sin(a) * b, tf.maximum])(a, b))
    fetches = [tf.add_n(values[-12:]), tf.gradients(values[-12:], x)[0], *pick.sample(values, 5)]
    feeds = {x: np.array([0.3, -0.2, 0.7])}
    with tf.Session() as s, HostSession() as h:
        assert any(c.packed for c in _clusters(s, fetches, feeds))
        for a, b in zip(s.run(fetches, feeds), h.run(fetches, feeds), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)
