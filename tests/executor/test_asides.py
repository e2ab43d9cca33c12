"""Convolutions that another thread computes while a run goes on: the same bits, the same errors, nothing lost."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import library_calls
from graphgrad.executor.program.plan_types import Cluster
from graphgrad.executor.runtime import side_by_side
from tests.support.effort import part

pytestmark = pytest.mark.skipif(not library_calls.available(),
                                reason="without oneDNN no convolution is a step of its own")


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch, first_in_xla: Any) -> None:
    """As on a machine with several cores, where XLA computes the first run."""
    monkeypatch.setattr(library_calls, "CORES", 2)


class ConvolutionalNet:
    """A random net of convolutions, in branches that join, with a step of gradient descent.

    Attributes:
      fetches: the loss, some gradients and values between, and the step.
      gradients: all of them, which nothing but a fetch reads without the step.
      variables: what the step changes.
      feeds: the data.
    """

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        x = tf.placeholder(tf.float32, [8, 14, 14, 16])
        self.feeds = {x: rng.standard_normal(x.shape.as_list()).astype(np.float32)}
        self.variables = []
        values = [x]
        for _ in range(int(rng.integers(2, 6))):
            h = values[int(rng.integers(len(values)))]
            w = tf.Variable(rng.standard_normal((3, 3, 16, 16)).astype(np.float32) / 9)
            self.variables.append(w)
            h = tf.nn.conv2d(h, w, strides=[1, 1, 1, 1], padding="SAME")
            h = [tf.nn.relu, tf.tanh, tf.identity, lambda v: v + values[-1]][int(rng.integers(4))](h)
            if rng.random() < 0.2:
                h = tf.reshape(tf.py_func(lambda v: v * np.float32(2), [h], tf.float32, stateful=False), h.shape) + h
            values.append(h)
        loss = tf.add_n([tf.reduce_mean(tf.square(v)) for v in values[1:]])
        gradients = tf.gradients(loss, self.variables)
        step = tf.group(*[v.assign_sub(0.1 * g) for v, g in zip(self.variables, gradients, strict=True)])
        shown = [t for t in (*gradients, *values[1:]) if rng.random() < 0.4]
        self.gradients = gradients
        self.fetches = [loss, *shown, step]


def _bits(net: ConvolutionalNet, session: Any) -> list[bytes]:
    session.run(tf.global_variables_initializer())
    found = [v for _ in range(3) for v in session.run(net.fetches, net.feeds)[:-1]]
    found += session.run(net.gradients, net.feeds)
    assert all(type(v) in (np.ndarray, np.float32) for v in found)
    return [np.asarray(v).tobytes() for v in (*found, *session.run(net.variables))]


def _asides(session: Any, fetches: Any, feeds: Any) -> list[Cluster]:
    steps = session._entry(fetches, feeds).executable.plan.steps
    return [s for s in steps if isinstance(s, Cluster) and s.aside]


@pytest.mark.parametrize("seed", part(range(24), 3))
def test_the_same_bits(seed: int, graph: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    net = ConvolutionalNet(seed)
    with tf.Session() as session:
        beside = _bits(net, session)
        count = len(_asides(session, net.fetches, net.feeds))
    monkeypatch.setattr(library_calls, "leaves_cores_idle", lambda instruction: False)
    with tf.Session() as session:
        assert _bits(net, session) == beside
        assert not _asides(session, net.fetches, net.feeds)
    assert count or len(net.variables) < 3


def _two_layers() -> tuple[Any, list[Any], Any]:
    x = tf.placeholder(tf.float32, [8, 14, 14, 16])
    variables = [tf.Variable(np.full((3, 3, 16, 16), 0.01, np.float32)) for _ in range(3)]
    h = x
    for w in variables:
        h = tf.tanh(tf.nn.conv2d(h, w, strides=[1, 1, 1, 1], padding="SAME"))
    loss = tf.reduce_sum(h)
    return x, variables, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


@pytest.mark.parametrize("error", [ValueError("as planned"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("where", ["beside", "meanwhile"])
def test_a_failure_changes_nothing(error: BaseException, where: str, graph: Any,
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a call in the other thread, or of the run meanwhile: it is raised, variables stay, the next run is right."""
    x, variables, step = _two_layers()
    data = np.ones((8, 14, 14, 16), np.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {x: data})
        before = session.run(variables)
        begin, busy = side_by_side.Asides.begin, []

        def fail(*_: Any) -> Any:
            raise error

        def failing(self: Any, program: Any, args: Any, outs: Any) -> None:
            busy.append(self)
            begin(self, fail if where == "beside" else program, args, outs)
            if where == "meanwhile":
                raise error

        with monkeypatch.context() as patch, pytest.raises((type(error), tf.errors.ResourceExhaustedError)):
            patch.setattr(side_by_side.Asides, "begin", failing)
            session.run(step, {x: data})
        assert busy
        for old, new in zip(before, session.run(variables), strict=True):
            np.testing.assert_array_equal(old, new)
        session.run(step, {x: data})
        after = session.run(variables)
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(step, {x: data})
        for got, want in zip(after, session.run(variables), strict=True):
            np.testing.assert_array_equal(got, want)


