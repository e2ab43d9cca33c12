"""Tensors that a session keeps from one run for later ones: `get_session_handle` and its companions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case, raised


@case("graph")
def kept_fed_and_found(tf: Any) -> Any:
    """A handle gives its value, can be fed, and leads to the tensor in later runs; also in nests of fetches."""
    x = tf.placeholder(tf.float32, [None])
    keep = tf.get_session_handle(x * 2.0)
    with tf.Session() as sess:
        kept = sess.run(keep, {x: [1.0, 2.0]})
        which, found = tf.get_session_tensor(kept.handle, tf.float32)
        other, values = sess.run([{"k": keep}, x], {x: [5.0]})
        call = sess.make_callable(keep, [x])
        again = call([7.0])
        return [kept.eval(), sess.run(tf.reduce_sum(x), {x: kept}), sess.run(found * 3.0, {which: kept.handle}),
                other["k"].eval(), values, again.eval(), sess.make_callable(x + 1.0, [x])(again),
                kept.handle.split(";")[0], kept.handle.split(";")[2], str(kept) == kept.handle,
                sess.run(found, {which: again.handle}), keep.shape.as_list(), keep.dtype.name, keep.op.type,
                found.op.type, found.dtype.name, found.shape.rank]


@case("graph")
def a_loop_of_runs(tf: Any) -> Any:
    """A state that is passed from run to run stays in the session; it can have gradients taken by it."""
    x = tf.placeholder(tf.float32, [2])
    step = x - 0.1 * tf.gradients(tf.reduce_sum(x * x * x), x)[0]
    keep = tf.get_session_handle(step)
    with tf.Session() as sess:
        state = sess.run(keep, {x: [1.0, 2.0]})
        values = []
        for _ in range(4):
            state = sess.run(keep, {x: state})
            values.append(state.eval())
        return values


@case("graph")
def dtypes_of_what_is_kept(tf: Any) -> Any:
    given = [tf.constant(3), tf.constant([True, False]), tf.constant("a"), tf.constant(["a", "bc"]),
             tf.constant(1.5, tf.float64), tf.constant([1 + 2j]), tf.zeros([0, 3])]
    with tf.Session() as sess:
        handles = sess.run([tf.get_session_handle(g) for g in given])
        found = []
        for g, h in zip(given, handles, strict=True):
            which, tensor = tf.get_session_tensor(h.handle, g.dtype)
            found.append([np.shape(h.eval()), str(sess.run(tensor, {which: h.handle})), str(h.eval())])
        return found


@case("graph")
def forgotten(tf: Any) -> Any:
    """By an operation and by the handle; what is gone is an error, and so is another dtype and another session's."""
    x = tf.placeholder(tf.float32, [None])
    keep = tf.get_session_handle(x)
    with tf.Session() as sess:
        one, two, three = (sess.run(keep, {x: [float(i)]}) for i in range(3))
        which, found = tf.get_session_tensor(one.handle, tf.float32)
        as_int, number = tf.get_session_tensor(one.handle, tf.int32)
        gone, forget = tf.delete_session_tensor(one.handle)
        outcome = [raised(lambda: sess.run(number, {as_int: one.handle})), raised(lambda: sess.run(found))]
        outcome += [str(sess.run(forget, {gone: one.handle})), forget.type,
                    raised(lambda: sess.run(found, {which: one.handle})),
                    raised(lambda: sess.run(forget, {gone: one.handle}))]
        two.delete()
        outcome += [raised(two.eval), raised(two.delete), raised(lambda: sess.run(x + 1.0, {x: two})),
                    raised(lambda: sess.run(found, {which: two.handle})), sess.run(found, {which: three.handle})]
    return [*outcome, raised(three.eval)]


@case("graph")
def no_tensors(tf: Any) -> Any:
    v = tf.Variable(1.0)
    x = tf.placeholder(tf.float32)
    which, found = tf.get_session_tensor("a;0;/cpu:0", tf.float32)
    return [raised(lambda: tf.get_session_handle([1.0])), raised(lambda: tf.get_session_handle(v)),
            raised(lambda: tf.get_session_tensor("abc", tf.float32)), tf.gradients(found, x), which.dtype.name]


@case("eager")
def eagerly(tf: Any) -> Any:
    return raised(lambda: tf.compat.v1.get_session_handle(tf.constant(1.0)))
