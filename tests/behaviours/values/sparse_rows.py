"""`map_fn` over the rows of sparse tensors, and with sparse or ragged results."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case


def _sparse(tf: Any, values: Any = (1.0, 2.0, 3.0)) -> Any:
    return tf.sparse.SparseTensor([[0, 1], [1, 0], [2, 2]], values, [3, 3])


def _parts(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_parts(v) for v in value]
    if hasattr(value, "dense_shape"):
        return [value.indices, value.values, value.dense_shape]
    return value.to_list() if hasattr(value, "to_list") else value


@case("eager")
def sparse_rows(tf: Any) -> Any:
    s = _sparse(tf)
    return _parts([tf.map_fn(tf.sparse.reduce_sum, s, fn_output_signature=tf.float32),
                   tf.map_fn(lambda r: tf.sparse.to_dense(r) * 2.0, s, fn_output_signature=tf.float32),
                   tf.map_fn(lambda r: tf.sparse.map_values(tf.square, r), s),
                   tf.map_fn(lambda r: (tf.sparse.reduce_sum(r[0]) * r[1], r[0]), (s, tf.constant([1.0, 2.0, 3.0])),
                             fn_output_signature=(tf.float32, tf.SparseTensorSpec([3])))])


@case("eager")
def sparse_results(tf: Any) -> Any:
    one = tf.map_fn(lambda r: tf.sparse.from_dense(tf.stack([r, 0.0, r * 2])), tf.constant([1.0, 0.0, 3.0]),
                    fn_output_signature=tf.SparseTensorSpec([3]))
    grown = tf.map_fn(lambda r: tf.sparse.from_dense(tf.range(r)), tf.constant([1, 0, 3]),
                      fn_output_signature=tf.SparseTensorSpec([None], tf.int32))
    return _parts([one, grown])


@case("eager")
def sparse_rows_of_three_axes(tf: Any) -> Any:
    s = tf.sparse.from_dense(np.arange(12.0).reshape(2, 2, 3).astype(np.float32) * np.array([1, 0, 1], np.float32))
    return _parts([tf.map_fn(lambda r: tf.sparse.reduce_sum(r, axis=0), s, fn_output_signature=tf.float32),
                   tf.map_fn(tf.sparse.transpose, s, fn_output_signature=tf.SparseTensorSpec([3, 2]))])


@case("eager")
def ragged_results(tf: Any) -> Any:
    deep = tf.map_fn(lambda r: tf.RaggedTensor.from_row_lengths(tf.range(6.0) * r, [1, 2, 3]), tf.constant([1.0, 2.0]),
                     fn_output_signature=tf.RaggedTensorSpec([None, None], tf.float32))
    return _parts([deep, tf.map_fn(tf.range, tf.constant([1, 0, 3]),
                                   fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))])


@case("eager")
def sparse_rows_in_a_function(tf: Any) -> Any:
    @tf.function
    def f(s: Any) -> Any:
        return (tf.map_fn(tf.sparse.reduce_sum, s, fn_output_signature=tf.float32),
                tf.map_fn(lambda r: tf.sparse.map_values(tf.square, r), s))

    return [_parts(f(s)) for s in (_sparse(tf), tf.sparse.SparseTensor([[0, 1]], [4.0], [2, 2]), _sparse(tf))]


@case("graph")
def sparse_rows_that_are_fed(tf: Any) -> Any:
    s = tf.sparse_placeholder(tf.float32)
    y = tf.map_fn(tf.sparse.reduce_sum, s, fn_output_signature=tf.float32)
    with tf.Session() as sess:
        return [sess.run(y, {s: tf.SparseTensorValue([[0, 0], [n - 1, 1]], [1.0, 2.0], [n, 2])}) for n in (2, 3, 2)]


_GRADIENT = [[0.0, 0.0, 0.0], [2.0, 8.0, 18.0]]


@case("graph", differs="TensorFlow has no gradient here; it is that of the rows", expected=_GRADIENT)
def gradients_through_sparse_rows(tf: Any) -> Any:
    v = tf.constant([1.0, 2.0, 3.0])
    s = tf.sparse.SparseTensor([[0, 1], [1, 0], [2, 2]], v, [3, 3])
    y = tf.map_fn(lambda r: tf.reduce_sum(tf.sparse.to_dense(r) ** 2), s, fn_output_signature=tf.float32)
    z = tf.map_fn(lambda r: tf.SparseTensor(r.indices, tf.square(r.values), r.dense_shape), s).values
    found = []
    for result in (y - z, y + z):
        try:
            found.append(tf.gradients(result * [0.5, 1.0, 1.5], v)[0])
        except LookupError:
            return "none"
    with tf.Session() as sess:
        return [sess.run(found[0]).tolist(), sess.run(found[1]).tolist()]
