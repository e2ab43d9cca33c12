"""Rows for matrix products, einsum and linear algebra."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, L, Row, V

_ALL = ["float32", "float64", "float16", "bfloat16", "complex64", "complex128", "int32"]


def _matmul(entries, a=False, b=False):
    return Case(entries, transpose_a=a, transpose_b=b)


def _bmm(entries, x=False, y=False):
    return Case(entries, adj_x=x, adj_y=y)


def _einsum(equation, *shapes):
    return Case([L(*shapes)], equation=equation)


def _complex(rng, shape, dtype):
    x = rng.uniform(-1.0, 1.0, shape)
    return x + 1j * rng.uniform(-1.0, 1.0, shape) if dtype.is_complex else x


def _unit(shape):
    return np.eye(*shape[-2:]) if len(shape) > 1 else 1.0


def regular(rng, shape, dtype):
    """Matrices whose diagonals are large enough to invert them."""
    return (_complex(rng, shape, dtype) + 2 * _unit(shape)).astype(dtype.np_dtype)


def definite(rng, shape, dtype):
    """Positive definite matrices."""
    x = _complex(rng, shape, dtype)
    if len(shape) > 1 and shape[-1] == shape[-2]:  # others are for the errors
        x = np.round(64 * x) / 64  # products and sums are exact, so every machine draws the same
        x = x @ x.conj().swapaxes(-1, -2)
    return (x + _unit(shape)).astype(dtype.np_dtype)


def spread(rng, shape, dtype):
    """Matrices whose eigenvalues and singular values are well apart."""
    growing = 3 * np.arange(1, shape[-1] + 1) * _unit(shape)
    return (0.3 * _complex(rng, shape, dtype) + growing).astype(dtype.np_dtype)


_WIDE = ["float32", "float64", "complex64", "complex128"]
_SQUARES = [[(3, 3)], [(2, 3, 3)], [(1, 1)], [(2, 2, 2, 2)]]
_NOT_SQUARE = [([(2, 3)], "must be square"), ([(3,)], "input must have rank at least 2")]

ROWS = [
    Row("MatMul", [_matmul([(2, 3), (3, 4)]), _matmul([(3, 2), (3, 4)], a=True), _matmul([(2, 3), (4, 3)], b=True),
                   _matmul([(3, 2), (4, 3)], a=True, b=True), [(0, 3), (3, 4)], [(2, 0), (0, 4)], [(1, 1), (1, 1)]],
        dtypes=_ALL,
        bad=[([(2, 3), (4, 4)], "Dimensions must be equal, but are 3 and 4"),
             ([(2, 3, 4), (4, 4)], "a must have rank 2"), ([(3,), (3, 4)], "a must have rank 2")]),
    Row("MatMulSum", [_matmul([L((2, 3), (2, 1)), L((3, 4), (1, 4))]), _matmul([L((3, 2)), L((3, 4))], a=True),
                      _matmul([L((2, 3), (2, 0), (2, 2)), L((4, 3), (4, 0), (4, 2))], b=True),
                      _matmul([L((3, 2), (1, 2)), L((4, 3), (4, 1))], a=True, b=True)],
        dtypes=_ALL, tf=False, note="graphgrad's own, for plans",
        bad=[(_matmul([L((3, 2), (1, 2)), L((1, 4), (3, 4))], a=True), "Dimensions must be equal, but are 3 and 1"),
             ([L((2, 3), (3, 3)), L((3, 4), (3, 4))], "must be equal")]),
    Row("BatchMatMulV2", [_bmm([(5, 2, 3), (5, 3, 4)]), _bmm([(5, 3, 2), (5, 3, 4)], x=True),
                          _bmm([(2, 3), (5, 4, 3)], y=True), _bmm([(5, 3, 2), (1, 4, 3)], x=True, y=True),
                          [(2, 1, 2, 3), (5, 3, 4)], [(2, 3), (3, 4)], [(0, 2, 3), (3, 4)]],
        dtypes=_ALL,
        bad=[([(5, 2, 3), (4, 3, 4)], "dimension -1 differs"), ([(5, 2, 3), (5, 4, 4)], "but are 3 and 4"),
             ([(3,), (3, 4)], "x must have rank at least 2")]),
    Row("Einsum", [_einsum("ij,jk->ik", (2, 3), (3, 4)), _einsum("ij->ji", (2, 3)), _einsum("ij->", (2, 3)),
                   _einsum("ii->i", (3, 3)), _einsum("ii->", (3, 3)), _einsum("iij->j", (3, 3, 2)),
                   _einsum("...ij,...jk->...ik", (2, 1, 2, 3), (5, 3, 4)), _einsum("bij,bj->bi", (2, 3, 4), (2, 4)),
                   _einsum("i,j->ij", (2,), (3,)), _einsum("ij,kl->k", (2, 3), (4, 5)), _einsum("i...->...", (2, 3, 4)),
                   _einsum("ab...,b...->a...", (2, 3, 1, 2), (3, 4, 1)), _einsum("ij,ij->", (2, 3), (2, 3)),
                   _einsum("aib,i->ab", (2, 3, 2), (3,)), _einsum("iji,j->i", (2, 3, 2), (3,))],
        dtypes=["float32", "float64", "complex64"],
        bad=[(_einsum("ij,jk->ik", (2, 3), (4, 4)), "Expected dimension 3 for label 'j' but got dimension 4"),
             (_einsum("ijk->k", (2, 3)), "rank 3"), (_einsum("...i,i->i", (2, 3), (3,)), "no ellipsis"),
             (_einsum("ij,jk->ik", (2, 3)), "Got 1 inputs for equation")]),
    Row("Einsum", [_einsum("i->ii", (3,)), _einsum("ij->iijj", (2, 3)), _einsum("ij->ijij", (2, 3)),
                   _einsum("...i->i...i", (2, 3)), _einsum("ij,jk,kl->il", (2, 3), (3, 2), (2, 4))],
        tf=False, note="what gradients are made of; TensorFlow's kernel takes neither"),
    # -- decompositions
    Row("Cholesky", _SQUARES, domain=definite, dtypes=_WIDE, bad=_NOT_SQUARE, order=0,
        note="the gradient supposes steps to symmetric matrices: see test_third_derivatives.py"),
    Row("MatrixInverse", [*_SQUARES, Case([(3, 3)], adjoint=True), [(0, 0)]], domain=regular, dtypes=_WIDE,
        bad=[*_NOT_SQUARE, ([V([[0.0, 0.0], [0.0, 0.0]])], "not invertible", InvalidArgumentError)]),
    Row("MatrixDeterminant", _SQUARES, domain=regular, dtypes=["float32", "float64"], bad=_NOT_SQUARE),
    Row("MatrixDeterminant", [[(3, 3)]], domain=regular, dtypes=["complex64", "complex128"], tf_grad=False,
        note="TensorFlow's gradient does not conjugate the determinant"),
    Row("LogMatrixDeterminant", _SQUARES, domain=regular, dtypes=["float32", "float64"], ys=[1], bad=_NOT_SQUARE),
    Row("MatrixSolve", [[(3, 3), (3, 2)], [(2, 3, 3), (2, 3, 1)], Case([(3, 3), (3, 2)], adjoint=True)],
        domain={"matrix": regular, "": (-2.0, 2.0)}, dtypes=_WIDE,
        bad=[([(3, 3), (2, 2)], "but are 3 and 2"), ([(2, 3, 3), (3, 2)], "3 dimensions but rhs has 2")]),
    Row("LinearSolve", [[(3, 3), (3, 2)], [(2, 3, 3), (2, 3, 1)], Case([(3, 3), (3, 2)], adjoint=True),
                        Case([(3, 3), (3, 2)], strict="nan")], ys=[0],
        domain={"matrix": regular, "": (-2.0, 2.0)}, dtypes=_WIDE, tf=False, note="TensorFlow has no such op",
        bad=[([(3, 3), (2, 2)], "but are 3 and 2"), ([(2, 3, 3), (3, 2)], "3 dimensions but rhs has 2")]),
    Row("Converged", [Case([(3,), V(1e-9), V(1e-8), V(4, "int32"), V(1, "int32")], what="a test")], wrt=[], ys=[],
        dtypes=["float32", "float64"], tf=False, note="TensorFlow has no such op"),
    Row("MatrixTriangularSolve",
        [[(3, 3), (3, 2)], [(2, 3, 3), (2, 3, 1)], Case([(3, 3), (3, 2)], lower=False),
         Case([(3, 3), (3, 2)], adjoint=True), Case([(3, 3), (3, 2)], lower=False, adjoint=True),
         [(3, 3), (2, 3, 2)], [(2, 1, 3, 3), (2, 3, 2)]],
        domain={"matrix": regular, "": (-2.0, 2.0)}, dtypes=_WIDE, bad=[([(3, 3), (2, 2)], "but are 3 and 2")]),
    Row("SelfAdjointEigV2", [[(3, 3)], [(2, 3, 3)]], domain=spread, dtypes=["float32", "float64"], ys=[0],
        bad=_NOT_SQUARE, note="the sign of eigenvectors is free"),
    Row("SelfAdjointEigV2", [Case([(3, 3)], compute_v=False)], domain=spread, dtypes=_WIDE, ys=[0]),
    Row("SelfAdjointEigV2", [[(3, 3)]], domain=spread, dtypes=["float64"], tf=False, note="with eigenvectors"),
    Row("Svd", [[(3, 2)], [(2, 2, 3)], [(3, 3)]], domain=spread, dtypes=["float32", "float64"], ys=[0],
        bad=[([(3,)], "input must have rank at least 2")], note="the sign of singular vectors is free"),
    Row("Svd", [Case([(3, 2)], compute_uv=False)], domain=spread, dtypes=["float32", "float64"], ys=[0]),
    Row("Svd", [Case([(3, 2)], compute_uv=False)], domain=spread, dtypes=["complex64", "complex128"], ys=[0],
        tf_grad=False, note="TensorFlow's gradient lets the cotangent of a real number be complex"),
    Row("Svd", [[(3, 2)], [(2, 3)], [(2, 3, 3)]], domain=spread, dtypes=["float64"], tf=False,
        note="with singular vectors"),
    Row("Svd", [Case([(3, 3)], full_matrices=True)], domain=spread, dtypes=["float64"], tf=False,
        note="all vectors are determined"),
    Row("Qr", [[(3, 3)], [(4, 2)], [(2, 3, 2)], [(2, 4)], Case([(3, 3)], full_matrices=True)], domain=spread,
        dtypes=["float32", "float64"]),
]

_BANDS = [(2, 4), (4, 3)]
_THREE = [[(3, 4), (4, 2)], [(2, 3, 3), (2, 3, 1)], Case([(3, 4), (4, 2)], partial_pivoting=False)]
_FAST = [Case([shape, (shape[0], 2), V(weight)], fast=True)
         for shape in ((4, 2), (2, 4), (3, 3)) for weight in (0.0, 0.5)]
_PLAIN = "TensorFlow's gradient transposes complex matrices without conjugating them"


def apart(rng, shape, dtype):
    """Diagonals of well-conditioned matrices: the main one, first or last or in the middle, is large."""
    return (_complex(rng, shape, dtype) + 3 * (np.arange(shape[-2]) == shape[-2] // 2)[:, None]).astype(dtype.np_dtype)


def away_from_zero(rng, shape, dtype):
    """Bands without zeros."""
    return (_complex(rng, shape, dtype) + 2).astype(dtype.np_dtype)


ROWS += [
    Row("BatchMatMul", [_bmm([(5, 2, 3), (5, 3, 4)]), _bmm([(5, 3, 2), (5, 4, 3)], x=True, y=True)],
        dtypes=["float32", "float64", "complex64", "int32"],
        bad=[([(5, 2, 3), (4, 3, 4)], "must be equal"), ([(5, 2, 3), (5, 4, 4)], "but are 3 and 4")]),
    *[Row("BatchMatMulV3", [_bmm([(5, 2, 3), (5, 3, 4)]), _bmm([(3, 2), (5, 3, 4)], x=True),
                            _bmm([(2, 3), (5, 4, 3)], y=True), _bmm([(5, 3, 2), (1, 4, 3)], x=True, y=True)],
          {"Tb": dtype, "Tout": dtype}, dtypes=[dtype], bad=[([(2, 3), (4, 3)], "but are 3 and 4")])
      for dtype in ("float32", "complex128", "int32")],
    Row("BatchMatMulV3", [[(2, 3), (3, 4)]], {"Tb": "int8", "Tout": "int32"}, dtypes=["int8"]),
    *[Row("SparseMatMul", [_matmul([(2, 3), (3, 4)]), _matmul([(3, 2), (3, 4)], a=True),
                           _matmul([(2, 3), (4, 3)], b=True), _matmul([(3, 2), (4, 3)], a=True, b=True)],
          {"Ta": a, "Tb": b}, dtypes=[a], atol=2e-2, bad=[([(2, 3), (4, 3)], "but are 3 and 4")])
      for a, b in (("float32", "float32"), ("bfloat16", "float32"))],
    # -- bands
    Row("BandedTriangularSolve",
        [_BANDS, Case(_BANDS, adjoint=True), [(2, 2, 3), (2, 3, 1)], [(2, 1, 2, 3), (2, 3, 2)]],
        {"lower": True}, domain={"matrix": away_from_zero, "": (-2.0, 2.0)}, dtypes=_WIDE,
        bad=[([(2, 4), (3, 3)], "but are 4 and 3"),
             ([V([[0.0, 1.0]]), V([[1.0], [1.0]])], "not invertible", InvalidArgumentError)]),
    Row("BandedTriangularSolve", [_BANDS, Case(_BANDS, adjoint=True)], {"lower": False},
        domain={"matrix": away_from_zero, "": (-2.0, 2.0)}, dtypes=_WIDE),
    Row("BandedTriangularSolve", [[(1, 3), (3, 2)], Case([(1, 3), (3, 2)], lower=False)], dtypes=["float64"],
        domain={"matrix": away_from_zero, "": (-2.0, 2.0)}, tf_grad=False,
        note="TensorFlow's gradient has another shape than a single band"),
    Row("TridiagonalMatMul", [[(1, 4), (1, 4), (1, 4), (4, 3)], [(2, 1, 3), (2, 1, 3), (2, 1, 3), (2, 3, 2)],
                              [(1, 1), (1, 1), (1, 1), (1, 2)]], dtypes=_WIDE, dynamic=True,
        bad=[([(1, 3), (1, 4), (1, 4), (4, 3)], "superdiag must have the shape")]),
    Row("TridiagonalSolve", _THREE, domain={"diagonals": apart, "": (-2.0, 2.0)}, dtypes=["complex64", "complex128"],
        tf_grad=False, note=_PLAIN),
    Row("TridiagonalSolve", _THREE, domain={"diagonals": apart, "": (-2.0, 2.0)}, dtypes=["float32", "float64"],
        bad=[([(2, 4), (4, 2)], "Expected 3 diagonals got 2"), ([(3, 4), (3, 2)], "but are 4 and 3")]),
    Row("TridiagonalSolve", [[V([[1.0, 3.0, 1.0, 9.0], [0.0, 0.5, 0.1, 1.0], [9.0, 2.0, 1.0, 4.0]]), (4, 2)]],
        dtypes=["float64"]),
    # -- decompositions and functions
    Row("Lu", [[(3, 3)], [(2, 3, 3)], [V([[0.0, 1.0], [2.0, 3.0]])]], domain=regular, dtypes=_WIDE,
        bad=[*_NOT_SQUARE, ([V([[1.0, 2.0], [2.0, 4.0]])], "Input is not invertible", InvalidArgumentError)]),
    *[Row("Eig", [[(3, 3)], [(2, 3, 3)], Case([(3, 3)], compute_v=False)], {"Tout": out}, domain=spread, dtypes=[dtype],
          ys=[0], bad=_NOT_SQUARE, tf=dtype.startswith("c"),
          note="a complex factor of eigenvectors is free; the order is TensorFlow's for complex matrices alone")
      for dtype, out in (("float32", "complex64"), ("float64", "complex128"), ("complex128", "complex128"))],
    Row("MatrixSquareRoot", [[(3, 3)], [(2, 2, 2)], [(1, 1)]], domain=definite, dtypes=["float32", "float64"],
        bad=_NOT_SQUARE),
    Row("MatrixSquareRoot", [[(3, 3)], [(2, 2, 2)]], domain=definite, dtypes=["complex64", "complex128"], tf_grad=False,
        note=_PLAIN),
    Row("MatrixSquareRoot", [[V([[-1.0, 0.0], [0.0, 1.0]])]], dtypes=["float64", "complex128"], order=0, tf_grad=False,
        note="there is no real one"),
    Row("MatrixLogarithm", [[(3, 3)], [(2, 2, 2)], [(1, 1)]], domain=definite, dtypes=["complex64", "complex128"],
        bad=_NOT_SQUARE),
    Row("MatrixSolveLs", _FAST, dtypes=["complex64", "complex128"], wrt=["matrix", "rhs"], tf_grad=False,
        note=_PLAIN),
    Row("MatrixSolveLs", _FAST, dtypes=["float32", "float64"], wrt=["matrix", "rhs"],
        bad=[([(4, 2), (3, 2), V(0.0)], "but are 4 and 3"), ([(2, 4, 2), (4, 2), V(0.0)], "3 dimensions but rhs has 2"),
             ([V(np.ones((3, 2))), V(np.ones((3, 1))), V(0.0)], "rank deficient", InvalidArgumentError),
             ([V(np.ones((3, 2))), V(np.ones((3, 1))), V(-1.0)], "must be >= 0", InvalidArgumentError)]),
    Row("MatrixSolveLs", [Case([shape, (shape[0], 2), V(0.0)], fast=False) for shape in ((4, 2), (2, 4), (3, 3))],
        dtypes=_WIDE, wrt=["matrix", "rhs"], tf_grad=False, note="TensorFlow has no gradient for it"),
]
