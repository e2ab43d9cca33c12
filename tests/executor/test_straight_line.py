"""Plans as one function of NumPy's: the numbers, errors and effects of runs instruction by instruction."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime import executable, straight_run
from graphgrad.executor.runtime.executable import Executable
from graphgrad.executor.runtime.random_positions import RandomPositions
from graphgrad.executor.runtime.session import HostSession
from tests.ops.test_ops import ROWS, Built, often
from tests.support.effort import ALL
from tests.support.table import Row, draw, row_dtypes

pytestmark = pytest.mark.usefixtures("graph")


def _plan(session: Any, fetches: Any, feed: Any = None) -> Any:
    """Runs until the plan is one function; returns the plan."""
    for _ in range(straight_run.BEFORE + 1):
        session.run(fetches, feed)
    plan = session._entry(fetches, feed).executable.plan
    assert plan.straight is not None and plan.swift is not None
    return plan


def _lines(session: Any, fetches: Any, feed: Any = None) -> list[str]:
    """The lines of that function, but the first."""
    return [line.strip() for line in _plan(session, fetches, feed).straight.text.splitlines()[1:]]


# -- numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS, ids=[r.op_type for r in ROWS])
def test_every_op_gives_the_same_bits(row: Row) -> None:
    """The results of the table's cases, with shapes known and unknown, are those of the kernels called one by one."""
    if row.opdef.flags & {"host", "random", "functional"}:
        return
    for i in range(len(row.cases)):
        for dtype in row_dtypes(row):
            inputs = draw(row, row.case(i), dtype)
            if not often(row, i, dtype) or any(t.kind == "o" for t in inputs.dtypes):
                continue
            fed = [n for n, a in enumerate(inputs.flat) if inputs.names[n] not in {
                row.opdef.inputs[h].name for h in row.opdef.host}]
            known: Any = ({}, {n: (None,) * inputs.flat[n].ndim for n in fed}, dict.fromkeys(fed))
            for shapes in known if ALL or (i == 0 and dtype == row.dtypes[0]) else [known[i % 3]]:
                built = Built(row, inputs, fed, shapes)
                run = Executable(built.outputs, [], list(built.feeds), _no_variables, RandomPositions(), "numpy")
                given = list(map(np.asarray, built.feeds.values()))
                before = [a.copy() for a in given]
                with np.errstate(all="ignore"):
                    want = run(given)
                    run.plan.straight = straight_run.BEFORE
                    got = run(given)
                    assert run.plan.straight is not None
                    again = run(given)
                for results in (got, again):
                    for a, b in zip(want, results, strict=True):
                        _same(a, b)
                        assert not any(np.shares_memory(b, g) for g in given)
                for a, b in zip(before, given, strict=True):
                    _same(a, b)


def _no_variables(handle: Any) -> Any:
    raise AssertionError


def _same(a: Any, b: Any) -> None:
    a, b = np.asarray(a), np.asarray(b)
    assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def test_what_is_left_of_a_training_step():
    x, y = tf.placeholder(tf.float32, [8, 3]), tf.placeholder(tf.float32, [8, 1])
    w, b = tf.Variable(np.ones((3, 1), np.float32)), tf.Variable(np.zeros(1, np.float32))
    loss = tf.reduce_mean(tf.square(x @ w + b - y))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    feed = {x: np.arange(24).reshape(8, 3) / 24, y: np.ones((8, 1))}
    with HostSession() as s, HostSession() as stepwise:
        for session in (s, stepwise):
            session.run(tf.global_variables_initializer())
        assert len(_lines(s, [loss, train], feed)) == 16
        stepwise._entry([loss, train], feed).executable.plan.straight = -100
        losses = [stepwise.run([loss, train], feed)[0] for _ in range(9)]
        for _ in range(5 - straight_run.BEFORE):
            s.run([loss, train], feed)
        assert [s.run(loss, feed), *(s.run([loss, train], feed)[0] for _ in range(3))] == [losses[6], *losses[6:]]
        for v in (w, b):
            _same(s.run(v), stepwise.run(v))


def test_numbers_without_dimensions_are_scalars():
    x = tf.placeholder(tf.float32, [])
    with HostSession() as s:
        assert _lines(s, x * 2.0 - 1.0, {x: 1.5}) == ["v1 = a0[()]", "v2 = v1 * c1", "v3 = v2 - c2", "return (v3, )"]


