"""The first run of a plan: NumPy's where it is quick, and with results that XLA would give."""

from __future__ import annotations

import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import cache
from graphgrad.executor.runtime import executable
from graphgrad.executor.runtime.session import HostSession
from graphgrad.executor.runtime.tiers import Tiers
from graphgrad.frontend.modes import disable_op_determinism

pytestmark = pytest.mark.usefixtures("first_in_numpy", "graph")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The clusters for which a program was asked."""
    asked: list[Any] = []
    get = cache.get

    def noting(device: Any, cluster: Any, *args: Any) -> Any:
        asked.append(cluster)
        return get(device, cluster, *args)

    monkeypatch.setattr("graphgrad.executor.plan.stages.get", noting)
    return asked


def test_the_second_run_compiles(programs):
    x = tf.placeholder(tf.float32, [None, 3])
    v = tf.Variable(np.ones((3, 2), np.float32))
    y = tf.tanh(x @ v)
    update = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(y))
    feed = {x: np.arange(6.0).reshape(2, 3)}
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        first, _ = s.run([y, update], feed)
        assert not programs
        np.testing.assert_allclose(first, np.tanh(feed[x] @ np.ones((3, 2))), rtol=1e-6)
        assert s.run(y, feed).shape == (2, 2) and not programs  # another plan, for the first time
        s.run([y, update], feed)
        assert programs
        several = len(programs)
        s.run([y, update], feed)
        assert len(programs) == several


def test_xla_gets_what_numpy_left(programs):
    v = tf.Variable(np.zeros(3, np.float32))
    add = tf.assign_add(v, tf.random_uniform([3], seed=3) + 1.0)
    with tf.Session() as s, HostSession() as h:
        for session in (s, h):
            session.run(tf.global_variables_initializer())
        for _ in range(4):
            np.testing.assert_allclose(s.run(add), h.run(add), rtol=1e-6)
        np.testing.assert_allclose(s.run(v + 0.0), h.run(v), rtol=1e-6)  # NumPy reads what XLA left
    assert programs


@pytest.mark.parametrize("build", [
    pytest.param(lambda: tf.linalg.norm(tf.ones([3000, 3000]) @ tf.ones([3000, 3000])), id="large product"),
    pytest.param(lambda: tf.while_loop(lambda i: i < 10**6, lambda i: i + 1, [tf.Variable(0).read_value()]), id="loop"),
    pytest.param(lambda: tf.nn.conv2d(tf.ones([64, 64, 64, 32]), tf.ones([5, 5, 32, 64]), 1, "SAME")[0, 0, 0, 0],
                 id="large convolution"),
])
def test_what_is_not_quick_is_compiled_at_once(build, programs):
    fetch = build()
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        s.run(fetch)
    assert programs


def test_short_loops_are_quick(programs):
    v = tf.Variable(1.0)
    n = tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * v), [0, 2.0])[1]
    gradient = tf.gradients(y, v)[0]
    other = tf.gradients(tf.sin(y), v)[0]
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        assert s.run(gradient, {n: 5}) == 10.0 and not programs
        assert s.run(gradient, {n: 5}) == 10.0 and programs
        programs.clear()
        np.testing.assert_allclose(s.run(other, {n: 10**5}), np.cos(2.0) * 2e5, rtol=2e-3)
        assert programs


def test_a_loop_that_calls_python_is_not_begun_twice():
    called = []

    def function(i):
        called.append(int(i))
        return i + 1

    v = tf.Variable(0)
    step = tf.py_func(function, [v.read_value()], tf.int32)
    y = tf.while_loop(lambda i: i < 10**6, lambda i: i + 1, [step])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        assert s.run(y) == 10**6
    assert called == [0]


def test_xla_runs_first_where_it_is_asked_to(programs):
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    y = tf.tanh(tf.Variable([1.0]))
    with tf.Session(config=config) as s:
        s.run(tf.global_variables_initializer())
        s.run(y)
    assert programs


def test_determinism_is_xla_from_the_first_run_on(programs, request):
    y = tf.tanh(tf.Variable(np.linspace(0, 1, 50)))
    request.addfinalizer(disable_op_determinism)
    tf2.config.experimental.enable_op_determinism()
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        first = s.run(y)
        assert programs
        np.testing.assert_array_equal(first, s.run(y))


def test_sizes_that_only_the_run_knows_count():
    x = tf.placeholder(tf.float32, [None, 1000])
    y = tf.matmul(x, x, transpose_b=True)
    s = tf.Session()
    entry = s._make_entry(None, y, {x: None}).executable
    for rows, quick in ((10, True), (10_000, False)):
        slots = entry.plan.template.copy()
        slots[entry.plan.feeds[0]] = np.zeros((rows, 1000), np.float32)
        assert (Tiers(entry.plan, once=True).allow(slots) is not None) is quick


def test_products_of_convolutions_are_counted():
    x, f = tf.ones([8, 32, 30, 3]), tf.ones([5, 4, 3, 16])
    y = tf.nn.conv2d(x, f, [1, 2, 2, 1], "SAME")
    products = 8 * 16 * 15 * 16 * 5 * 4 * 3
    gradients = tf.gradients(y, [x, f])
    assert [t.op.type for t in gradients] == ["Conv2DBackpropInput", "Conv2DBackpropFilter"]
    for t in (y, *gradients):
        assert t.op.opdef.work_rule(t.op, 1) == products
    d = tf.nn.depthwise_conv2d(x, tf.ones([5, 4, 3, 2]), [1, 2, 2, 1], "SAME")
    assert d.op.opdef.work_rule(d.op, 1) == 8 * 16 * 15 * 6 * 5 * 4


def test_results_are_the_callers_own():
    x = tf.placeholder(tf.float32, [4])
    v = tf.Variable(np.zeros((2, 2), np.float32))
    turned = tf.reshape(x, [2, 2])
    fed = np.ones(4, np.float32)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        value, _ = s.run([turned, tf.assign(v, turned)], {x: fed})
        held = s.run(v)
        fed[:] = 7.0
        value[:] = 8.0
        held[:] = 9.0
        np.testing.assert_array_equal(s.run(v), np.ones((2, 2)))
        np.testing.assert_array_equal(s.run(tf.transpose(v)), np.ones((2, 2)))


def test_a_failing_first_run_changes_nothing(programs):
    v = tf.Variable(1.0)
    fails = [True]

    def function(value):
        if fails:
            raise ValueError("not yet")
        return value

    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        y = tf.py_func(function, [tf.constant(2.0)], tf.float32)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="not yet"):
            s.run(y)
        assert s.run(v) == 1.0
        fails.clear()
        assert s.run(y) == 2.0 and not programs  # still the first one
        assert s.run(v) == 2.0


def test_values_are_freed_on_the_way():
    y = tf.fill([250_000], 0.5)
    for _ in range(40):
        y = tf.tanh(y)
    y = tf.reduce_sum(y)
    with tf.Session() as s:
        tracemalloc.start()
        s.run(y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 5e6  # one value has 1e6 bytes


def test_first_runs_beside_training():
    v = tf.Variable(np.zeros(1000, np.float32))
    add = tf.assign_add(v, tf.ones([1000]))
    fetches = [v + float(i) for i in range(60)]
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        s.run(add)
        stop = threading.Event()

        def train() -> None:
            while not stop.is_set():
                s.run(add.op)

        thread = threading.Thread(target=train)
        thread.start()
        try:
            for i, fetch in enumerate(fetches):
                value = s.run(fetch) - i
                assert (value == value[0]).all()
        finally:
            stop.set()
            thread.join()


def test_an_unknown_batch_of_a_large_convolution_in_numpy():
    x = tf.placeholder(tf.float32, [None, 32, 32, 16])
    f = tf.Variable(np.ones((5, 5, 16, 32), np.float32))
    y = tf.nn.conv2d(x, f, 1, "SAME")
    gradients = tf.gradients(y, [x, f])
    with HostSession() as h, tf.Session() as s:
        for session in (h, s):
            session.run(tf.global_variables_initializer())
        for a, b in zip(*(r.run(gradients, {x: np.ones((4, 32, 32, 16))}) for r in (h, s)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


# -- one engine ----------------------------------------------------------------------------


def test_one_engine(programs):
    """What is quick is NumPy's always, what is not XLA's from the first run on: all runs give the same bits."""
    p, q = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    fetch = 1.1 * tf.pow(p, q)
    rng = np.random.RandomState(0)
    with tf.Session() as s:
        for n, compiled in ((1000, 0), (2_000_000, 1)):
            feed = {p: rng.uniform(0.1, 3, n), q: rng.uniform(-2, 2, n)}
            with executable.one_engine():
                first, *later = [s.run(fetch, feed) for _ in range(3)]
            for values in later:
                np.testing.assert_array_equal(first, values)
            assert len(programs) == compiled
            fetch = fetch + 1.0


def test_loops_of_unknown_length_are_xlas(programs):
    n = tf.placeholder(tf.int32, [])
    end = tf.while_loop(lambda i: i < n, lambda i: i + 1, [0])
    with tf.Session() as s, executable.one_engine():
        assert s.run(end, {n: 3}) == 3
    assert programs


def test_gradient_checks_use_one_engine():
    """The slope of a difference does not hold the rounding of two engines: asked twice, it is the same."""
    x = tf.constant(np.linspace(0.1, 3, 20, dtype=np.float32))
    y = 1.1 * tf.pow(x, 1.7)
    with tf.Session():
        once, again = (tf.test.compute_gradient(x, [20], y, [20], np.linspace(0.1, 3, 20, dtype=np.float32))
                       for _ in range(2))
    np.testing.assert_array_equal(once, again)


def test_test_cases_use_one_engine():
    class Case(tf.test.TestCase):
        def test_power(self):
            p = tf.placeholder(tf.float32, [1000])
            y, x = 1.1 * tf.pow(p, 1.7), np.linspace(0.1, 3, 1000)
            with self.session() as s:
                first, *later = [s.run(y, {p: x}) for _ in range(3)]
                for values in later:
                    self.assertAllEqual(first, values)

    assert Case("test_power").run().wasSuccessful()
    assert not executable._steady
