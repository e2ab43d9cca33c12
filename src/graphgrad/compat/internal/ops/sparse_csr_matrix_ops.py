"""`tensorflow.python.ops.linalg.sparse.sparse_csr_matrix_ops`: products of two sparse matrices.

A matrix in compressed rows is a `SparseTensor` here. The product multiplies each element of the left matrix with the
row of the right one that it meets, and sums what falls on one place; nothing dense is made.
"""

from __future__ import annotations

from typing import Any

from graphgrad.compat import v2 as tf


def sparse_tensor_to_csr_sparse_matrix(indices: Any, values: Any, dense_shape: Any, name: str | None = None) -> Any:
    """Makes a matrix, or a batch of matrices, of its elements.

    Args:
      indices, values, dense_shape: as of a `SparseTensor` of rank 2 or 3, in the order of rows.
      name: accepted.
    """
    return tf.SparseTensor(indices, values, dense_shape)


def csr_sparse_matrix_to_sparse_tensor(sparse_matrix: Any, type: Any = None, name: str | None = None) -> Any:
    """Returns a matrix as a `SparseTensor`.

    Args:
      sparse_matrix: the matrix.
      type, name: accepted.
    """
    return sparse_matrix


def sparse_matrix_sparse_mat_mul(a: Any, b: Any, type: Any = None, name: str | None = None) -> Any:
    """Multiplies two sparse matrices, or batches of them.

    Args:
      a: (..., m, k).
      b: (..., k, n).
      type, name: accepted.
    Returns: (..., m, n), a matrix with an element for each place on which a product falls.
    Gradient: with respect to the values of both.
    Reference: TensorFlow 2.21 SparseMatrixSparseMatMul.

    >>> from graphgrad.compat.internal.ops.sparse_csr_matrix_ops import sparse_matrix_sparse_mat_mul
    >>> x = tf.sparse.from_dense([[0.0, 2.0], [3.0, 0.0]])
    >>> sess.run(tf.sparse.to_dense(sparse_matrix_sparse_mat_mul(x, x)))
    array([[6., 0.],
           [0., 6.]], dtype=float32)
    """
    m, inner, n = a.dense_shape[-2], a.dense_shape[-1], b.dense_shape[-1]
    batch = _batch(a)
    batches = a.dense_shape[0] if a.indices.shape[-1] == 3 else tf.constant(1, tf.int64)
    met = batch * inner + a.indices[:, -1]  # the row of b that each element of a meets
    rows = _batch(b) * inner + b.indices[:, -2]
    order = tf.argsort(rows, stable=True)
    sizes = tf.math.unsorted_segment_sum(tf.ones_like(rows), rows, batches * inner)
    counts = tf.gather(sizes, met)
    left = tf.repeat(tf.range(tf.size(counts, tf.int64)), counts)
    nth = tf.range(tf.size(left, tf.int64)) - tf.gather(tf.cumsum(counts, exclusive=True), left)
    right = tf.gather(order, tf.gather(tf.gather(tf.cumsum(sizes, exclusive=True), met), left) + nth)
    key = (tf.gather(batch * m + a.indices[:, -2], left)) * n + tf.gather(b.indices[:, -1], right)
    places = tf.sort(tf.unique(key).y)
    values = tf.math.unsorted_segment_sum(tf.gather(a.values, left) * tf.gather(b.values, right),
                                          tf.searchsorted(places, key), tf.size(places))
    parts = [places // n % m, places % n]
    if a.indices.shape[-1] == 3:
        parts = [places // (n * m), *parts]
    return tf.SparseTensor(tf.stack(parts, 1), values, tf.concat([a.dense_shape[:-1], b.dense_shape[-1:]], 0))


def _batch(x: Any) -> Any:
    """Returns the number of the batch of each element."""
    return x.indices[:, 0] if x.indices.shape[-1] == 3 else tf.zeros_like(x.indices[:, 0])
