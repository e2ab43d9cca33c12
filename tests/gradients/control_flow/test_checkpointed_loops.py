"""Loops whose reverse sweep keeps few states: the same numbers as when everything is kept, in less memory."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.frontend.control_flow.loop_memory import checkpointed_loops
from graphgrad.gradients.control_flow.loop_checkpointing import segment_length
from graphgrad.ir.opdef import raw
from tests.support.effort import ALL

from .test_loops import _ON_XLA, _WITH_NUMPY, _X, _derivatives

_NAMES = ["count", "nested", "array in, array out", "branch inside", "early stop", "scan", "until large",
          "array that grows"]
_PROGRAMS = {name: {**_ON_XLA, **_WITH_NUMPY}[name] for name in _NAMES}


def _fed(x: Any) -> Any:
    n = tf.placeholder_with_default(7, [])
    return tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, tf.sin(y) * x + 0.1), (0, x))[1]


def _long(x: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 23, lambda i, y: (i + 1, tf.sin(y) * x + 0.1), (0, x))[1]


_PROGRAMS |= {"fed": _fed, "long": _long}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_the_same_derivatives(name: str) -> None:
    """Two orders of each program of `test_loops`, built with 'sqrt' and with 'log'."""
    values = []
    for memory in (None, "sqrt", "log") if name in ("long", "fed") else (None, "sqrt"):
        with tf.Graph().as_default(), HostSession() as sess:
            x = tf.placeholder(tf.float64, _X.shape)
            with checkpointed_loops(memory):
                y = _PROGRAMS[name](x)
            values.append(sess.run(_derivatives(lambda _, y=y: y, x, 2), {x: _X}))
    for found in values[1:]:
        np.testing.assert_allclose(found, values[0], rtol=1e-9)


def test_compiled() -> None:
    """XLA gives what NumPy gives, to second order, also where only the run knows how long the loop is."""
    for memory in ("sqrt", "log"):
        with tf.Graph().as_default(), HostSession() as host, tf.Session() as sess:
            x = tf.placeholder(tf.float64, _X.shape)
            with checkpointed_loops(memory):
                fetches = [*_derivatives(_fed, x, 2 if memory == "sqrt" else 1), *_derivatives(_long, x, 1)]
            np.testing.assert_allclose(sess.run(fetches, {x: _X}), host.run(fetches, {x: _X}), rtol=1e-9)


def test_the_memory_it_takes() -> None:
    """A loop of 400 iterations keeps about 2 * 20 states with 'sqrt', and fewer with 'log'."""
    peaks = []
    for memory in (None, "sqrt", "log"):
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [5000])
            with checkpointed_loops(memory):
                y = tf.foldl(lambda y, _: tf.sin(y) * 1.1, tf.zeros([400]), x)
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            sess.run(tf.gradients(y, x), {x: np.ones(5000, np.float32)}, options, metadata)
            peaks.append(metadata.peak_bytes / 20000)
    assert peaks[0] > 400 and peaks[1] < 80 and peaks[2] < 50


def test_lengths_of_segments() -> None:
    """The smallest length whose power is enough; the operation for lengths known at run time gives the same."""
    for n in (1, 2, 5, 16, 17, 1000, 4096, 10**6):
        for levels in (2, 3, 6):
            length = segment_length(n, levels)
            assert length**levels >= n and (length - 1) ** levels < n
            with tf.Graph().as_default() as graph, HostSession() as sess:
                found = sess.run(raw.LoopSegments(np.int32(n), levels=levels))
                assert graph.version and found[0] == length and found[1] * length ** (levels - 1) >= n


def _is_cut(graph: Any) -> bool:
    return any("Segments" in op.name for op in graph.get_operations())


def _compiled(graph: Any) -> Any:
    options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)
    return tf.Session(graph=graph, config=tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options)))


@pytest.mark.parametrize("memory", ["sqrt", "log"])
def test_random_loops(memory: str) -> None:
    """A repetition draws the numbers of its iteration, however segments are nested; compiled, too."""

    def step(i: Any, y: Any) -> Any:
        return i + 1, tf.tanh(y * tf.random.uniform([], 0.5, 1.5, tf.float64, seed=1))

    def in_branches(i: Any, y: Any) -> Any:
        return tf.cond(y > 0, lambda: step(i, y), lambda: (i + 1, y))

    for body in (step, in_branches):
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float64, [])
            with checkpointed_loops(memory):
                y = tf.while_loop(lambda i, _: i < 19, body, (0, x))[1]
            slope = tf.gradients(y, x)[0]
            assert _is_cut(graph)
            compiled = ALL or (body is step) == (memory == "sqrt")
            for make in (HostSession, _compiled) if compiled else (HostSession,):
                values, slopes = [], []
                for at in (0.4, 0.4 + 1e-6, 0.4 - 1e-6):
                    with make(graph=graph) as sess:  # each begins with the same numbers
                        value, found = sess.run([y, slope], {x: at})
                    values.append(value)
                    slopes.append(found)
                np.testing.assert_allclose(slopes[0], (values[1] - values[2]) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("memory", [None, "sqrt"])
def test_higher_derivatives_of_draws_in_branches(memory: str | None) -> None:
    """What goes back draws, in branches, what its iteration drew, to any order."""

    def step(i: Any, y: Any) -> Any:
        return i + 1, tf.tanh(y * tf.random.uniform([], 0.5, 1.5, tf.float64, seed=1)) + 0.3 * y

    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float64, [])
        with checkpointed_loops(memory):
            y = tf.while_loop(lambda i, _: i < 7,
                              lambda i, y: tf.cond(y > 0, lambda: step(i, y), lambda: (i + 1, y)),
                              (0, x))[1]
        orders = [y]
        for _ in range(2 if memory else 3):
            orders += tf.gradients(orders[-1], x)
        for make, count in ((HostSession, len(orders)), (_compiled, 3))[: 2 if memory or ALL else 1]:
            values = []
            for at in (0.4, 0.4 + 1e-5, 0.4 - 1e-5):
                with make(graph=graph) as sess:  # each begins with the same numbers
                    values.append(np.array(sess.run(orders[:count], {x: at})))
            np.testing.assert_allclose(values[0][1:], ((values[1] - values[2]) / 2e-5)[:-1], rtol=1e-6)


def _changes(v: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        with tf.control_dependencies([v.assign_add(0.01)]):
            return i + 1, tf.sin(y * v.read_value()) + y

    return lambda i, _: i < 20, body


def _calls_python(v: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        factor = tf.py_func(lambda n: np.float64(1 + n / 10), [i], tf.float64)
        return i + 1, tf.sin(y * tf.reshape(factor, [])) + y * v

    return lambda i, _: i < 20, body


def _draws_in_condition(v: Any) -> Any:
    def more(i: Any, _: Any) -> Any:
        return tf.logical_and(i < 20, tf.random.uniform([], seed=1) < 0.9)

    return more, lambda i, y: (i + 1, tf.sin(y * v) + y)


def _reads(v: Any) -> Any:
    return lambda i, _: i < 20, lambda i, y: (i + 1, tf.sin(y * v) + y)


_REASONS = {_changes: "'AssignAddVariableOp' .op type: AssignAddVariableOp. in it must not run again",
            _calls_python: "'PyFunc' .op type: PyFunc. in it must not run again",
            _draws_in_condition: "its condition draws random numbers", _reads: None}


@pytest.mark.parametrize("program", _REASONS)
@pytest.mark.parametrize("make", [HostSession, tf.Session])
def test_effects(program: Any, make: Any) -> None:
    """Loops that must keep everything say so, once; those that read variables which change later need not."""
    reason, runs = _REASONS[program], []
    for memory in (None, "sqrt"):
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(3)
            x, v = tf.constant(0.3, tf.float64), tf.Variable(1.1, use_resource=True, dtype=tf.float64)
            with checkpointed_loops(memory):
                y = tf.while_loop(*program(v), (0, x))[1]
            told = pytest.warns(UserWarning, match=f"checkpointed_loops: .*'while/While'.*{reason}(?s:.*)Fix")
            with told if memory and reason else contextlib.nullcontext():
                fetches = [y, *tf.gradients(y, [x, v]), v.assign_add(0.5)]
            tf.gradients(y, x)
            assert _is_cut(graph) is bool(memory and not reason)
            with make(graph=graph) as sess:
                sess.run(v.initializer)
                runs.append([sess.run(fetches) for _ in range(3)])
    np.testing.assert_allclose(runs[1], runs[0], rtol=1e-9)


def test_the_memory_that_variables_and_draws_take() -> None:
    """A value that was read, and draws in branches, do not keep a loop from saving memory."""
    peaks = []
    for memory in (None, "sqrt"):
        with tf.Graph().as_default(), tf.Session() as sess:
            x, v = tf.placeholder(tf.float32, [5000]), tf.Variable(1.1, use_resource=True)

            def draw(y: Any, v: Any = v) -> Any:
                return tf.sin(y) * v + tf.random.uniform([])

            with checkpointed_loops(memory):
                y = tf.foldl(lambda y, _: tf.cond(y[0] > 9.0, lambda: y, lambda: draw(y)), tf.zeros([400]), x)
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            sess.run(v.initializer)
            fetches = [*tf.gradients(y, [x, v]), v.assign_add(1.0)]
            sess.run(fetches, {x: np.ones(5000, np.float32)}, options, metadata)
            peaks.append(metadata.peak_bytes / 20000)
    assert peaks[0] > 400 and peaks[1] < 80, peaks


def test_refused() -> None:
    """There are two ways and none."""
    with pytest.raises(ValueError, match=r"checkpointed_loops: unknown memory 'cube'(?s:.*)Fix"):
        with checkpointed_loops("cube"):
            pass
