"""Gradients of branches, loops, maps and functions that read, write or call what is not pure."""

from __future__ import annotations

from typing import Any

from .harness import case


@case("graph")
def branch_reads_a_variable_that_is_updated(tf: Any) -> Any:
    v, x = tf.Variable(2.0), tf.constant(1.0)
    y = tf.cond(x > 0.0, lambda: x * v, lambda: x)
    bump = v.assign_add(10.0)
    g = tf.gradients(y, x)[0]
    with tf.control_dependencies([y]):
        later = tf.identity(g)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([y, later]), sess.run([y, later])], sess.run(bump)
