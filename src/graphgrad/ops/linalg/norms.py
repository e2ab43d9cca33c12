"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.constant_value import static_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.shape_values import all_axes, rank_of
from graphgrad.ops.common.synonyms import either

from .linalg_functions import _magnitude, svd


def _norm_axes(axis, keepdims):
    """Returns the axes as an integer array or a list, and whether they are two (a matrix norm)."""
    if axis is None:
        return None, False
    if hasattr(axis, "_spec"):
        value = static_value(axis)
        axis = list(value) if isinstance(value, tuple) else value
    matrix = isinstance(axis, (list, tuple))
    if np.asarray(axis).dtype.kind not in "iub":
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    if not matrix:
        if isinstance(axis, int) and not -(2**31) <= axis < 2**31:
            raise ValueError(f"'axis' is {axis}, beyond any rank.\n  Fix: give an axis of the tensor")
        return np.asarray([axis], np.int32), False
    if len(axis) != 2:
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    if axis[0] == axis[1]:
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    return np.asarray(axis, np.int32), True


_VECTOR_NORMS = ("euclidean", 1, 2, np.inf)
_MATRIX_NORMS = ("euclidean", "fro", 1, 2, np.inf)


def norm(tensor: TensorLike, ord: Any = "euclidean", axis: TensorLike = None, keepdims: bool | None = None,
         name: str | None = None) -> Tensor:
    """Computes the norm of vectors, matrices or a whole tensor.

    Args:
      tensor: a float or complex tensor.
      ord: "euclidean", "fro", 1, 2, np.inf or a positive number.
      axis: an axis for vector norms, a pair of them for matrix norms, or None for the tensor as a vector.
      keepdims: whether to keep the axes, with size 1.
      name: a name for the scope of the operations.
    Returns: a real tensor without the axes, of the precision of `tensor`.
    Raises: ValueError for an unknown order or axis.
    Gradient: that of its ops; NaN for the euclidean norm of zeros.
    Reference: TensorFlow 2.21 `tf.norm`.

    >>> sess.run(tf.norm([3.0, 4.0]))
    np.float32(5.0)
    """
    axes, is_matrix = _norm_axes(axis, keepdims)
    if is_matrix:
        if ord not in _MATRIX_NORMS:
            raise ValueError(f"'ord' must be a supported matrix norm in {list(_MATRIX_NORMS)}, got {ord}")
    elif (isinstance(ord, str) and ord not in _VECTOR_NORMS) or (not isinstance(ord, str) and not ord > 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    with name_scope(name, "norm"):
        x = convert_to_tensor(tensor, name="tensor")
        over = all_axes(x) if axes is None else axes
        result = _norm_kept(x, ord, over, is_matrix)
        if keepdims:
            return result
        if axes is not None:
            return raw.Squeeze(result, squeeze_dims=tuple(axes.tolist()))
        rank = rank_of(x)
        return raw.Squeeze(result, squeeze_dims=tuple(range(rank)) if isinstance(rank, int) else ())


def _norm_kept(x, ord, over, is_matrix):
    """Returns the norm, its axes kept."""
    if ord in ("fro", "euclidean") or (ord == 2 and not is_matrix):
        squares = raw.Mul(x, conj(x))
        total = raw.Sqrt(raw.Sum(squares, over, keep_dims=True))
        return raw.Real(total, Tout=x.dtype.real_dtype) if x.dtype.is_complex else total
    size = _magnitude(x) if not (is_matrix and ord == 2) else x
    if is_matrix and ord == 2:
        return _spectral(x, over)
    if ord == 1:
        total = raw.Sum(size, over[:1] if is_matrix else over, keep_dims=True)
        return raw.Max(total, over[1:], keep_dims=True) if is_matrix else total
    if ord == np.inf:
        if not is_matrix:
            return raw.Max(size, over, keep_dims=True)
        return raw.Max(raw.Sum(size, over[1:], keep_dims=True), over[:1], keep_dims=True)
    powers = raw.Sum(raw.Pow(size, float(ord)), over, keep_dims=True)
    return raw.Pow(powers, 1.0 / ord)


def _spectral(x, over):
    """Returns the largest singular values of the matrices in two axes, which are kept."""
    rank = rank_of(x)
    if not isinstance(rank, int):
        raise ValueError(f"norm: a matrix norm with ord=2 needs a tensor of known rank, not {x}. Fix: use set_shape")
    axes = [int(a) % rank for a in over]
    rest = [i for i in range(rank) if i not in axes]
    turned = raw.Transpose(x, np.asarray([*rest, *axes], np.int32))
    largest = raw.Max(svd(turned, compute_uv=False), np.asarray([-1], np.int32))
    for axis in sorted(axes):
        largest = raw.ExpandDims(largest, axis)
    return largest


def norm_v1(tensor: TensorLike, ord: Any = "euclidean", axis: TensorLike = None, keepdims: bool | None = None,
            name: str | None = None, keep_dims: bool | None = None) -> Tensor:
    """Computes the norm of vectors, matrices or a whole tensor: `norm` with TensorFlow 1's `keep_dims`.

    Args:
      tensor: a float or complex tensor.
      ord: "euclidean", "fro", 1, 2, np.inf or a positive number.
      axis: an axis for vector norms, a pair of them for matrix norms, or None for the tensor as a vector.
      keepdims, keep_dims: whether to keep the axes, with size 1.
      name: a name for the scope of the operations.
    Returns: a real tensor without the axes.
    Raises: ValueError for an unknown order or axis.
    Gradient: that of its ops; NaN for the euclidean norm of zeros.
    Reference: TensorFlow 2.21 `tf.compat.v1.norm`.
    """
    return norm(tensor, ord, axis, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), name)


def normalize(tensor: TensorLike, ord: Any = "euclidean", axis: TensorLike = None,
              name: str | None = None) -> tuple[Tensor, Tensor]:
    """Divides a tensor by its norm along axes.

    Args:
      tensor: a float or complex tensor.
      ord, axis: as in `norm`.
      name: a name for the scope of the operations.
    Returns: (normalized, norm); the norm keeps its axes.
    Raises: ValueError for an unknown order or axis.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.linalg.normalize`.

    >>> sess.run(tf.linalg.normalize([3.0, 4.0])[0])
    array([0.6, 0.8], dtype=float32)
    """
    with name_scope(name, "normalize"):
        x = convert_to_tensor(tensor)
        length = norm(x, ord, axis, keepdims=True)
        if x.dtype.is_complex:
            length = raw.Cast(length, DstT=x.dtype)
        return raw.RealDiv(x, length), length