def test_constants_are_computed_once():
    x = tf.placeholder(tf.float32, [2])
    shape = tf.shape(x)
    with HostSession() as s:
        y = x + tf.cast(tf.reduce_prod(shape), tf.float32) * tf.fill([2], 2.0)
        assert len(_lines(s, y, {x: [1.0, 2.0]})) == 2


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("shape", [[], [3]])
def test_subnormal_numbers_and_warnings(dtype, shape, recwarn):
    x = tf.placeholder(dtype, shape)
    tiny = np.full(shape, np.finfo(dtype.np_dtype).tiny)
    fetches = [x * 0.5, x / 0.0, tf.sqrt(-x)]
    with HostSession() as s:
        _plan(s, fetches, {x: tiny})
        half, infinite, nan = s.run(fetches, {x: tiny})
    assert not np.any(half) and np.all(np.isinf(infinite)) and np.all(np.isnan(nan)) and not recwarn
    assert np.all(tiny * 0.5 > 0)  # outside nothing has changed
    with pytest.warns(RuntimeWarning):
        np.log(np.zeros(1) - 1)


# -- memory ------------------------------------------------------------------------------


def test_callers_own_what_they_get_and_give():
    x = tf.placeholder(tf.float32, [2])
    v, w, u = (tf.Variable(np.array([i, i + 1], np.float32)) for i in (1, 3, 5))
    t = x + 1.0
    c = tf.constant([7.0, 8.0])
    fetches = [x, t, v.value(), tf.identity(t), tf.reshape(t, [1, 2]), c, tf.broadcast_to(c, [2, 2]),
               w.assign(t), u.assign(x)]
    with HostSession() as s:
        s.run(tf.global_variables_initializer())
        fed = np.array([1.0, 2.0], np.float32)
        _plan(s, fetches, {x: fed})
        for _ in range(2):
            results = s.run(fetches, {x: fed})
            want = [fed.copy(), [2, 3], [1, 2], [2, 3], [[2, 3]], [7, 8], [[7, 8], [7, 8]], [2, 3], [1, 2]]
            for i, (a, b) in enumerate(zip(results, want, strict=True)):
                np.testing.assert_array_equal(a, b, str(i))
                a[...] = -1
            np.testing.assert_array_equal(fed, [1, 2])
        fed[:] = -2
        np.testing.assert_array_equal(s.run([v, w, u]), [[1, 2], [2, 3], [1, 2]])


def test_variables_that_swap():
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    old = tf.identity(a)
    with tf.control_dependencies([old]):
        first = a.assign(b)
    with tf.control_dependencies([first]):
        both = b.assign(old)
    with HostSession() as s:
        s.run(tf.global_variables_initializer())
        for n in range(8):
            s.run(both.op)
            np.testing.assert_array_equal(s.run([a, b]), [[3, 4], [1, 2]] if n % 2 == 0 else [[1, 2], [3, 4]])


# -- feeds and fetches -------------------------------------------------------------------


def test_all_kinds_of_feeds():
    x, n, v = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [2])
    y = tf.cast(n, tf.float32) * v + x
    with HostSession() as s:
        _plan(s, y, {x: 1.0, n: 2, v: [1.0, 2.0]})
        for feed in ({x: 1.0, n: 2, v: [1.0, 2.0]}, {x: np.float32(1), n: np.int32(2), v: np.array([1, 2], np.float32)},
                     {x: 1, n: np.int64(2), v: np.array([1.0, 2.0])}, {x: np.ones(()), n: np.array(2), v: (1, 2)},
                     {v: np.array([2, 1], np.float32)[::-1], n: 2, x: True}, {x.name: 1.0, n.name: 2, v.name: [1, 2]}):
            np.testing.assert_array_equal(s.run(y, feed), [3, 5])
        double = x * 2.0
        _plan(s, double, {x: 1.0})
        assert np.isnan(s.run(double, {x: np.nan}))
        with pytest.warns(RuntimeWarning, match="overflow"):
            assert s.run(double, {x: 1e300}) == np.inf
        for _ in range(2):
            with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\) for Tensor"):
                s.run(y, {x: 1.0, n: 2, v: np.zeros(3, np.float32)})
            with pytest.raises(TypeError, match="tf.Tensor object"):
                s.run(y, {x: x, n: 2, v: [1.0, 2.0]})
            with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder"):
                s.run(y, {x: 1.0, n: 2})


