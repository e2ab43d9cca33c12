"""Programs of control flow, for TensorFlow and for graphgrad: tests/record/control_flow.py records values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

X = np.array([0.4, -0.7, 1.3])


def _case(tf: Any, x: Any) -> Any:
    s = tf.reduce_sum(x)
    return tf.case([(s < 0.0, lambda: x), (s < 2.0, lambda: tf.sin(x) * x)], default=lambda: x * x)


def _while_structures(tf: Any, x: Any) -> Any:
    def body(i: Any, state: Any) -> Any:
        return i + 1, {"a": tf.sin(state["a"]) * x, "b": (state["a"] + state["b"][0],)}

    state = tf.while_loop(lambda i, _: i < 4, body, (0, {"a": x, "b": (x * x,)}))[1]
    return state["a"] * state["b"][0]


def _shape_invariants(tf: Any, x: Any) -> Any:
    y = tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, tf.concat([y, y * x[:1]], 0)), (0, x),
                      shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]
    return tf.reduce_sum(y * y) * x


def _arrays(tf: Any, x: Any) -> Any:
    rows = tf.TensorArray(tf.float64, 3).unstack(x)
    out = tf.TensorArray(tf.float64, 3)

    def body(i: Any, y: Any, out: Any) -> Any:
        y = y * 0.5 + rows.read(i)
        return i + 1, y, out.write(2 - i, y * y)

    _, y, out = tf.while_loop(lambda i, *_: i < 3, body, (0, x[0], out))
    return out.stack() * y


def _nested(tf: Any, x: Any) -> Any:
    def inner(y: Any) -> Any:
        return tf.while_loop(lambda j, _: j < 2, lambda j, z: (j + 1, tf.tanh(z + y)), (0, x))[1]

    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: inner(y), lambda: y * x)

    return tf.while_loop(lambda i, _: i < 3, body, (0, x))[1]


def _until(tf: Any, x: Any) -> Any:
    return tf.while_loop(lambda y: tf.reduce_sum(y) < 20.0, lambda y: [y * 1.5 + x * x], [x + 1.0])[0]


def _stopped(tf: Any, x: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.stop_gradient(y) * x + y * y), (0, x))[1]


def _autograph(tf: Any, x: Any) -> Any:
    y = x
    for i in tf.range(6):
        if i == 1:
            continue
        if tf.reduce_sum(y) > 8.0:
            break
        if i % 2 == 0 and tf.reduce_sum(x) > 0.0:
            y = y * x + 1.0
        else:
            y = tf.sin(y) + 1.5
    n = 0
    while n < 2 and not tf.reduce_sum(y) < -5.0:
        y = y * 0.5 + tf.cos(x)
        n += 1
    return y if -3.0 < tf.reduce_sum(y) < 30.0 else x


def _autograph_returns(tf: Any, x: Any) -> Any:
    if tf.reduce_sum(x) > 10.0:
        return x
    y = x * x
    if tf.reduce_sum(y) > 1.0:
        z = tf.sin(y)
    else:
        return y * 3.0
    return z * x


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "cond": lambda tf, x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x) * x, lambda: x),
    "cond, other branch": lambda tf, x: tf.cond(tf.reduce_sum(x) < 0.0, lambda: x, lambda: tf.exp(x) * x[0]),
    "case": _case,
    "switch_case": lambda tf, x: tf.switch_case(tf.constant(1), [lambda: x, lambda: x**3, lambda: tf.ones_like(x)]),
    "switch_case, default": lambda tf, x: tf.switch_case(tf.constant(7), {1: lambda: x, 0: lambda: tf.sin(x) * x},
                                                         default=lambda: x * x[0]),
    "while": lambda tf, x: tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, tf.sin(y) * x), (0, x))[1],
    "while, no iteration": lambda tf, x: tf.while_loop(lambda i, _: i < 0, lambda i, y: (i + 1, y * x), (0, x * x))[1],
    "while, structures": _while_structures,
    "while, maximum": lambda tf, x: tf.while_loop(lambda y: True, lambda y: [tf.sin(y) + x], [x],
                                                  maximum_iterations=3)[0],
    "shape invariants": _shape_invariants,
    "arrays": _arrays,
    "nested": _nested,
    "until": _until,
    "stop_gradient": _stopped,
    "map_fn": lambda tf, x: tf.map_fn(lambda r: tf.sin(r) * r * x[0], x),
    "map_fn, structures": lambda tf, x: tf.map_fn(lambda r: {"a": r[0] * r[1], "b": tf.sin(r[1])}, (x, x * x),
                                                  fn_output_signature={"a": tf.float64, "b": tf.float64})["a"],
    "scan": lambda tf, x: tf.scan(lambda a, r: tf.sin(a) * r + x[1], x),
    "scan, reverse": lambda tf, x: tf.scan(lambda a, r: a * r + r, x, initializer=x[0], reverse=True),
    "foldl": lambda tf, x: tf.foldl(lambda a, r: tf.sin(a) + r * r, x) * x,
    "foldr": lambda tf, x: tf.foldr(lambda a, r: a * r + 1.0, x, initializer=x) * x,
    "vectorized_map": lambda tf, x: tf.vectorized_map(lambda r: tf.sin(r) * tf.reduce_sum(x * r), x),
    "function": lambda tf, x: tf.function(lambda y: tf.function(lambda z: tf.sin(z) * x)(y) * y)(x * x),
    "autograph": _autograph,
    "autograph, returns": _autograph_returns,
}


def derivatives(tf: Any, name: str, x: Any) -> list[Any]:
    """The value of a program, its gradient, and the gradient of a weighted sum of that."""
    y = CASES[name](tf, x)
    (g,) = tf.gradients(tf.reduce_sum(tf.sin(y)), x)
    (h,) = tf.gradients(tf.reduce_sum(g * tf.constant([1.0, -0.5, 2.0], tf.float64)), x,
                        unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [y, g, h]
