"""Gradients that functions ask for while they are being traced."""

from __future__ import annotations

from typing import Any

from ..harness import case


def _calls_that_ask(tf: Any, x: Any, gradients: Any) -> Any:
    """What calls get that ask for gradients themselves, of arguments and of what they see outside."""
    outside = x * x

    def of_argument(y: Any) -> Any:
        return gradients(y * y, [x, y, outside])

    def of_outside(y: Any) -> Any:
        return gradients(outside * y, [x, y, outside])

    def both(y: Any) -> Any:
        return gradients(y * x, [x, y])

    def in_a_branch(y: Any) -> Any:
        return tf.cond(y > 0.0, lambda: gradients(y * outside, [x])[0], lambda: y)

    def in_a_call(y: Any) -> Any:
        return tf.function(lambda z: gradients(y * z, [x, y, z]))(y * 2.0)

    def zeros(found: Any) -> Any:
        return [x * 0.0 - 7.0 if g is None else tf.identity(g) for g in found]

    return [[tf.function(lambda y, f=f: zeros(tf.nest.flatten(f(y))))(given) for given in (outside, x)]
            for f in (of_argument, of_outside, both, in_a_branch, in_a_call)]


@case("graph")
def gradients_end_at_arguments(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [])
    found = _calls_that_ask(tf, x, tf.gradients)
    with tf.Session() as sess:
        return [sess.run(found, {x: value}) for value in (0.5, 1.5, -0.7)]


@case("eager")
def gradients_end_at_arguments_in_a_function(tf: Any) -> Any:
    f = tf.function(lambda x: _calls_that_ask(tf, x, tf.gradients))
    return [f(tf.constant(value)) for value in (0.5, 1.5, -0.7)]
