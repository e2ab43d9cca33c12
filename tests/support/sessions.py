"""Running graphs in tests, and an op for which nobody declared a gradient."""

from __future__ import annotations

from typing import Any

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import op


def run(fetches: Any, feed_dict: Any = None) -> Any:
    """Runs the default graph in a session of its own, variables initialised."""
    with tf.Session() as sess:
        if tf.global_variables():
            sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feed_dict)


def run_in_numpy(fetches: Any) -> Any:
    """Runs the default graph in NumPy."""
    with HostSession() as sess:
        return sess.run(fetches)


@op("WithoutGradient", "x: T -> y: T", shape=lambda x: x)
def without_gradient(xp: Any, x: Any) -> Any:
    """An op for which nobody declared a gradient."""
    return x
