"""Public functions for diagonals, bands and identity matrices."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like, make_array
from graphgrad.ir.dtypes import as_dtype, bool_, float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, ShapeLike, Tensor, TensorLike
from graphgrad.ops.array.fill import ones, zeros
from graphgrad.ops.common.shape_values import join


def matrix_diag(diagonal: Any, name: str | None = "diag", k: Any = 0, num_rows: Any = -1, num_cols: Any = -1,
                padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Makes matrices with given diagonals.

    Args:
      diagonal: (*B, n), any dtype; for a band of several diagonals (*B, d, n), from the highest
        to the lowest.
      name: a name for the operation.
      k: int, or a pair of ints for a band: 0 is the main diagonal, those above are positive.
      num_rows, num_cols: the size; the smallest square or side by default.
      padding_value: scalar, the elements elsewhere.
      align: the alignment of the diagonals above and below the main one in their rows of length n:
        'RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT' or 'RIGHT_RIGHT'.
    Returns: (*B, num_rows, num_cols), dtype of `diagonal`.
    Raises: ValueError, or InvalidArgumentError at run time, if sizes are incompatible.
    Gradient: MatrixDiagPartV3; None for the rest.
    Reference: TensorFlow 2.21 MatrixDiagV3.

    >>> sess.run(tf.linalg.diag([1, 2]))
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    diagonal = convert_to_tensor(diagonal, name=f"{name}/diagonal")
    padding = padding_value if is_tensor_like(padding_value) else _of(diagonal, padding_value)
    return raw.MatrixDiagV3(diagonal, k, num_rows, num_cols, padding, align=align, name=name)


def _of(tensor, value):
    if tensor.dtype is bool_:
        value = bool(value)  # of arrays of truth values the default, 0, is False
    return value if tensor.dtype.kind == "o" else make_array(value, tensor.dtype)


def matrix_diag_part(input: TensorLike, name: str | None = "diag_part", k: Any = 0, padding_value: Any = 0,
                     align: str = "RIGHT_LEFT") -> Tensor:
    """Returns the diagonals of matrices.

    Args:
      input: (*B, m, n), any dtype.
      name: a name for the operation.
      k: int, or a pair of ints for a band: 0 is the main diagonal, those above are positive.
      padding_value: scalar, fills the rows of the shorter diagonals of a band.
      align: the alignment of the diagonals above and below the main one in their rows:
        'RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT' or 'RIGHT_RIGHT'.
    Returns: (*B, length), or for a band (*B, d, longest length), from the highest to the lowest.
    Raises: ValueError, or InvalidArgumentError at run time, if k lies outside of the matrix.
    Gradient: MatrixDiagV3; None for the rest.
    Reference: TensorFlow 2.21 MatrixDiagPartV3.

    >>> sess.run(tf.linalg.diag_part([[1, 2], [3, 4]]))
    array([1, 4], dtype=int32)
    """
    input = convert_to_tensor(input, name=f"{name}/input")
    padding = padding_value if is_tensor_like(padding_value) else _of(input, padding_value)
    return raw.MatrixDiagPartV3(input, k, padding, align=align, name=name)


def matrix_set_diag(input: TensorLike, diagonal: Any, name: str | None = "set_diag", k: Any = 0,
                    align: str = "RIGHT_LEFT") -> Tensor:
    """Replaces diagonals of matrices.

    Args:
      input: (*B, m, n), any dtype.
      diagonal: (*B, length), or for a band (*B, d, longest length), as `diag_part` returns it.
      name: a name for the operation.
      k: int, or a pair of ints for a band: 0 is the main diagonal, those above are positive.
      align: the alignment of the diagonals above and below the main one in their rows.
    Returns: (*B, m, n), the same dtype.
    Raises: ValueError, or InvalidArgumentError at run time, if sizes are incompatible.
    Gradient: dy with zeros there for input, the diagonals of dy for diagonal.
    Reference: TensorFlow 2.21 MatrixSetDiagV3.

    >>> sess.run(tf.linalg.set_diag([[1, 2], [3, 4]], [8, 9]))
    array([[8, 2],
           [3, 9]], dtype=int32)
    """
    return raw.MatrixSetDiagV3(input, diagonal, k, align=align, name=name)


def matrix_band_part(input: TensorLike, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Sets everything outside of a band around the main diagonal to zero.

    Args:
      input: (*B, m, n), any dtype.
      num_lower, num_upper: scalar integers: the numbers of diagonals to keep below and above; all if
        negative.
      name: a name for the operation.
    Returns: (*B, m, n), the same dtype.
    Raises: ValueError if the rank is less than 2.
    Gradient: the same band of dy; None for the rest.
    Reference: TensorFlow 2.21 MatrixBandPart.

    >>> sess.run(tf.linalg.band_part([[1, 2], [3, 4]], -1, 0))
    array([[1, 0],
           [3, 4]], dtype=int32)
    """
    return raw.MatrixBandPart(input, num_lower, num_upper, name=name)


def tensor_diag(diagonal: Any, name: str | None = None) -> Tensor:
    """Makes a tensor of twice the rank, zero except for the elements [i..., i...].

    Args:
      diagonal: (*D), a number type.
      name: a name for the operation.
    Returns: (*D, *D), the same dtype.
    Raises: ValueError for a scalar.
    Gradient: DiagPart.
    Reference: TensorFlow 2.21 Diag.

    >>> sess.run(tf.linalg.tensor_diag([1, 2]))
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    return raw.Diag(diagonal, name=name)


def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the elements [i..., i...] of a tensor of even rank.

    Args:
      input: (*D, *D), a number type.
      name: a name for the operation.
    Returns: (*D), the same dtype.
    Raises: ValueError for an odd rank or halves that differ.
    Gradient: Diag.
    Reference: TensorFlow 2.21 DiagPart.

    >>> sess.run(tf.linalg.tensor_diag_part([[1, 2], [3, 4]]))
    array([1, 4], dtype=int32)
    """
    return raw.DiagPart(input, name=name)


def eye(num_rows: Any, num_columns: Any = None, batch_shape: ShapeLike | None = None, dtype: DTypeLike = float32,
        name: str | None = None) -> Tensor:
    """Makes identity matrices.

    Args:
      num_rows: scalar int.
      num_columns: scalar int; num_rows by default.
      batch_shape: an integer vector *B; none by default.
      dtype: the dtype.
      name: a name for the operations.
    Returns: (*B, num_rows, num_columns), `dtype`.
    Raises: ValueError for a negative size.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.eye`.

    >>> sess.run(tf.eye(2))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    dtype = as_dtype(dtype)
    with name_scope(name, "eye"):
        columns = num_rows if num_columns is None else num_columns
        batch = () if batch_shape is None else batch_shape
        if isinstance(num_rows, int) and isinstance(columns, int):
            short = min(num_rows, columns)
        else:
            short = raw.Minimum(num_rows, columns)
        diagonal = ones(_joined(batch, [short]), dtype)
        if num_columns is None:
            return matrix_diag(diagonal)
        return matrix_set_diag(zeros(_joined(batch, [num_rows, columns]), dtype), diagonal)


def _joined(batch, sizes):
    """Returns the shape `batch + sizes`, whose parts may be tensors."""
    if is_tensor_like(batch):
        return join(batch, convert_to_tensor(sizes))
    return [*batch, *sizes]
