"""Public functions that build a single operation, without the conveniences of their namesakes."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import as_dtype, complex64, float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike


def matrix_square_root(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the principal square roots of matrices; see `tf.linalg.sqrtm`.

    Args:
      input: (*B, n, n).
      name: a name for the operation.
    Returns: (*B, n, n), the principal roots; NaN where a real matrix has none that is real.
    Raises: ValueError if the matrices are not square.
    Gradient: by the root of a matrix of twice the size.
    Reference: TensorFlow 2.21 MatrixSquareRoot.

    >>> sess.run(tf.matrix_square_root([[4.0, 0.0], [0.0, 9.0]]))
    array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    return raw.MatrixSquareRoot(input, name=name)


def random_index_shuffle(index: Any, seed: Any, max_index: Any, rounds: int = 4, name: str | None = None) -> Tensor:
    """Maps an index by a random permutation of 0, ..., max_index; see `tf.random.experimental.index_shuffle`.

    Args:
      index: scalar or vector, int32, int64, uint32 or uint64.
      seed: (3,), integers, or one row for each index.
      max_index: the largest index, of the same dtype.
      rounds: the number of rounds of mixing, even and at least 4.
      name: a name for the operation.
    Returns: a tensor like `index`; different indices get different results.
    Raises: InvalidArgumentError at run time for an index out of range.
    Gradient: none.
    Reference: TensorFlow 2.21 RandomIndexShuffle.

    >>> sorted(sess.run(tf.random_index_shuffle(tf.range(5), [1, 2, 3], 4)).tolist())
    [0, 1, 2, 3, 4]
    """
    return raw.RandomIndexShuffle(index, seed, max_index, rounds=rounds, name=name)


def fftnd(input: TensorLike, fft_length: Any, axes: Any, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform along some axes; see `tf.signal.fftnd`.

    Args:
      input: complex64 or complex128.
      fft_length: the size of each axis, cut or padded with zeros to fit.
      axes: the axes.
      name: a name for the operation.
    Returns: a tensor like the input, with the sizes `fft_length` along the axes.
    Raises: ValueError for axes that do not exist.
    Gradient: the inverse transform of dy, times the number of elements.
    Reference: TensorFlow 2.21 FFTND.

    >>> sess.run(tf.fftnd(tf.constant([1, 2], tf.complex64), [2], [0]))
    array([ 3.+0.j, -1.+0.j], dtype=complex64)
    """
    return raw.FFTND(input, fft_length, axes, name=name)


def ifftnd(input: TensorLike, fft_length: Any, axes: Any, name: str | None = None) -> Tensor:
    """Computes the inverse discrete Fourier transform along some axes; see `tf.signal.ifftnd`.

    Args:
      input: complex64 or complex128.
      fft_length: the size of each axis, cut or padded with zeros to fit.
      axes: the axes.
      name: a name for the operation.
    Returns: a tensor like the input, with the sizes `fft_length` along the axes.
    Raises: ValueError for axes that do not exist.
    Gradient: the transform of dy, divided by the number of elements.
    Reference: TensorFlow 2.21 IFFTND.

    >>> sess.run(tf.ifftnd(tf.constant([3, -1], tf.complex64), [2], [0]))
    array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    return raw.IFFTND(input, fft_length, axes, name=name)


def rfftnd(input: TensorLike, fft_length: Any, axes: Any, Tcomplex: DTypeLike = complex64,
           name: str | None = None) -> Tensor:
    """Computes the non-redundant half of the Fourier transform of real numbers; see `tf.signal.rfftnd`.

    Args:
      input: float32 or float64.
      fft_length: the size of each axis, cut or padded with zeros to fit.
      axes: the axes; the result has half of the transform along the last one.
      Tcomplex: the dtype of the result.
      name: a name for the operation.
    Returns: a complex tensor, with fft_length[-1] // 2 + 1 elements along the last axis.
    Raises: ValueError for axes that do not exist.
    Gradient: that of RFFTND.
    Reference: TensorFlow 2.21 RFFTND.

    >>> sess.run(tf.rfftnd([1.0, 2.0], [2], [0]))
    array([ 3.+0.j, -1.+0.j], dtype=complex64)
    """
    return raw.RFFTND(input, fft_length, axes, Tcomplex=as_dtype(Tcomplex), name=name)


def irfftnd(input: TensorLike, fft_length: Any, axes: Any, Treal: DTypeLike = float32,
            name: str | None = None) -> Tensor:
    """Computes the real numbers that have this half of a Fourier transform; see `tf.signal.irfftnd`.

    Args:
      input: complex64 or complex128.
      fft_length: the size of each axis of the result.
      axes: the axes.
      Treal: the dtype of the result.
      name: a name for the operation.
    Returns: a real tensor with the sizes `fft_length` along the axes.
    Raises: ValueError for axes that do not exist.
    Gradient: that of IRFFTND.
    Reference: TensorFlow 2.21 IRFFTND.

    >>> sess.run(tf.irfftnd(tf.constant([3, -1], tf.complex64), [2], [0]))
    array([1., 2.], dtype=float32)
    """
    return raw.IRFFTND(input, fft_length, axes, Treal=as_dtype(Treal), name=name)