def test_a_shape_that_is_set_later_counts():
    x = tf.placeholder(tf.float32, [None])
    y = x * 2.0
    with HostSession() as s:
        _plan(s, y, {x: np.ones(3, np.float32)})
        x.set_shape([3])
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            s.run(y, {x: np.ones(4, np.float32)})


def test_structures_of_fetches():
    x = tf.placeholder(tf.float32, [2])
    y, z = x + 1.0, tf.reduce_sum(x)
    nothing = tf.no_op()
    feed = {x: np.array([1, 2], np.float32)}
    with HostSession() as s:
        for fetches in (y, [y], (z, nothing, y), {"a": z, "b": [y, y]}, [[z], (z, y)], [], y.name, [nothing]):
            for _ in range(straight_run.BEFORE + 2):
                got = s.run(fetches, feed)
                _alike(got, fetches, {y: [2, 3], z: 3, nothing: None, y.name: [2, 3]})
        call = s.make_callable([y, z], [x])
        for _ in range(straight_run.BEFORE + 2):
            _alike(call(feed[x]), [y, z], {y: [2, 3], z: 3})
        with pytest.raises(tf.errors.InvalidArgumentError, match="takes 1 values"):
            call()


def _alike(got: Any, fetches: Any, want: dict[Any, Any]) -> None:
    if isinstance(fetches, dict):
        assert list(got) == list(fetches)
        got, fetches = list(got.values()), list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        assert type(got) is type(fetches) and len(got) == len(fetches)
        for g, f in zip(got, fetches, strict=True):
            _alike(g, f, want)
    elif want[fetches] is None:
        assert got is None
    else:
        assert type(got) is (np.float32 if np.ndim(want[fetches]) == 0 else np.ndarray)
        np.testing.assert_array_equal(got, want[fetches])


def test_a_closed_session_stays_closed():
    y = tf.constant(1.0) + 1.0
    s = HostSession()
    _plan(s, y)
    s.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        s.run(y)


# -- effects and errors ------------------------------------------------------------------


def test_an_error_is_worded_and_changes_nothing():
    x = tf.placeholder(tf.int32, [2])
    v, n = tf.Variable([0.0, 0.0]), tf.Variable(0)
    with tf.control_dependencies([n.assign_add(1)]):
        q = tf.constant([6, 6]) // x
    step = v.assign_add(tf.cast(q, tf.float32))
    with HostSession() as s:
        s.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError) as first:
            s.run(step, {x: [1, 0]})
        _plan(s, step, {x: [2, 3]})
        with pytest.raises(tf.errors.InvalidArgumentError) as later:
            s.run(step, {x: [1, 0]})
        assert str(later.value) == str(first.value) and "test_straight_line.py" in str(later.value)
        count = straight_run.BEFORE + 1
        np.testing.assert_array_equal(s.run(v), [3 * count, 2 * count])
        assert s.run(n) == count
        np.testing.assert_array_equal(s.run(step, {x: [6, 6]}), [3 * count + 1, 2 * count + 1])


def test_variables_without_a_value():
    v = tf.Variable([1.0, 2.0])
    y, update = v * 2.0, v.assign_add([1.0, 1.0])
    with HostSession() as s, HostSession() as empty:
        s.run(tf.global_variables_initializer())
        _plan(s, [y, update])
        for fetches in (y, [y, update]):
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
                empty.run(fetches)
        empty.run(v.initializer)
        for n in range(straight_run.BEFORE + 2):
            np.testing.assert_array_equal(empty.run([y, update])[1], [2 + n, 3 + n])


