"""Functions of tensors without elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case, raised


def _sizes(tf: Any, found: Any) -> list[Any]:
    """Returns the dtypes and the shapes of results."""
    return [[t.dtype.name, list(t.shape)] for t in tf.nest.flatten(found)]


@case("eager")
def joined_strings(tf: Any) -> Any:
    def join(*args: Any, **rest: Any) -> Any:
        return np.asarray(tf.strings.reduce_join(*args, **rest).numpy(), object).tolist()

    return [join(tf.constant([], tf.string)), join(tf.zeros([2, 0], tf.string), axis=1),
            join(tf.zeros([0, 2], tf.string), axis=1), join(tf.zeros([0, 2], tf.string), axis=0, keepdims=True),
            join(tf.zeros([2, 0, 3], tf.string), axis=[1, 2], separator=","), join(tf.constant("a")),
            join(tf.zeros([2, 0], tf.string), axis=[])]


@case("graph")
def joined_strings_in_a_graph(tf: Any) -> Any:
    x = tf.placeholder(tf.string, [None, None])
    with tf.Session() as sess:
        joined = tf.reduce_join(x, 1, separator=",")
        return [sess.run(joined, {x: np.zeros(shape, object)}).tolist() for shape in ((0, 2), (2, 0))]


@case("eager")
def scan_of_no_rows(tf: Any) -> Any:
    rows, start = tf.zeros([0, 2]), tf.zeros([2])
    return [_sizes(tf, tf.scan(lambda a, x: a + x, rows, initializer=start)),
            _sizes(tf, tf.scan(lambda a, x: a + x, rows, initializer=start, reverse=True)),
            _sizes(tf, tf.scan(lambda a, x: (a[0] + x, a[1] + 1), rows, initializer=(start, 0)))]


@case("eager")
def fold_of_no_rows(tf: Any) -> Any:
    return [f(lambda a, x: a + x, tf.zeros([0, 2]), initializer=tf.ones([2])) for f in (tf.foldl, tf.foldr)]


@case("eager")
def map_of_no_strings(tf: Any) -> Any:
    return _sizes(tf, tf.map_fn(lambda x: tf.strings.join([x, "x"]), tf.constant([], tf.string)))


@case("eager")
def array_without_elements(tf: Any) -> Any:
    def made(shape: Any, size: int = 0) -> Any:
        return tf.TensorArray(tf.float32, size, element_shape=shape)

    return [_sizes(tf, [made([2]).stack(), made(None).stack(), made([None, 2]).stack(), made([2], 3).gather([])]),
            raised(lambda: made([2]).concat())]


@case("eager")
def shapes_of_strings(tf: Any) -> Any:
    made = [f for shape in ([2, 0], [0, 2], [2, 0, 3]) for f in (
        tf.zeros(shape, tf.string), tf.constant(np.zeros(shape, object)), tf.fill(shape, "a"),
        tf.zeros_like(tf.zeros(shape, tf.string)))]
    rows = tf.data.Dataset.from_tensor_slices(np.zeros([2, 0, 3], object))
    return _sizes(tf, made), [_sizes(tf, row) for row in rows], [_sizes(tf, row) for row in rows.batch(2)]
