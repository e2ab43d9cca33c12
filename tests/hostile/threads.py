"""Threads that change the same variables: in sessions, functions and eagerly, with queues and Python in between.

Every change is an addition of whole numbers, so the sum is known whatever the order. What is lost, what differs
within one value that a reader sees, what raises, and what never ends fails.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

QUICK = 20
SECONDS, MEGABYTES = 60.0, 1500  # XLA compiles
ADDRESS_SPACE = None

_PATIENCE = 120.0  # seconds for what takes a fraction of one
_SHAPES = [(), (), (3,), (40, 50)]


def prepare() -> None:
    """Imports; nothing comes from the disk."""
    os.environ["GRAPHGRAD_CACHE_DIR"] = ""
    import graphgrad  # noqa: F401  # loaded before threads start


def attack(seed: int) -> str:
    """Runs what a seed draws; AssertionError where something is lost or never ends."""
    from graphgrad.executor.runtime import executable

    rng = np.random.default_rng([seed, 7])
    executable.first_in_numpy = bool(rng.integers(2))
    eager = rng.random() < 0.4
    works, check = (_eager if eager else _session)(rng)
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_PATIENCE)
        if errors:
            raise errors[0]
        assert not thread.is_alive(), "deadlock"
    check()
    return "eager" if eager else "session"


def _uniform(value: Any) -> None:
    assert (value == np.ravel(value)[0]).all(), f"a reader sees {np.unique(value)[:4]} in one value"


def _session(rng: Any) -> tuple[list[Callable[[], None]], Callable[[], None]]:
    """Work for each thread, and what is asked at the end: in one session."""
    from graphgrad.compat import v1 as tf

    with tf.Graph().as_default():
        shapes = [_SHAPES[rng.integers(4)] for _ in range(int(rng.integers(1, 4)))]
        variables = [tf.Variable(tf.zeros(s), use_resource=bool(rng.integers(2))) for s in shapes]
        plain = tf.Variable(tf.zeros([5]), use_resource=True)
        queue = tf.FIFOQueue(int(rng.integers(1, 4)), [tf.float32])
        put, taken = queue.enqueue(2.0), queue.dequeue()
        sgd = tf.train.GradientDescentOptimizer(1.0)
        momentum = tf.train.MomentumOptimizer(1.0, 0.0)
        ones = [tf.ones(s) for s in shapes]
        kinds: list[tuple[Any, list[float]]] = []  # what is run, and what that adds to each variable
        for i, (v, one) in enumerate(zip(variables, ones, strict=True)):
            add = [float(j == i) for j in range(len(shapes))]
            twice = [2 * a for a in add]
            kinds += [
                (v.assign_add(one), add),
                (v.assign_sub(-2.0 * one).op, twice),
                (v.assign(v + one).op, add),
                (sgd.minimize(-tf.reduce_sum(v)), add),
                (momentum.minimize(-2.0 * tf.reduce_sum(v)), twice),
                (v.assign_add(one * tf.py_func(lambda: np.float32(1.0), [], tf.float32)), add),
                (v.assign_add(one * taken), twice),
            ]
        if len(variables) > 1:
            back = variables[::-1]
            kinds.append(([v.assign_add(tf.ones_like(v)).op for v in back], [1.0] * len(shapes)))
            kinds.append(([v.assign(v + 1.0).op for v in variables], [1.0] * len(shapes)))
        reads = [*variables, *[v * 2.0 for v in variables]]
        hit = tf.scatter_add(plain, [1, 3, 3], [1.0, 1.0, 1.0])
        start = tf.global_variables_initializer()
    sess = tf.Session(graph=plain.graph)
    sess.run(start)
    total, hits, puts = np.zeros(len(shapes)), 0, 0
    plans = []
    for _ in range(int(rng.integers(2, 6))):
        plan = []
        for _ in range(int(rng.integers(1, 4))):
            choice, times = rng.integers(len(kinds) + 2), int(rng.integers(1, 12))
            if choice == len(kinds):
                plan.append((hit, times))
                hits += times
            elif choice > len(kinds):
                plan.append((reads[rng.integers(len(reads))], times))
            else:
                what, adds = kinds[choice]
                total += np.array(adds) * times
                takes = not isinstance(what, list) and any(t is taken for t in _needed(what))
                puts += times * takes
                plan.append((what, times))
        plans.append(plan)
    if puts:
        plans.append([(put, puts)])

    def work(plan: Any) -> Callable[[], None]:
        def runs() -> None:
            for what, times in plan:
                for _ in range(times):
                    value = sess.run(what)
                    if any(what is r for r in reads):
                        _uniform(value)

        return runs

    def check() -> None:
        for value, wanted in zip(sess.run(variables), total, strict=True):
            _uniform(value)
            assert np.ravel(value)[0] == wanted, f"{np.ravel(value)[0]}, not {wanted}"
        assert sess.run(plain).tolist() == [0, hits, 0, 2 * hits, 0]

    return [work(plan) for plan in plans], check


def _needed(fetch: Any) -> list[Any]:
    """All tensors that a fetch needs."""
    waiting, found = [getattr(fetch, "op", fetch)], {}
    while waiting:
        op = waiting.pop()
        for t in op.inputs:
            if t.name not in found:
                found[t.name] = t
                waiting.append(t.op)
        waiting += [c for c in op.control_inputs if c not in waiting]
    return list(found.values())


def _eager(rng: Any) -> tuple[list[Callable[[], None]], Callable[[], None]]:
    """The same with eager operations and functions."""
    import graphgrad as tf
    from graphgrad.ir import context

    shape = _SHAPES[rng.integers(4)]
    with context.use(context.EAGER):
        v, one = tf.Variable(np.zeros(shape, np.float32)), np.ones(shape, np.float32)
        table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    @tf.function
    def add() -> Any:
        return v.assign_add(tf.constant(one))

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = -tf.reduce_sum(v * 2.0)
        v.assign_sub(tape.gradient(loss, v))

    def by_tape() -> None:
        with tf.GradientTape() as tape:
            loss = -tf.reduce_sum(v)
        v.assign_sub(tape.gradient(loss, v))

    kinds: list[tuple[Callable[[], Any], float]] = [
        (add, 1.0), (step, 2.0), (by_tape, 1.0), (lambda: v.assign_add(one), 1.0), (lambda: v.assign_sub(-one), 1.0),
        (lambda: _uniform(v.numpy()), 0.0), (lambda: _uniform((v * 2.0).numpy()), 0.0),
    ]
    plans, total, entries = [], 0.0, 0
    for number in range(int(rng.integers(2, 6))):
        plan: list[tuple[Callable[[], Any], int]] = []
        for part in range(int(rng.integers(1, 4))):
            times = int(rng.integers(1, 12))
            if rng.random() < 0.15:
                key = 100 * number + part
                plan.append((lambda k=key: table.insert(tf.constant(k, tf.int64), tf.constant(1, tf.int64)), times))
                entries += 1
            else:
                call, adds = kinds[rng.integers(len(kinds))]
                plan.append((call, times))
                total += adds * times
        plans.append(plan)

    def work(plan: Any) -> Callable[[], None]:
        def runs() -> None:
            with context.use(context.EAGER):
                for call, times in plan:
                    for _ in range(times):
                        call()

        return runs

    def check() -> None:
        with context.use(context.EAGER):
            value = v.numpy()
            _uniform(value)
            assert np.ravel(value)[0] == total, f"{np.ravel(value)[0]}, not {total}"
            assert int(table.size()) == entries

    return [work(plan) for plan in plans], check
