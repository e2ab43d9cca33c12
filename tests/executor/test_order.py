"""The order of operations: less is alive at once where branches can be done one after the other; results stay."""

import os
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphgrad.compat.v1 as tf
from graphgrad.executor.plan import partition, planner, schedule
from graphgrad.executor.runtime import executable
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.graph import Graph

BRANCHES, SIDE = 24, 32
ARRAY = 4 * SIDE * SIDE


def branches(x, scales):
    return [tf.tanh(tf.matmul(x * s, x)) for s in scales]


def summed(x, scales):
    return [sum(branches(x, scales))]


def in_one_sum(x, scales):
    return [tf.add_n(branches(x, scales))]


def gradient_of_means(x, scales):
    y = sum(tf.reduce_mean(b) for b in branches(x, scales))
    return [y, tf.gradients(y, x)[0]]


def gradient_of_one_sum(x, scales):
    y = tf.reduce_mean(tf.add_n(branches(x, scales)))
    return [y, tf.gradients(y, x)[0]]


@pytest.fixture
def small(monkeypatch):
    """Takes little for much, and cuts short programs."""
    monkeypatch.setattr(schedule, "LARGE", 8 * ARRAY)
    monkeypatch.setattr(partition, "WHOLE", 8)
    monkeypatch.setattr(partition, "LIGHT", 8)
    monkeypatch.setattr(partition, "LARGEST", 8)
    monkeypatch.setattr(partition, "UNLIKE", 0)