def test_runs_of_several_threads(graph: Any) -> None:
    """They share the other thread; each gets its own results."""
    x, variables, _ = _two_layers()
    h = x
    for w in variables:
        h = tf.nn.conv2d(h, w, strides=[1, 1, 1, 1], padding="SAME")
    gradients = tf.gradients(tf.reduce_sum(h), variables)
    wrong: list[Any] = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feeds = [{x: np.full((8, 14, 14, 16), k, np.float32)} for k in range(4)]
        wanted = [session.run(gradients, f) for f in feeds]
        assert _asides(session, gradients, feeds[0])

        def work(k: int) -> None:
            for _ in range(10):
                if any(not np.array_equal(a, b) for a, b in
                       zip(session.run(gradients, feeds[k]), wanted[k], strict=True)):
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_without_another_thread(graph: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none can be started, the run makes the calls."""
    x, variables, step = _two_layers()

    def refuse(device: str) -> Any:
        raise RuntimeError("can't start new thread")

    found = []
    with tf.Session() as session:
        for _ in range(2):
            session.run(tf.global_variables_initializer())
            session.run(step, {x: np.ones((8, 14, 14, 16))})
            found.append(session.run(variables))
            monkeypatch.setattr(side_by_side, "_pool", refuse)
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_feed_may_change_afterwards(graph: Any) -> None:
    """Nothing reads it any more when the run has returned."""
    x, variables, _ = _two_layers()
    y = tf.nn.conv2d(x, variables[0], strides=[1, 1, 1, 1], padding="SAME")
    fetches = tf.gradients(tf.reduce_sum(tf.square(y)), [x, variables[0]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        data = np.ones((8, 14, 14, 16), np.float32)
        want = session.run(fetches, {x: data.copy()})
        for _ in range(20):
            got = session.run(fetches, {x: data})
            data[:] = np.nan
            for a, b in zip(got, want, strict=True):
                np.testing.assert_array_equal(a, b)
            data[:] = 1


def test_few_results_are_outstanding() -> None:
    """Arguments of calls to come stay in memory, so a run that is ahead waits."""
    slots: list[Any] = [None] * 6
    asides, may = side_by_side.Asides(slots), threading.Event()

    def program(args: list[Any]) -> list[Any]:
        may.wait()
        return args

    for k in range(4):
        asides.begin(program, [k], [k])
    fifth = threading.Thread(target=asides.begin, args=(program, [4], [4]))
    fifth.start()
    fifth.join(0.1)
    assert fifth.is_alive() and slots == [None] * 6
    may.set()
    fifth.join()
    asides.finish([4, 5])
    assert slots == [0, None, None, None, 4, None]
    asides.finish()
    assert slots == [0, 1, 2, 3, 4, None]


def test_small_and_large_convolutions(graph: Any) -> None:
    """What keeps all cores busy, and what is computed at once, is no call of another thread."""
    for size, wanted in ((14, True), (112, False)):
        x, w = tf.placeholder(tf.float32, [8, size, size, 16]), tf.Variable(tf.ones([5, 5, 16, 16]))
        y = tf.tanh(tf.nn.conv2d(tf.sin(x), w, strides=[1, 1, 1, 1], padding="SAME"))
        fetches = tf.gradients(tf.reduce_sum(y), [w, x])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            data = {x: np.ones((8, size, size, 16))}
            session.run(fetches, data)
            assert bool(_asides(session, fetches, data)) is wanted
