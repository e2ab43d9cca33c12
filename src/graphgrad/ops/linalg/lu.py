"""LU decompositions and solvers based on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import COMPLEX, INDEX, float32, float64, int32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.op_traits import Cost
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.shape_values import join, shape_of

from .decompositions import adjoint, diag_part, lower, square, upper
from .matmul import matmul

_T = COMPLEX | {float32, float64}



def _lu_shape(shape):
    shape = square(shape)
    return [shape, None if shape is None else shape[:-1]]


@op("Lu", "input: T -> lu: T, p: output_idx_type", T=_T, output_idx_type=INDEX, shape=_lu_shape,
    cost=Cost.FACTORIZATION)
def lu_op(xp, x, *, output_idx_type=int32):
    """Computes lower and upper triangular factors of square matrices, in one matrix, and the permutation of rows."""
    lu, _, permutation = lax_of(xp).linalg.lu(x)
    return lu, permutation.astype(output_idx_type.np_dtype)


@lu_op.on_host
def _lu_host(xp, x, *, output_idx_type=int32):
    n = x.shape[-1]
    lu = np.array(x).reshape((-1, n, n))
    order = np.tile(np.arange(n), (len(lu), 1))
    every = np.arange(len(lu))
    for k in range(n):
        pivot = k + np.argmax(np.abs(lu[:, k:, k]), axis=1)
        for array in (lu, order):
            array[every, k], array[every, pivot] = array[every, pivot], array[every, k].copy()
        if np.any((lu[:, k, k] == 0) | np.isnan(lu[:, k, k])):
            raise Complaint("Input is not invertible", "add a small multiple of the identity to it")
        lu[:, k + 1 :, k] /= lu[:, k, k, None]
        lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k, None] * lu[:, k, None, k + 1 :]
    return lu.reshape(x.shape), order.reshape(x.shape[:-1]).astype(output_idx_type.np_dtype)


@lu_op.refuses()
def _lu_refuses(xp, lu, p):
    pivots = xp.diagonal(lu, axis1=-2, axis2=-1)
    return [xp.logical_or(pivots == 0, xp.isnan(pivots))]


def _strict_lower(x):
    return raw.MatrixSetDiagV3(lower(x), raw.ZerosLike(diag_part(x)), 0)


@lu_op.grad
def _lu_grad(op, dlu, unused):
    """Computes P^T L^-H (tril(L^H dL) without its diagonal + triu(dU U^H)) U^-H."""
    lu, p = op.outputs
    factor = raw.MatrixSetDiagV3(lower(lu), raw.OnesLike(diag_part(lu)), 0)
    top = upper(lu)
    inner = raw.AddV2(_strict_lower(matmul(factor, _strict_lower(dlu), adjoint_a=True)),
                      upper(matmul(upper(dlu), top, adjoint_b=True)))
    left = raw.MatrixTriangularSolve(factor, inner, lower=True, adjoint=True)
    both = adjoint(raw.MatrixTriangularSolve(top, adjoint(left), lower=False, adjoint=False))
    return _rows(both, inverse_permutation(p))


def inverse_permutation(p):
    """Inverts permutations along the last axis: computes the order that sorts them."""
    if p._spec.shape is not None and len(p._spec.shape) == 1:
        return raw.InvertPermutation(p)
    shape = p._spec.shape
    n = np.asarray(shape[-1], np.int32) if shape is not None and shape[-1] is not None else \
        raw.StridedSlice(raw.Shape(p), [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
    return raw.TopKV2(raw.Neg(p), n)[1]


def _rows(x, p):
    """Permutes the rows of matrices; both have the same batch."""
    shape = p._spec.shape
    if shape is None:
        flat = raw.Reshape(x, join([-1], raw.StridedSlice(raw.Shape(x), [-2], [0], [1], end_mask=1)))
        each = raw.Reshape(p, join([-1], raw.StridedSlice(raw.Shape(p), [-1], [0], [1], end_mask=1)))
        return raw.Reshape(raw.GatherV2(flat, each, 1, batch_dims=1), raw.Shape(x))
    return raw.GatherV2(x, p, len(shape) - 1, batch_dims=len(shape) - 1)


# -- public functions ----------------------------------------------------------------------


class Lu(NamedTuple):
    """The results of `lu`."""

    lu: Tensor
    p: Tensor


def lu(input: TensorLike, output_idx_type: DTypeLike = int32, name: str | None = None) -> Lu:
    """Computes the LU decomposition of square matrices, with row exchanges.

    Args:
      input: (*B, n, n).
      output_idx_type: int32 or int64.
      name: a name for the operation.
    Returns: (lu, p): (*B, n, n) with U on and above the diagonal and the rest of L, whose diagonal is 1, below;
      and (*B, n), the row of the input that is row i of L U.
    Raises: ValueError if the matrices are not square; InvalidArgumentError at run time, on the host, if one is
      singular.
    Gradient: of lu, for constant row exchanges.
    Reference: TensorFlow 2.21 Lu, which has no gradient there.

    >>> sess.run(lu([[1.0, 1.0], [2.0, 1.0]]))[1]
    array([1, 0], dtype=int32)
    """
    return Lu(*raw.Lu(input, output_idx_type=output_idx_type, name=name))


def lu_reconstruct(lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False,
                   name: str | None = None) -> Tensor:
    """Computes matrices from their LU decompositions.

    Args:
      lower_upper, perm: as `lu` returns them.
      validate_args: accepted as TensorFlow does; not used.
      name: a name for the scope of the operations.
    Returns: (*B, n, n).
    Raises: ValueError if the matrices are not square.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.linalg.lu_reconstruct`.

    >>> sess.run(lu_reconstruct([[2.0, 1.0], [0.5, 0.5]], [1, 0]))
    array([[1., 1.],
           [2., 1.]], dtype=float32)
    """
    with name_scope(name, "lu_reconstruct"):
        packed = convert_to_tensor(lower_upper, dtype_hint=float32, name="lower_upper")
        p = convert_to_tensor(perm, dtype_hint=int32, name="perm")
        factor = raw.MatrixSetDiagV3(lower(packed), raw.OnesLike(diag_part(packed)), 0)
        return _rows(matmul(factor, upper(packed)), inverse_permutation(p))


def lu_solve(lower_upper: TensorLike, perm: TensorLike, rhs: TensorLike, validate_args: bool = False,
             name: str | None = None) -> Tensor:
    """Solves systems of linear equations, given the LU decompositions of their matrices.

    Args:
      lower_upper, perm: as `lu` returns them.
      rhs: (*B, n, m); the batches broadcast.
      validate_args: accepted as TensorFlow does; not used.
      name: a name for the scope of the operations.
    Returns: (*B, n, m).
    Raises: ValueError if the sizes are incompatible.
    Gradient: that of the triangular systems.
    Reference: TensorFlow 2.21 `tf.linalg.lu_solve`.

    >>> sess.run(lu_solve([[2.0, 1.0], [0.5, 0.5]], [1, 0], [[2.0], [3.0]]))
    array([[1.],
           [1.]], dtype=float32)
    """
    with name_scope(name, "lu_solve"):
        packed = convert_to_tensor(lower_upper, dtype_hint=float32, name="lower_upper")
        p = convert_to_tensor(perm, dtype_hint=int32, name="perm")
        b = convert_to_tensor(rhs, dtype_hint=packed.dtype, name="rhs")
        shape, of_b, of_a = p._spec.shape, b._spec.shape, packed._spec.shape
        if of_b and of_a and len(of_b) > 1 and None not in (of_b[-2], of_a[-1]) and of_b[-2] != of_a[-1]:
            raise ValueError(f"`lower_upper.shape[-1]` must equal `rhs.shape[-2]`, but they are {of_a[-1]} and "
                             f"{of_b[-2]}.\n  Fix: give a right side of {of_a[-1]} rows")
        if shape is not None and len(shape) == 1 and of_b is not None:
            b = raw.GatherV2(b, p, len(of_b) - 2)
        else:
            b, p = _in_one_shape(b, p)
            b = _rows(b, p)
        factor = raw.MatrixSetDiagV3(lower(packed), raw.OnesLike(diag_part(packed)), 0)
        return raw.MatrixTriangularSolve(packed, raw.MatrixTriangularSolve(factor, b), lower=False)


def _in_one_shape(b, p):
    """Broadcasts the batches of right sides (*B, n, m) and permutations (*B, n) against each other."""
    of_b, of_p = shape_of(b), shape_of(p)
    if isinstance(of_b, np.ndarray) and isinstance(of_p, np.ndarray):
        batch = np.asarray(np.broadcast_shapes(tuple(of_b[:-2]), tuple(of_p[:-1])), np.int32)
        ends = of_b[-2:], of_p[-1:]
    else:
        of_b, of_p = convert_to_tensor(of_b), convert_to_tensor(of_p)
        batch = raw.BroadcastArgs(of_b[:-2], of_p[:-1])
        ends = of_b[-2:], of_p[-1:]
    return raw.BroadcastTo(b, join(batch, ends[0])), raw.BroadcastTo(p, join(batch, ends[1]))


def lu_matrix_inverse(lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False,
                      name: str | None = None) -> Tensor:
    """Computes the inverses of matrices, given their LU decompositions.

    Args:
      lower_upper, perm: as `lu` returns them.
      validate_args: accepted as TensorFlow does; not used.
      name: a name for the scope of the operations.
    Returns: (*B, n, n).
    Raises: ValueError if the matrices are not square.
    Gradient: that of the triangular systems.
    Reference: TensorFlow 2.21 `tf.linalg.lu_matrix_inverse`.

    >>> sess.run(lu_matrix_inverse([[2.0, 0.0], [0.0, 4.0]], [0, 1]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    with name_scope(name, "lu_matrix_inverse"):
        packed = convert_to_tensor(lower_upper, dtype_hint=float32, name="lower_upper")
        n = packed._spec.shape[-1] if packed._spec.shape else None
        if n is None:
            n = raw.StridedSlice(raw.Shape(packed), [-1], [0], [1], end_mask=1)
            return lu_solve(packed, perm, raw.MatrixDiag(raw.Fill(n, np.ones((), packed.dtype.np_dtype))))
        return lu_solve(packed, perm, np.eye(n, dtype=packed.dtype.np_dtype))