@pytest.mark.parametrize("what", [summed, in_one_sum, gradient_of_means, gradient_of_one_sum])
def test_branches_are_done_one_after_the_other(graph, small, monkeypatch, what):
    x, scales = tf.placeholder(tf.float32, [SIDE, SIDE]), tf.placeholder(tf.float32, [BRANCHES])
    fetches = what(x, tf.unstack(scales))
    feeds = {x: 0.1 * np.eye(SIDE), scales: np.arange(BRANCHES)}
    reports, values = [], []
    for large in (schedule.LARGE, np.inf):
        monkeypatch.setattr(schedule, "LARGE", large)
        metadata = tf.RunMetadata()
        with tf.Session() as sess:
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            values.append(sess.run(fetches, feeds, options=options, run_metadata=metadata))
        reports.append(metadata.report)
    for a, b in zip(*values, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    now, before = (r.peak_bytes for r in reports)
    assert before > BRANCHES * ARRAY
    assert now < 12 * ARRAY
    # What recurs is found in this order, too.
    assert reports[0].programs <= reports[1].programs + 2 < len(reports[0].steps)


def test_little_stays_as_it_was_built(graph, monkeypatch):
    monkeypatch.setattr(partition, "WHOLE", 8)
    monkeypatch.setattr(schedule, "Net", None)  # nobody looks for another order
    x, scales = tf.placeholder(tf.float32, [SIDE, SIDE]), tf.placeholder(tf.float32, [BRANCHES])
    feeds = {x: 0.1 * np.eye(SIDE), scales: np.arange(BRANCHES)}
    with HostSession() as sess:
        sess.run(summed(x, tf.unstack(scales)), feeds)


def _ordered(fetches, feeds):
    """The operations of a run in the order that is chosen, and what it gives."""
    found = []

    def spy(program, kept, *args):
        pieces = schedule.arrange(program, kept, *args)
        found.append((program, pieces, kept))
        return pieces

    with mock.patch.object(planner, "arrange", spy), HostSession() as sess:
        sess.run(tf.global_variables_initializer())
        found.clear()
        values = sess.run(fetches, feeds)
        return found, values, sess.run(tf.global_variables())


def test_control_inputs_and_effects_keep_their_order(graph, small):
    """The fan-in again, but each branch waits for the one before; and two variables change in between."""
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    both = [tf.get_variable(name, initializer=np.zeros((SIDE, SIDE), np.float32)) for name in "vw"]
    parts, states = [], []
    for i in range(BRANCHES):
        with tf.control_dependencies([tf.group(parts[-1])] if parts else []):
            parts.append(tf.matmul(x, tf.tanh(x * float(i)), name=f"part{i}"))
        v = both[i % 2]
        update = v.assign_add(parts[-1]) if i % 3 else v.assign(parts[-1] * 2.0)
        with tf.control_dependencies([update]):
            states.append(v.read_value())
    found, values, _ = _ordered([sum(parts), sum(states)], {x: 0.1 * np.eye(SIDE)})
    ((program, pieces, _),) = found
    done = [i.op for piece in pieces for i in piece]
    assert done != [i.op for i in program]
    place = {op: n for n, op in enumerate(done)}
    at = [place[p.op] for p in parts]
    assert at == sorted(at)
    effects = [n for n, op in enumerate(done) if "stateful" in op.opdef.flags]
    assert [done[n].index for n in effects] == sorted(done[n].index for n in effects)
    _, plain, _ = _unordered([sum(parts), sum(states)], {x: 0.1 * np.eye(SIDE)})
    for a, b in zip(values, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def _unordered(fetches, feeds):
    with mock.patch.object(schedule, "LARGE", np.inf):
        return _ordered(fetches, feeds)


def _deep(segments, layers, recompute):
    """A net of layers without biases, and its gradient with respect to what goes in."""
    x = tf.placeholder(tf.float32, [200, SIDE])
    w = tf.constant(np.eye(SIDE, dtype=np.float32)[::-1].copy())

    def segment(h):
        for _ in range(layers):
            h = tf.tanh(tf.matmul(h, w))
        return h

    h = x
    for _ in range(segments):
        h = (tf.recompute_grad(segment) if recompute else segment)(h)
    loss = tf.reduce_sum(h)
    return x, [loss, tf.gradients(loss, x)[0]]


@pytest.mark.parametrize("whole", [False, True])
def test_recomputation_needs_less_memory(graph, monkeypatch, whole):
    for limit, value in (("WHOLE", 160), ("LIGHT", 40), ("LARGEST", 96), ("UNLIKE", 1200)):
        monkeypatch.setattr(partition, limit, value)
    options = tf.OptimizerOptions(global_jit_level=int(whole))
    config = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options))
    fed = np.linspace(0, 1, 200 * SIDE).reshape(200, SIDE)
    peaks, values, programs = [], [], []
    for recompute in (True, False):
        x, fetches = _deep(6, 6, recompute)
        with tf.Session(config=config) as sess:
            report = sess.explain(fetches, {x: fed})
            values.append(sess.run(fetches, {x: fed}))
        peaks.append(report.peak_bytes)
        programs.append((len(report.steps), report.programs))
    for a, b in zip(*values, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    layer = 200 * SIDE * 4
    assert peaks[1] > 30 * layer and peaks[0] < 20 * layer
    assert programs[0][0] == 7 and programs[0][1] <= 4  # one for the way forth, and one for each way back


def test_a_recomputation_is_merged_with_nothing(graph):
    x = tf.placeholder(tf.float32, [2, 2])
    y = tf.recompute_grad(lambda h: tf.sin(tf.exp(h)))(x)
    again = tf.gradients(y, x)[0]
    with tf.Session() as sess:
        report = sess.explain([y, again], {x: np.zeros((2, 2))})
        assert sum(s.operations["Exp"] for s in report.steps) == 2
        assert sess.explain(y, {x: np.zeros((2, 2))}).steps[0].operations["Exp"] == 1


def test_an_update_upon_an_update_that_is_read(graph, small):
    """The last piece gets what updates variables, but not the first of two updates if the second one is read."""
    x = tf.placeholder(tf.float32, [2])
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    with tf.control_dependencies([v.assign_add(x)]):
        second = v.assign_add(x * 2.0)
    y = second
    for _ in range(20):
        y = tf.sin(y)
    with HostSession() as sess:
        sess.run(tf.global_variables_initializer())
        want = np.array([4.0, 8.0])
        np.testing.assert_allclose(sess.run(v), [1.0, 2.0])
        got = sess.run(y, {x: [1.0, 2.0]})
        np.testing.assert_allclose(sess.run(v), want)
    for _ in range(20):
        want = np.sin(want)
    np.testing.assert_allclose(got, want, rtol=1e-5)


_STEP = st.tuples(st.sampled_from(["tanh", "matmul", "add", "sum", "add_n", "late", "update", "read", "shape"]),
                  st.integers(0, 99), st.integers(0, 99))


def _grow(steps):
    """A graph of large and small tensors, with control inputs, updates of a variable, and shapes of other tensors."""
    x = tf.placeholder(tf.float32, [8, 8])
    v = tf.get_variable("v", initializer=np.eye(8, dtype=np.float32))
    tensors = [x]
    for kind, i, j in steps:
        a, b = tensors[i % len(tensors)], tensors[j % len(tensors)]
        if kind == "tanh":
            new = tf.tanh(a)
        elif kind == "matmul":
            new = tf.matmul(a, b) * 0.1
        elif kind == "add":
            new = a + b
        elif kind == "sum":
            new = a * tf.reduce_mean(b)
        elif kind == "add_n":
            new = tf.add_n([tensors[k % len(tensors)] for k in range(i, i + 3 + j % 4)])
        elif kind == "late":
            with tf.control_dependencies([a.op]):
                new = tf.sin(b)
        elif kind == "update":
            with tf.control_dependencies([a.op]):
                new = v.assign_add(tf.tanh(b))
        elif kind == "read":
            new = tf.cos(v.read_value())
        else:
            new = tf.reshape(a, tf.shape(b)) * 0.5
        tensors.append(new if isinstance(new, tf.Tensor) else tf.convert_to_tensor(new))
    return x, [t for t in tensors[1:] if not t.consumers()] or tensors[-1:]


settings.register_profile("order", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True,
                          suppress_health_check=list(HealthCheck))


@settings(settings.get_profile("order"), max_examples=60)
@given(st.lists(_STEP, min_size=6, max_size=40))
def test_random_graphs(steps):
    with Graph().as_default(), mock.patch.multiple(schedule, LARGE=600), mock.patch.object(partition, "WHOLE", 8):
        x, fetches = _grow(steps)
        feeds = {x: np.linspace(-1, 1, 64).reshape(8, 8)}
        found, values, state = _ordered(fetches, feeds)
        _, plain, plain_state = _unordered(fetches, feeds)
        for a, b in zip([*values, *state], [*plain, *plain_state], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
        for program, pieces, kept in found:
            assert schedule.peak(pieces, kept) <= schedule.peak(partition.cut(program, True), kept)
            reached = schedule.peak(pieces, kept)
            assert all(schedule.least_peak(program, kept, i) <= reached for i in program)
            made = {s for i in program for s in i.gives()}
            present = set()
            for instruction in (i for piece in pieces for i in piece):
                given = set(instruction.gives())
                assert (made & set(instruction.reads())) - given <= present
                present |= given
            assert made <= present
            where = {i.op: n for n, i in enumerate(i for piece in pieces for i in piece) if i.op.type != "AddN"}
            for op, n in where.items():
                assert all(where.get(c, -1) < n for c in op.control_inputs)


@pytest.mark.parametrize("n", [200, 203])
def test_sums_of_many_small_terms_are_dealt_out(n, monkeypatch):
    """What reads a variable often has a gradient of as many terms; programs of thousands of terms take XLA minutes."""
    made = []
    monkeypatch.setattr(executable, "make_plan", lambda *args: made.append(planner.make_plan(*args)) or made[-1])
    with tf.Graph().as_default():
        v = tf.Variable(2.0, use_resource=True)
        y = total = tf.constant(0.0)
        for i in range(n):
            y = tf.tanh(y) * 0.0 + v * float(i % 7)
            total += y
        gradient = tf.gradients(total, v)[0]
        with tf.Session() as session:
            session.run(v.initializer)
            assert [session.run(gradient) for _ in range(2)] == [sum(i % 7 for i in range(n))] * 2
    sums = [i for step in made[-1].steps for i in step.program if i.op.name == gradient.op.name]
    assert max(len(i.ins) for i in sums) <= 64 and sum(len(i.ins) - 1 for i in sums) == n - 1
