"""Programs whose feeds ops refuse, or nearly: each gives tensors and feeds, with any TensorFlow.

Recorded by `tests/record/ops/refusals.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any], tuple[Any, dict[Any, Any]]]] = {}


def case(make):
    """Notes a program: a function of the module that is TensorFlow."""
    CASES[make.__name__] = make
    return make


def f32(tf, *shape):
    """A placeholder."""
    return tf.placeholder(tf.float32, shape)


def i32(tf, *shape):
    """A placeholder."""
    return tf.placeholder(tf.int32, shape)


@case
def gather(tf):
    x, i = f32(tf, 5, 3), i32(tf, 2)
    return tf.gather(x, i), {x: np.ones((5, 3)), i: [1, 7]}


@case
def gather_neg(tf):
    x, i = f32(tf, 5, 3), i32(tf, 2)
    return tf.gather(x, i), {x: np.ones((5, 3)), i: [1, -1]}


@case
def gather_axis1(tf):
    x, i = f32(tf, 5, 3), i32(tf, 2)
    return tf.gather(x, i, axis=1), {x: np.ones((5, 3)), i: [1, 3]}


@case
def gather_batch(tf):
    x, i = f32(tf, 5, 3), i32(tf, 5, 2)
    return tf.gather(x, i, batch_dims=1), {x: np.ones((5, 3)), i: np.full((5, 2), 3)}


@case
def gather_computed(tf):
    x, i = f32(tf, 5, 3), f32(tf, 2)
    return tf.gather(x, tf.cast(i * 2, tf.int32)), {x: np.ones((5, 3)), i: [1, 7]}


@case
def gather_empty_params(tf):
    x, i = f32(tf, 0, 3), i32(tf, 2)
    return tf.gather(x, i), {x: np.ones((0, 3)), i: [1, 7]}


@case
def gather_nd(tf):
    x, i = f32(tf, 5, 3), i32(tf, 2, 2)
    return tf.gather_nd(x, i), {x: np.ones((5, 3)), i: [[1, 2], [0, 3]]}


@case
def embedding(tf):
    x, i = tf.get_variable("emb", [5, 3]), i32(tf, 2)
    return tf.nn.embedding_lookup(x, i), {i: [1, 7]}


@case
def scatter_nd(tf):
    i, u = i32(tf, 2, 1), f32(tf, 2)
    return tf.scatter_nd(i, u, [4]), {i: [[1], [4]], u: [1, 1]}


@case
def tensor_scatter(tf):
    x, i, u = f32(tf, 4), i32(tf, 2, 1), f32(tf, 2)
    return tf.tensor_scatter_update(x, i, u), {x: np.ones(4), i: [[1], [4]], u: [1, 1]}


@case
def tensor_scatter_add(tf):
    x, i, u = f32(tf, 4), i32(tf, 2, 1), f32(tf, 2)
    return tf.tensor_scatter_add(x, i, u), {x: np.ones(4), i: [[1], [-1]], u: [1, 1]}


@case
def scatter_update(tf):
    v = tf.get_variable("su", [4])
    i, u = i32(tf, 2), f32(tf, 2)
    return tf.scatter_update(v, i, u), {i: [1, 4], u: [1, 1]}


@case
def scatter_add_res(tf):
    v = tf.get_variable("sa", [4], use_resource=True)
    i, u = i32(tf, 2), f32(tf, 2)
    return tf.scatter_add(v, i, u), {i: [1, 4], u: [1, 1]}


@case
def scatter_nd_update(tf):
    v = tf.get_variable("snu", [4])
    i, u = i32(tf, 2, 1), f32(tf, 2)
    return tf.scatter_nd_update(v, i, u), {i: [[1], [4]], u: [1, 1]}


@case
def segment_sum_unsorted(tf):
    x, i = f32(tf, 3), i32(tf, 3)
    return tf.segment_sum(x, i), {x: np.ones(3), i: [1, 0, 2]}


@case
def unsorted_segment_sum(tf):
    x, i = f32(tf, 3), i32(tf, 3)
    return tf.unsorted_segment_sum(x, i, 3), {x: np.ones(3), i: [1, 0, 3]}


@case
def unsorted_segment_sum_neg(tf):
    x, i = f32(tf, 3), i32(tf, 3)
    return tf.unsorted_segment_sum(x, i, 3), {x: np.ones(3), i: [1, 0, -1]}


@case
def unsorted_segment_max(tf):
    x, i = f32(tf, 3), i32(tf, 3)
    return tf.unsorted_segment_max(x, i, 3), {x: np.ones(3), i: [1, 0, 3]}


@case
def sparse_segment_sum(tf):
    x, j, i = f32(tf, 3), i32(tf, 2), i32(tf, 2)
    return tf.sparse_segment_sum(x, j, i), {x: np.ones(3), j: [0, 3], i: [0, 1]}


@case
def sparse_xent(tf):
    x, i = f32(tf, 2, 3), i32(tf, 2)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x), {x: np.ones((2, 3)), i: [1, 3]}


@case
def sparse_xent_neg(tf):
    x, i = f32(tf, 2, 3), i32(tf, 2)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x), {x: np.ones((2, 3)), i: [1, -1]}


@case
def inverse(tf):
    x = f32(tf, 3, 3)
    return tf.matrix_inverse(x), {x: np.ones((3, 3))}


@case
def inverse_zero(tf):
    x = f32(tf, 3, 3)
    return tf.matrix_inverse(x), {x: np.zeros((3, 3))}


@case
def inverse_batch(tf):
    x = f32(tf, 2, 3, 3)
    return tf.matrix_inverse(x), {x: np.stack([np.eye(3), np.zeros((3, 3))])}


@case
def solve(tf):
    x, y = f32(tf, 3, 3), f32(tf, 3, 1)
    return tf.matrix_solve(x, y), {x: np.zeros((3, 3)), y: np.ones((3, 1))}


@case
def tri_solve(tf):
    x, y = f32(tf, 3, 3), f32(tf, 3, 1)
    return tf.matrix_triangular_solve(x, y), {x: np.zeros((3, 3)), y: np.ones((3, 1))}


@case
def tridiag_solve(tf):
    x, y = f32(tf, 3, 3), f32(tf, 3, 1)
    return tf.linalg.tridiagonal_solve(x, y, diagonals_format="compact"), {x: np.zeros((3, 3)), y: np.ones((3, 1))}


@case
def cholesky(tf):
    x = f32(tf, 3, 3)
    # The other triangle is not initialised in TensorFlow.
    return tf.matrix_band_part(tf.cholesky(x), -1, 0), {x: -np.eye(3)}


@case
def lu(tf):
    x = f32(tf, 3, 3)
    return tf.linalg.lu(x)[0], {x: np.zeros((3, 3))}


@case
def det(tf):
    x = f32(tf, 3, 3)
    return tf.matrix_determinant(x), {x: np.zeros((3, 3))}


@case
def logdet(tf):
    x = f32(tf, 3, 3)
    return tf.linalg.slogdet(x)[1], {x: np.zeros((3, 3))}


@case
def lstsq(tf):
    x, y = f32(tf, 4, 3), f32(tf, 4, 1)
    return tf.matrix_solve_ls(x, y), {x: np.zeros((4, 3)), y: np.ones((4, 1))}


@case
def eigh_nan(tf):
    x = f32(tf, 2, 2)
    return tf.self_adjoint_eig(x)[0], {x: np.full((2, 2), np.nan)}


@case
def svd_nan(tf):
    x = f32(tf, 2, 2)
    return tf.svd(x)[0], {x: np.full((2, 2), np.nan)}


@case
def int_div(tf):
    x, y = i32(tf, 2), i32(tf, 2)
    return tf.floordiv(x, y), {x: [1, 2], y: [1, 0]}


@case
def int_mod(tf):
    x, y = i32(tf, 2), i32(tf, 2)
    return tf.floormod(x, y), {x: [1, 2], y: [1, 0]}


@case
def int_pow(tf):
    x, y = i32(tf, 2), i32(tf, 2)
    return tf.pow(x, y), {x: [2, 2], y: [1, -1]}


@case
def strided(tf):
    x, i = f32(tf, 4), tf.placeholder(tf.int32, [])
    return x[i], {x: np.ones(4), i: 4}


@case
def strided_neg(tf):
    x, i = f32(tf, 4), tf.placeholder(tf.int32, [])
    return x[i], {x: np.ones(4), i: -5}


@case
def slice(tf):
    x, i = f32(tf, 4), i32(tf, 1)
    return tf.slice(x, i, [2]), {x: np.ones(4), i: [3]}


@case
def slice_negbegin(tf):
    x, i = f32(tf, 4), i32(tf, 1)
    return tf.slice(x, i, [2]), {x: np.ones(4), i: [-1]}


@case
def reverse_sequence(tf):
    x, i = f32(tf, 2, 3), i32(tf, 2)
    return tf.reverse_sequence(x, i, seq_axis=1), {x: np.ones((2, 3)), i: [2, 4]}


@case
def sparse_to_dense(tf):
    i = tf.placeholder(tf.int64, [2])
    return tf.sparse_to_dense(i, [4], [1.0, 1.0]), {i: [1, 4]}


@case
def sparse_to_dense_order(tf):
    i = tf.placeholder(tf.int64, [2])
    return tf.sparse_to_dense(i, [4], [1.0, 1.0]), {i: [3, 1]}


@case
def sparse_to_dense_rep(tf):
    i = tf.placeholder(tf.int64, [2])
    return tf.sparse_to_dense(i, [4], [1.0, 1.0]), {i: [1, 1]}


@case
def sparse_tensor_to_dense(tf):
    i = tf.placeholder(tf.int64, [2, 1])
    return tf.sparse_tensor_to_dense(tf.SparseTensor(i, [1.0, 1.0], [4])), {i: [[1], [4]]}


@case
def sparse_matmul(tf):
    i = tf.placeholder(tf.int64, [2, 2])
    return tf.sparse_tensor_dense_matmul(tf.SparseTensor(i, [1.0, 1.0], [3, 3]), tf.ones([3, 2])), {i: [[1, 1], [0, 3]]}


@case
def sparse_matmul_row(tf):
    i = tf.placeholder(tf.int64, [2, 2])
    return tf.sparse_tensor_dense_matmul(tf.SparseTensor(i, [1.0, 1.0], [3, 3]), tf.ones([3, 2])), {i: [[1, 1], [3, 1]]}


@case
def sparse_add(tf):
    i = tf.placeholder(tf.int64, [2, 2])
    return tf.sparse_add(tf.SparseTensor(i, [1.0, 1.0], [3, 3]), tf.ones([3, 3])), {i: [[1, 1], [0, 3]]}


@case
def in_top_k(tf):
    x, i = f32(tf, 2, 3), i32(tf, 2)
    return tf.nn.in_top_k(x, i, 1), {x: np.ones((2, 3)), i: [0, 5]}


@case
def one_hot(tf):
    i = i32(tf, 2)
    return tf.one_hot(i, 3), {i: [1, 5]}


@case
def fill(tf):
    d = i32(tf, 1)
    return tf.fill(d, 1.0), {d: [-2]}


@case
def reshape(tf):
    d = i32(tf, 2)
    return tf.reshape(tf.ones([6]), d), {d: [4, 2]}


@case
def tile_neg(tf):
    d = i32(tf, 1)
    return tf.tile(tf.ones([6]), d), {d: [-1]}


@case
def transpose_perm(tf):
    d = i32(tf, 2)
    return tf.transpose(tf.ones([2, 3]), d), {d: [0, 0]}


@case
def reduce_axis(tf):
    d = i32(tf, 1)
    return tf.reduce_sum(tf.ones([2, 3]), d), {d: [2]}


@case
def concat_axis(tf):
    d = tf.placeholder(tf.int32, [])
    return tf.concat([tf.ones([2, 3])] * 2, d), {d: 2}


@case
def argmax_empty(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    return tf.argmax(x, 0), {x: np.ones((0, 3))}


@case
def add_shapes(tf):
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    return x + y, {x: np.ones(2), y: np.ones(3)}


@case
def matmul_shapes(tf):
    x, y = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.float32, [None, None])
    return tf.matmul(x, y), {x: np.ones((2, 3)), y: np.ones((2, 3))}


@case
def broadcast_to(tf):
    d = i32(tf, 2)
    return tf.broadcast_to(tf.ones([3]), d), {d: [2, 4]}


@case
def split_mod(tf):
    x = tf.placeholder(tf.float32, [None])
    return tf.split(x, 2)[0], {x: np.ones(3)}


@case
def topk(tf):
    x, k = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    return tf.nn.top_k(x, k)[0], {x: np.ones(3), k: 4}


@case
def check_numerics(tf):
    x = f32(tf, 2)
    return tf.check_numerics(x, "bad"), {x: [1, np.nan]}


@case
def assertion(tf):
    x = f32(tf, 2)
    with tf.control_dependencies([tf.Assert(tf.reduce_all(x > 0), [x])]):
        y = tf.identity(x)
    return y, {x: [1, -1]}


@case
def dynamic_partition(tf):
    x, i = f32(tf, 3), i32(tf, 3)
    return tf.dynamic_partition(x, i, 2)[0], {x: np.ones(3), i: [0, 1, 2]}


@case
def random_shape(tf):
    m = i32(tf, 1)
    return tf.random_normal(m), {m: [-1]}


@case
def bincount(tf):
    i = i32(tf, 2)
    return tf.bincount(i), {i: [1, -1]}


@case
def crop_and_resize(tf):
    i = i32(tf, 1)
    return tf.image.crop_and_resize(tf.ones([1, 4, 4, 1]), [[0.0, 0.0, 1.0, 1.0]], i, [2, 2]), {i: [1]}


@case
def invert_permutation(tf):
    i = i32(tf, 3)
    return tf.invert_permutation(i), {i: [0, 0, 1]}


@case
def nth(tf):
    i = tf.placeholder(tf.int32, [])
    return tf.contrib.nn.nth_element(tf.ones([3]), i) if 0 else tf.math.top_k(tf.ones([3]), i)[0], {i: -1}


@case
def matrix_band_part(tf):
    i = tf.placeholder(tf.int64, [])
    return tf.matrix_band_part(tf.ones([3, 3]), i, 0), {i: 5}


@case
def unravel(tf):
    i = i32(tf, 2)
    return tf.unravel_index(i, [2, 2]), {i: [1, 4]}


@case
def tensor_array_read(tf):
    i = tf.placeholder(tf.int32, [])
    ta = tf.TensorArray(tf.float32, 3).unstack(tf.ones([3]))
    return ta.read(i), {i: 3}


@case
def tensor_array_write(tf):
    i = tf.placeholder(tf.int32, [])
    ta = tf.TensorArray(tf.float32, 3).unstack(tf.ones([3]))
    return ta.write(i, 1.0).stack(), {i: 3}


@case
def grad_gather(tf):
    x, i = f32(tf, 5, 3), i32(tf, 2)
    return tf.convert_to_tensor(tf.gradients(tf.gather(x, i), x)[0]), {x: np.ones((5, 3)), i: [1, 7]}


@case
def nce(tf):
    i = tf.placeholder(tf.int64, [2, 1])
    tf.set_random_seed(1)
    return tf.nn.sampled_softmax_loss(tf.ones([5, 3]), tf.ones([5]), i, tf.ones([2, 3]), 2, 5), {i: [[1], [7]]}


@case
def confusion(tf):
    i = i32(tf, 2)
    return tf.confusion_matrix(i, [0, 1], 2), {i: [0, 2]}


@case
def while_gather(tf):
    x, i = f32(tf, 5), tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda k, a: k < i, lambda k, a: (k + 1, a + tf.gather(x, k)), [0, 0.0])[1]
    return y, {x: np.ones(5), i: 6}


@case
def cond_gather(tf):
    x, i = f32(tf, 5), tf.placeholder(tf.int32, [])
    return tf.cond(i > 2, lambda: tf.gather(x, i), lambda: tf.gather(x, 0)), {x: np.ones(5), i: 6}


@case
def map_gather(tf):
    x, i = f32(tf, 5), i32(tf, 2)
    return tf.map_fn(lambda k: tf.gather(x, k), i, dtype=tf.float32), {x: np.ones(5), i: [0, 6]}


@case
def cholesky_grad(tf):
    x = f32(tf, 2, 2)
    return tf.gradients(tf.cholesky(x), x)[0], {x: -np.eye(2)}


@case
def batch_gather_nd(tf):
    x, i = f32(tf, 2, 3), i32(tf, 2, 1)
    return tf.gather_nd(x, i, batch_dims=1), {x: np.ones((2, 3)), i: [[1], [3]]}


@case
def embedding_sparse(tf):
    i = tf.placeholder(tf.int64, [2])
    ids = tf.SparseTensor([[0, 0], [1, 0]], i, [2, 1])
    return tf.nn.embedding_lookup_sparse(tf.ones([3, 2]), ids, None), {i: [1, 3]}


@case
def while_condition(tf):
    x, i = f32(tf, 5), i32(tf)
    return tf.while_loop(lambda k: tf.gather(x, k) < 2.0, lambda k: k + 1, [i]), {x: np.ones(5), i: 2}


@case
def while_condition_that_ends(tf):
    x, i = f32(tf, 5), i32(tf)
    return tf.while_loop(lambda k: tf.gather(x, k) < 4.0, lambda k: k + 1, [i]), {x: np.arange(5.0), i: 2}


@case
def vectorized(tf):
    x, i = f32(tf, 5), i32(tf, 2)
    return tf.vectorized_map(lambda k: tf.gather(x, k), i), {x: np.ones(5), i: [0, 6]}


@case
def nested(tf):
    x, i = f32(tf, 5), i32(tf, 3)

    def body(k, total):
        inner = tf.cond(k > 0, lambda: tf.gather(x, tf.gather(i, k)), lambda: tf.constant(0.0))
        return k + 1, total + inner

    return tf.while_loop(lambda k, total: k < 3, body, [0, 0.0])[1], {x: np.ones(5), i: [9, 1, 5]}


@case
def branch_not_taken(tf):
    x, i = f32(tf, 5), i32(tf)
    return tf.cond(i < 5, lambda: tf.gather(x, i), lambda: tf.constant(0.0)), {x: np.ones(5), i: 6}


@case
def gradient_of_loop(tf):
    x, i = f32(tf, 5), i32(tf)
    y = tf.while_loop(lambda k, a: k < i, lambda k, a: (k + 1, a * tf.gather(x, k)), [0, 1.0])[1]
    return tf.gradients(y, x)[0], {x: np.ones(5), i: 6}
