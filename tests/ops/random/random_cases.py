"""Random programs that are run beside TensorFlow and here: what three runs of a session draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RUNS = 3
_OP = {"seed": 123}
_LOGITS = np.array([[0.1, 0.5, -1, 2], [1, -np.inf, 1, 1]], np.float32)


def _uniform(tf: Any, dtype: str) -> Any:
    return tf.random_uniform([3, 7], dtype=dtype, **_OP)


def _normal(tf: Any, dtype: str) -> Any:
    return tf.random_normal([3, 7], 0.5, 2.0, dtype, **_OP)


def _truncated(tf: Any, dtype: str) -> Any:
    return tf.truncated_normal([3, 7], dtype=dtype, **_OP)


def _graph_seed(tf: Any) -> Any:
    tf.set_random_seed(42)
    drawn = [tf.random_uniform([4]), tf.random_uniform([4], -1, 2, seed=3), tf.random_normal([4]),
             tf.truncated_normal([4], 1.0, 2.0)]
    return tf.stack(drawn)


def _zero_seed(tf: Any) -> Any:
    tf.set_random_seed(0)
    return tf.random_uniform([4])


def _large_seed(tf: Any) -> Any:
    tf.set_random_seed(2**31 + 5)
    return tf.random_uniform([4], seed=-7)


def _crop(tf: Any) -> Any:
    return tf.random_crop(np.arange(40).reshape(8, 5), [2, 3], **_OP)


def _twice(tf: Any) -> Any:
    return tf.stack([tf.random_normal([2], **_OP), tf.random_normal([2], **_OP)])


CASES: dict[str, Callable[[Any], Any]] = {
    "uniform": lambda tf: _uniform(tf, "float32"),
    "uniform64": lambda tf: _uniform(tf, "float64"),
    "normal": lambda tf: _normal(tf, "float32"),
    "normal64": lambda tf: _normal(tf, "float64"),
    "truncated": lambda tf: _truncated(tf, "float32"),
    "truncated64": lambda tf: _truncated(tf, "float64"),
    "truncated many": lambda tf: tf.truncated_normal([1003], **_OP),
    "integers": lambda tf: tf.random_uniform([9], -5, 1000003, tf.int32, **_OP),
    "integers64": lambda tf: tf.random_uniform([9], -5, 10**12, tf.int64, **_OP),
    "shuffle": lambda tf: tf.random_shuffle(tf.range(13), **_OP),
    "multinomial": lambda tf: tf.multinomial(_LOGITS, 5, **_OP),
    "gamma": lambda tf: tf.random_gamma([4], [0.5, 3.0], beta=2.0, **_OP),
    "poisson": lambda tf: tf.random_poisson([0.5, 30.0], [4], **_OP),
    "crop": _crop,
    "graph seed": _graph_seed,
    "zero seed": _zero_seed,
    "large seed": _large_seed,
    "equal seeds": _twice,
}


def draw(tf: Any, name: str) -> np.ndarray:
    """What the runs of a case give; `tf` has the names of TensorFlow 1."""
    with tf.Graph().as_default():
        drawn = CASES[name](tf)
        with tf.Session() as sess:
            return np.stack([sess.run(drawn) for _ in range(RUNS)])


def draw_eagerly(tf: Any) -> np.ndarray:
    """What eager mode gives after `set_seed`, a function included; `tf` has the names of TensorFlow 2."""

    @tf.function
    def function() -> Any:
        return tf.random.uniform([3]), tf.random.uniform([3], seed=2)

    drawn = []
    for _ in range(2):
        tf.random.set_seed(5)
        drawn += [tf.random.uniform([3]), tf.random.normal([3]), tf.random.uniform([3], seed=1),
                  tf.random.uniform([3], seed=1), tf.random.normal([3], seed=1)]
    tf.random.set_seed(5)
    return np.stack([np.asarray(d) for d in (*drawn, *function(), *function())])
