"""Loops whose reverse sweep keeps few states: the same numbers as when everything is kept, in less memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.session import HostSession
from graphgrad.frontend.loop_memory import checkpointed_loops
from graphgrad.gradients.checkpoints import segment_length
from graphgrad.ir.opdef import raw
from test_loops import _ON_XLA, _WITH_NUMPY, _X, _derivatives

_NAMES = ["count", "nested", "array in, array out", "branch inside", "early stop", "scan", "until large",
          "array that grows"]  # fmt: skip
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

    for body, cut in ((step, True), (in_branches, False)):
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float64, [])
            with checkpointed_loops(memory):
                y = tf.while_loop(lambda i, _: i < 19, body, (0, x))[1]
            slope = tf.gradients(y, x)[0]
            assert any("Segments" in op.name for op in graph.get_operations()) is cut
            for make in (HostSession, _compiled):
                values, slopes = [], []
                for at in (0.4, 0.4 + 1e-6, 0.4 - 1e-6):
                    with make(graph=graph) as sess:  # each begins with the same numbers
                        value, found = sess.run([y, slope], {x: at})
                    values.append(value)
                    slopes.append(found)
                np.testing.assert_allclose(slopes[0], (values[1] - values[2]) / 2e-6, rtol=1e-6)


def test_refused() -> None:
    """There are two ways and none."""
    with pytest.raises(ValueError, match=r"checkpointed_loops: unknown memory 'cube'(?s:.*)Fix"):
        with checkpointed_loops("cube"):
            pass
