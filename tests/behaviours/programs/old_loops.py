"""Loops and branches of the old control flow: what their results are nested as, and what is refused."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from ..harness import case, raised

Pair = collections.namedtuple("Pair", "a b")


def _nesting(x: Any) -> Any:
    """The nesting of some tensors, as text."""
    if isinstance(x, dict):
        return f"{type(x).__name__}({', '.join(f'{k}={_nesting(x[k])}' for k in x)})"
    if isinstance(x, (list, tuple)):
        return f"{type(x).__name__}({', '.join(map(_nesting, x))})"
    return "TensorArray" if hasattr(x, "write") else "tensor"


def _in_both(tf: Any, build: Callable[[], Any]) -> list[Any]:
    """What is built with the old control flow, and with the new one."""
    found = []
    for old in (True, False):
        (tf.disable_control_flow_v2 if old else tf.enable_control_flow_v2)()
        try:
            with tf.Graph().as_default():
                found.append(build())
        finally:
            tf.enable_control_flow_v2()
    return found


@case("graph")
def structures_of_results(tf: Any) -> Any:
    def nested(loop_vars: Any, body: Any, **options: Any) -> list[Any]:
        return _in_both(tf, lambda: _nesting(tf.while_loop(lambda i, *a: i < 3, body, loop_vars, **options)))

    return [
        nested([0, 1.0], lambda i, a: (i + 1, a * 2.0)),
        nested((0, 1.0), lambda i, a: [i + 1, a * 2.0]),
        nested(Pair(0, 1.0), lambda i, a: (i + 1, a * 2.0)),
        nested([0, 1.0], lambda i, a: Pair(i + 1, a * 2.0)),
        nested((0, Pair(1.0, 2.0)), lambda i, p: [i + 1, Pair(p.b, p.a)]),
        nested((0, {"a": 1.0, "b": 2.0}), lambda i, p: [i + 1, {"b": p["a"], "a": p["b"]}]),
        nested([0], lambda i: i + 1),
        nested([0], lambda i: (i + 1,)),
        nested([0], lambda i: (i + 1,), return_same_structure=True),
        nested((0,), lambda i: [i + 1], return_same_structure=True),
        nested([0], lambda i: i + 1, return_same_structure=True),
        nested((0, 1.0), lambda i, a: (i + 1, a), maximum_iterations=2),
    ]


@case("graph")
def results_that_change_places(tf: Any) -> Any:
    """A structure in another order holds the right values."""
    tf.disable_control_flow_v2()
    try:
        found = tf.while_loop(lambda i, p: i < 3, lambda i, p: [i + 1, {"b": p["a"] + 1.0, "a": p["b"]}],
                              (0, {"a": 1.0, "b": 10.0}))
        with tf.Session() as sess:
            return [sess.run([found[0], found[1]["a"], found[1]["b"]]) for _ in range(3)]
    finally:
        tf.enable_control_flow_v2()


@case("graph")
def refused(tf: Any) -> Any:
    def loop(goes_on: Any) -> Any:
        return raised(lambda: tf.while_loop(goes_on, lambda i: i + 1, [0]))

    def branch(pred: Any, one: Any = 1, other: Any = 2) -> Any:
        return raised(lambda: tf.cond(pred(), lambda: one, lambda: other))

    def all_of_them() -> list[Any]:
        return [loop(lambda i: tf.reshape(i < 3, [1])), loop(lambda i: tf.stack([i < 3, i < 3])), loop(lambda i: 3 - i),
                branch(lambda: tf.constant([True])), branch(lambda: tf.constant(1)),
                branch(lambda: tf.constant(True), None, None), branch(lambda: tf.constant(True), [1, None], [1, None]),
                branch(lambda: tf.constant(True), 1, None), branch(lambda: tf.constant(True), 1, 2.0)]

    return _in_both(tf, all_of_them)[0]
