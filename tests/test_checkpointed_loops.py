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
from test_loops import _D, _ON_XLA, _WITH_NUMPY, _X, _derivatives

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


def test_random_loops_keep_everything() -> None:
    """A repetition has to draw the same numbers, so such a loop is not cut into segments."""
    with tf.Graph().as_default(), HostSession() as sess:
        x = tf.constant(_D)
        with checkpointed_loops():
            y = tf.while_loop(lambda i, _: i < 9, lambda i, y: (i + 1, y * tf.random.uniform([], 0.5, 1.5, tf.float64)),
                              (0, x))[1]  # fmt: skip
        value, slope = sess.run([y, tf.gradients(y, x)[0]])
        np.testing.assert_allclose(slope * _D, value, rtol=1e-9)


def test_refused() -> None:
    """There are two ways and none."""
    with pytest.raises(ValueError, match=r"checkpointed_loops: unknown memory 'cube'(?s:.*)Fix"):
        with checkpointed_loops("cube"):
            pass
