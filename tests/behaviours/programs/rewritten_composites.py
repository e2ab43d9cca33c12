"""Sparse, ragged and sliced values in Python's branches and loops that a function rewrites."""

from __future__ import annotations

from typing import Any

from ..harness import case, raised


def _sparse(tf: Any, values: Any = (1.0, 2.0)) -> Any:
    return tf.sparse.SparseTensor([[0, 1], [1, 0]], values, [2, 2])


@case("eager")
def sparse_values_in_loops(tf: Any) -> Any:
    @tf.function
    def while_loop(s: Any, n: Any) -> Any:
        i = 0
        while i < n:
            s = tf.sparse.SparseTensor(s.indices, s.values * 2.0, [2, 2])
            i += 1
        return tf.sparse.to_dense(s)

    @tf.function
    def for_loop(s: Any, n: Any) -> Any:
        for _ in tf.range(n):
            s = tf.sparse.SparseTensor(s.indices, s.values * 2.0, [2, 2])
        return tf.sparse.to_dense(s)

    return [[f(_sparse(tf), tf.constant(n)) for n in (0, 2, 3)] for f in (while_loop, for_loop)]


@case("eager")
def sparse_values_that_grow(tf: Any) -> Any:
    @tf.function
    def f(n: Any) -> Any:
        s = tf.SparseTensor([[0]], [1.0], [3])
        for _ in tf.range(n):
            s = tf.sparse.add(s, tf.SparseTensor([[1]], [1.0], [3]))
        return tf.sparse.to_dense(s)

    return [f(tf.constant(n)) for n in (0, 2, 1)]


@case("eager")
def ragged_and_sliced_values_in_loops(tf: Any) -> Any:
    @tf.function
    def ragged(r: Any, n: Any) -> Any:
        while n > 0:
            r = r * 2.0
            n -= 1
        return r

    @tf.function
    def sliced(s: Any, n: Any) -> Any:
        for _ in tf.range(n):
            s = tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape)
        return tf.convert_to_tensor(s)

    r = tf.ragged.constant([[1.0, 2.0], [3.0]])
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    return [[ragged(r, tf.constant(n)).to_list(), sliced(s, tf.constant(n))] for n in (0, 2, 3)]


@case("eager")
def branches_that_give_others(tf: Any) -> Any:
    @tf.function
    def sparse(s: Any, p: Any) -> Any:
        if p:
            s = tf.SparseTensor(s.indices, s.values * 2.0, [2, 2])
        else:
            s = tf.SparseTensor(s.indices[:1], s.values[:1], [2, 2])
        return tf.sparse.to_dense(s)

    @tf.function
    def ragged(p: Any) -> Any:
        if p:
            r = tf.ragged.constant([[1.0], [2.0, 3.0]])
        else:
            r = tf.ragged.constant([[1.0], [2.0, 3.0], [4.0]])
        return r * 2.0

    return [[sparse(_sparse(tf), tf.constant(p)), ragged(tf.constant(p)).to_list()] for p in (True, False, True)]


@case("eager")
def gradients_through_sparse_loop_variables(tf: Any) -> Any:
    @tf.function
    def f(s: Any, n: Any) -> Any:
        v = tf.constant(0.0)
        for _ in tf.range(n):
            if tf.reduce_sum(s.values) > 5.0:
                break
            s = tf.SparseTensor(s.indices, s.values * 2.0, [2, 2])
            v += tf.sparse.reduce_sum(s)
        return v

    found = []
    for n in (1, 5, 2):
        x = tf.constant([1.0, 0.5])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(_sparse(tf, x), tf.constant(n))
        found.append([y, tape.gradient(y, x)])
    return found


@case("eager")
def what_cannot_be_joined(tf: Any) -> Any:
    @tf.function
    def branch(p: Any) -> Any:
        if p:
            s = tf.SparseTensor([[0]], [1.0], [3])
        else:
            s = tf.constant([1.0, 2.0, 3.0])
        return s

    @tf.function
    def other_dtype(n: Any) -> Any:
        s = tf.SparseTensor([[0]], [1.0], [3])
        for _ in tf.range(n):
            s = tf.SparseTensor([[0]], [1], [3])
        return s

    @tf.function
    def other_rank(n: Any) -> Any:
        s = tf.SparseTensor([[0]], [1.0], [3])
        for _ in tf.range(n):
            s = tf.SparseTensor([[0, 0]], [1.0], [3, 3])
        return s

    @tf.function
    def other_kind(n: Any) -> Any:
        s = tf.SparseTensor([[0]], [1.0], [3])
        for _ in tf.range(n):
            s = tf.constant(1.0)
        return s

    return [raised(lambda: branch(tf.constant(True))),
            *(raised(lambda f=f: f(tf.constant(1))) for f in (other_dtype, other_rank, other_kind))]
