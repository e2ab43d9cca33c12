"""What is said of the insides of loops and branches: errors, where gradients end, where NaNs are born."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession


def _loop(step: Any, x: Any, n: int = 3) -> Any:
    return tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, step(y)), (0, x))[1]


def test_where_a_gradient_ends() -> None:
    """The operation in the body, its line, and its remedy."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        y = _loop(lambda y: tf.sin(y) + tf.reduce_sum(tf.round(x)), tf.constant(1.0))
        why = tf.explain_gradient(y, x)
        assert why.verdict == "zero" and tf.gradients(y, x) != [None]  # as loops of TensorFlow have it
        assert "in its body" in str(why) and "Round 'Round', test_inside_loops.py" in str(why)
        assert "straight-through" in str(why)
        z = tf.cond(x[0] > 0, lambda: tf.floor(x), lambda: tf.ones([3]))
        assert "in its true branch" in str(tf.explain_gradient(z, x))


@pytest.mark.parametrize("case", ["loop", "gradient", "branch", "nested"])
def test_where_a_nan_is_born(case: str) -> None:
    """The operation in the body, and the iteration; for gradients that of the forward loop."""
    with tf.Graph().as_default(), HostSession() as sess:
        x = tf.placeholder(tf.float64, [])
        if case == "branch":
            y, text = tf.cond(x > 0, lambda: tf.log(x - 1.0), lambda: x), "Born in its true branch, at Log 'Log'"
        elif case == "nested":
            y = _loop(lambda z: _loop(lambda v: tf.sqrt(v - 0.45), z), x)
            text = "Born in iteration 0, at While '.*', output 1"
        else:
            y = _loop(lambda y: tf.sqrt(y - 0.45), x)
            text = "Born in iteration 1, at Sqrt 'Sqrt', output 0, built at test_inside_loops.py:.*sqrt"
            y = tf.gradients(y, x)[0] if case == "gradient" else y
        with tf.locate_nonfinite(), pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){text}"):
            sess.run(y, {x: 0.5})


_BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda x: _loop(lambda y: tf.matmul(y, y), x), ValueError,
     "MatMul(?s:.*)rank 2(?s:.*)Built at test_inside_loops.py"),
    (lambda x: tf.cond(x[0] > 0, lambda: tf.reshape(x, [2, 2]), lambda: x), ValueError,
     "Reshape(?s:.*)test_inside_loops.py(?s:.*)Fix"),
]


@pytest.mark.parametrize(("build", "error", "text"), _BAD)
def test_errors_while_building(build: Any, error: type[Exception], text: str) -> None:
    """They name the operation in the body and the user's line."""
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        build(tf.placeholder(tf.float32, [3]))


def test_errors_at_run_time() -> None:
    """Those of loops and branches; an index out of range in a compiled loop is no error, as in TensorFlow's."""
    with tf.Graph().as_default(), HostSession() as host, tf.Session() as sess:
        x, k = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
        gathered = _loop(lambda y: y + tf.gather(x, k), tf.constant(0.0))
        shaped = tf.cond(x[0] > 0, lambda: tf.reshape(x, [k]), lambda: x)
        failing = _loop(lambda y: tf.reshape(tf.py_func(lambda v: 1 // 0, [y], tf.float32), []), tf.constant(0.0))
        for s in (host, sess):
            for y, text in [
                (gathered, r"GatherV2 'GatherV2'(?s:.*)7 is not in \[0, 3\)(?s:.*)Built at test_inside_loops.py"),
                (shaped, "Reshape 'Reshape'(?s:.*)Built at test_inside_loops.py"),
                (failing, "PyFunc 'PyFunc': ZeroDivisionError(?s:.*)Built at test_inside_loops.py"),
            ]:
                if y is gathered and s is sess:
                    continue
                with pytest.raises(tf.errors.OpError, match=text):
                    s.run(y, {x: np.ones(3, np.float32), k: 7})
