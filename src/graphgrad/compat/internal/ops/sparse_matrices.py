"""`tensorflow.python.ops.linalg.sparse.sparse`: sparse matrices, and products with them.

A matrix in compressed rows is a `SparseTensor` here.
"""

from __future__ import annotations

from typing import Any

from graphgrad.compat import v2 as tf

from .sparse_csr_matrix_ops import sparse_matrix_sparse_mat_mul


class CSRSparseMatrix:
    """A sparse matrix, or a batch of them.

    Args:
      value: a `SparseTensor` of rank 2 or 3, or a tensor of which the zeros are left out.
      indices: (n, rank), the places of the values, if `value` is dense.
      name: accepted.
    """

    def __init__(self, value: Any, indices: Any = None, name: str | None = None):
        if isinstance(value, tf.SparseTensor):
            self._matrix = value
        elif indices is None:
            self._matrix = tf.sparse.from_dense(value)
        else:
            value = tf.convert_to_tensor(value)
            self._matrix = tf.SparseTensor(indices, tf.gather_nd(value, indices), tf.shape(value, tf.int64))

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._matrix.dtype

    @property
    def shape(self) -> Any:
        """The static shape."""
        return self._matrix.shape

    def to_sparse_tensor(self) -> Any:
        """Returns the matrix as a `SparseTensor`."""
        return self._matrix

    def to_dense(self) -> Any:
        """Returns the matrix as a tensor."""
        return tf.sparse.to_dense(self._matrix)


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
           adjoint_b: bool = False, name: str | None = None) -> Any:
    """Multiplies matrices, of which one or both are sparse, or batches of them.

    Args:
      a, b: `CSRSparseMatrix` objects or tensors.
      transpose_a, transpose_b: whether to transpose a factor first.
      adjoint_a, adjoint_b: whether to conjugate it, too.
      name: accepted.
    Returns: a `CSRSparseMatrix` if both are sparse; else a tensor.
    Gradient: with respect to the values of both.

    >>> from graphgrad.compat.internal.ops.sparse_matrices import CSRSparseMatrix, matmul
    >>> sess.run(matmul(CSRSparseMatrix([[0.0, 2.0], [3.0, 0.0]]), [[1.0], [4.0]]))
    array([[8.],
           [3.]], dtype=float32)
    """
    a, b = _turned(a, transpose_a, adjoint_a), _turned(b, transpose_b, adjoint_b)
    if not isinstance(a, CSRSparseMatrix):
        return _transposed(_by_dense(_turned(b, True, False)._matrix, _transposed(a)))
    if isinstance(b, CSRSparseMatrix):
        return CSRSparseMatrix(sparse_matrix_sparse_mat_mul(a._matrix, b._matrix))
    return _by_dense(a._matrix, tf.convert_to_tensor(b))


def _transposed(x: Any) -> Any:
    return tf.linalg.matrix_transpose(x)


def _turned(x: Any, transposed: bool, adjoint: bool) -> Any:
    """Returns a factor, transposed and conjugated as asked."""
    if not (transposed or adjoint):
        return x
    if not isinstance(x, CSRSparseMatrix):
        return tf.linalg.matrix_transpose(x, conjugate=adjoint)
    rank = x._matrix.shape.rank
    turned = tf.sparse.transpose(x._matrix, [*range(rank - 2), rank - 1, rank - 2])
    values = tf.math.conj(turned.values) if adjoint else turned.values
    return CSRSparseMatrix(tf.SparseTensor(turned.indices, values, turned.dense_shape))


def _by_dense(a: Any, b: Any) -> Any:
    """Multiplies a sparse matrix, or a batch, with dense ones."""
    if a.shape.rank == 2:
        return tf.sparse.sparse_dense_matmul(a, b)
    rows, inner = a.dense_shape[-2], a.dense_shape[-1]
    columns = tf.shape(b)[-1]
    batch, row, column = tf.unstack(a.indices, 3, axis=1)
    factors = tf.gather(tf.reshape(b, [-1, columns]), batch * inner + column)
    count = tf.cast(tf.shape(b)[0], tf.int64) * rows
    sums = tf.math.unsorted_segment_sum(a.values[:, None] * factors, batch * rows + row, count)
    return tf.reshape(sums, [-1, tf.cast(rows, tf.int32), columns])