def test_threads_lose_no_update():
    v, w = tf.Variable(0.0), tf.Variable(np.zeros(2, np.float32))
    step = tf.group(v.assign_add(1.0), w.assign_add(tf.stack([1.0, 2.0])))
    with HostSession() as s:
        s.run(tf.global_variables_initializer())
        _plan(s, step)
        s.run(tf.global_variables_initializer())
        threads = [threading.Thread(target=lambda: [s.run(step) for _ in range(50)]) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert s.run(v) == 200
        np.testing.assert_array_equal(s.run(w), [200, 400])


def test_a_lock_held_elsewhere_is_awaited():
    v = tf.Variable(0.0)
    step = v.assign_add(1.0)
    with HostSession() as s:
        s.run(tf.global_variables_initializer())
        plan = _plan(s, step)
        with plan.locks[0]:
            thread = threading.Thread(target=s.run, args=(step,))
            thread.start()
            thread.join(0.05)
            assert thread.is_alive()
        thread.join()
        assert s.run(v) == straight_run.BEFORE + 2


def test_checks_for_infinities_see_these_runs():
    x = tf.placeholder(tf.float32, [])
    y = tf.sqrt(x)
    with HostSession() as s:
        _plan(s, y, {x: -1.0})
        with tf.locate_nonfinite(), pytest.raises(tf.errors.InvalidArgumentError, match="Infinity or NaN"):
            s.run(y, {x: -1.0})
        assert np.isnan(s.run(y, {x: -1.0}))


def test_reports_and_deadlines_are_those_of_all_runs():
    x = tf.placeholder(tf.float32, [2])
    y = x * 2.0
    with HostSession() as s:
        _plan(s, y, {x: [1.0, 2.0]})
        assert "1 steps" in str(s.explain(y, {x: [1.0, 2.0]}))
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=1000)
        np.testing.assert_array_equal(s.run(y, {x: [1.0, 2.0]}, options, metadata), [2, 4])
        assert metadata.report.steps


def test_user_functions_and_random_numbers_stay_outside():
    x = tf.placeholder(tf.float32, [2])
    for y in (tf.py_func(lambda a: a + 1, [x], tf.float32), x + tf.random_uniform([2]), tf.cond(x[0] > 0, lambda: x,
                                                                                               lambda: -x)):
        with HostSession() as s:
            for _ in range(straight_run.BEFORE + 2):
                s.run(y, {x: [1.0, 2.0]})
            assert s._entry(y, {x: None}).executable.plan.straight is None


def test_large_values_are_freed_on_the_way():
    x = tf.placeholder(tf.float32, [None])
    y = x
    for _ in range(5):
        y = tf.exp(y) + 1.0
    with HostSession() as s:
        text = _lines(s, tf.reduce_sum(y), {x: [1.0]})
        assert sum(line.endswith("= None") for line in text) == 10


# -- which runs --------------------------------------------------------------------------


@pytest.mark.usefixtures("first_in_numpy")
def test_small_plans_stay_in_numpy_and_large_ones_do_not(monkeypatch):
    monkeypatch.setattr(executable, "tiered", True)
    x, large = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [300, 300])
    some = tf.placeholder(tf.float32, [None, 10])
    y, z, product = x * 2.0, tf.reduce_sum(tf.tanh(some), 1), large @ large
    with tf.Session() as s:
        assert _plan(s, y, {x: [1.0, 2.0, 3.0]}).stays
        plan = _plan(s, z, {some: np.ones((4, 10))})
        assert not plan.stays
        entry = s._entry(z, {some: None})
        small, much = np.ones((5, 10), np.float32), np.ones((100_000, 10), np.float32)
        assert entry.executable.swift.gifts([small]) is not None and entry.executable.swift.gifts([much]) is None
        np.testing.assert_allclose(s.run(z, {some: small}), np.tanh(small).sum(1), rtol=1e-6)
        assert s.run(z, {some: much}).shape == (100_000,)
        for _ in range(straight_run.BEFORE + 1):
            s.run(product, {large: np.ones((300, 300))})
        assert s._entry(product, {large: None}).executable.plan.swift is None


def test_callables_run_in_the_same_way():
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(1.0)
    add = v.assign_add(x)
    with HostSession() as s:
        s.run(v.initializer)
        call = s.make_callable([add.op, x * 2.0], [x])
        for n in range(8):
            assert call(1.0) == [None, np.float32(2.0)] and s.run(v) == n + 2
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            call([1.0])
        s.close()
        with pytest.raises(RuntimeError, match="closed Session"):
            call(1.0)
