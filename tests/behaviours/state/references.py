"""Variables of TensorFlow 1, found by the names that references have: fetched, fed, differentiated and assigned."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case, raised


def _reference(tf: Any, name: str = "w", start: Any = (1.0, 1.0, 1.0)) -> Any:
    return tf.get_variable(name, initializer=np.asarray(start, np.float32), use_resource=False)


def _session(tf: Any) -> Any:
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess


@case("graph")
def fetched_by_name(tf: Any) -> Any:
    """In seven runs, beside what changes the variable, in scopes, under all of its names."""
    x = tf.placeholder(tf.float32, [None])
    w = _reference(tf)
    with tf.variable_scope("a"):
        _reference(tf, "b", (2.0, 3.0))
    step = tf.get_variable("global_step", initializer=0, use_resource=False, trainable=False)
    loss = tf.reduce_sum(w * x)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    with _session(tf) as sess:
        first = [sess.run(name) for name in ("w:0", "w/read:0", "w/initial_value:0", "a/b:0", "global_step:0")]
        steps = [sess.run(["global_step:0", "w:0", train], {x: [1.0, 2.0, k]})[:2] for k in range(7)]
        last = {v.name: sess.run(v.name) for v in tf.global_variables()}
        return first, steps, last, [sess.run("w:0") for _ in range(5)][-1]


@case("graph")
def tensors_found_by_name(tf: Any) -> Any:
    """They are values: computed with, fed, given to gradients, before and after an assignment was added."""
    w = _reference(tf)
    before = tf.reduce_sum(w * 2.0)
    found = tf.get_default_graph().get_tensor_by_name("w:0")
    added = tf.assign_add(w, [1.0, 2.0, 3.0])
    after = tf.reduce_sum(w * w)
    own = tf.reduce_sum(found * 3.0)
    gradients = [tf.gradients(y, x)[0] for y in (before, after, own) for x in (w, found)]
    with _session(tf) as sess:
        feeds = [{key: np.full(3, 2.0)} for key in (w, found, "w:0")]
        fed = [sess.run([before, after, own], feed) for feed in feeds]
        runs = [(sess.run(gradients), sess.run(added)) for _ in range(3)]
        return found.shape.as_list(), fed, runs, found.eval(session=sess)


@case("graph")
def tensors_found_by_name_are_assigned(tf: Any) -> Any:
    _reference(tf)
    found = tf.get_default_graph().get_tensor_by_name("w:0")
    changes = [tf.assign(found, [5.0, 5.0, 5.0]), tf.assign_add(found, [1.0, 2.0, 3.0]),
               tf.assign_sub(found, [1.0, 1.0, 1.0]), tf.scatter_add(found, [0], [9.0])]
    with _session(tf) as sess:
        return [(sess.run(change), sess.run("w:0")) for change in changes * 2]


@case("graph")
def references_are_true(tf: Any) -> Any:
    """So `average or variable` is the average; a resource in a graph has no truth."""
    w = _reference(tf, start=(0.0, 0.0))
    average = tf.train.ExponentialMovingAverage(0.5)
    update = average.apply([w])
    resource = tf.get_variable("r", [2], use_resource=True)

    def averaged(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        made = getter(name, *args, **kwargs)
        return average.average(made) or made

    with tf.variable_scope("", reuse=True, custom_getter=averaged):
        again = tf.get_variable("w", initializer=np.zeros(2, np.float32), use_resource=False)
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run(tf.global_variables_initializer())
        sess.run(tf.assign(w, [4.0, 8.0]))
        sess.run(update)
        return bool(w), not w, raised(lambda: bool(resource)), sess.run([again, w]), again.name


@case("graph")
def what_only_looks_like_a_reference(tf: Any) -> Any:
    """An operation that has the name of a variable's read keeps it; unknown names are refused."""
    _reference(tf)
    with tf.name_scope("v/"):
        tf.constant(7.0, name="read")
    tf.get_variable("r", [2], use_resource=True)
    graph = tf.get_default_graph()
    with _session(tf) as sess:
        return (sess.run("v/read:0"), graph.get_tensor_by_name("r:0").dtype.name,
                [raised(lambda n=n: graph.get_tensor_by_name(n)) for n in ("w:1", "x:0", "w", "v:0")],
                graph.get_operation_by_name("w/read").name != "", raised(lambda: graph.get_operation_by_name("r/read")))
