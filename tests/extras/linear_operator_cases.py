"""Linear operators of every kind, made in the same way in graphgrad and in TensorFlow, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
_B = np.array([[1.0, 2.0], [-0.5, 3.0]])
_D = np.array([[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]])
_U = np.array([[1.0, 0.5], [0.0, 2.0], [-1.0, 1.0]])
_V = np.array([[0.5, 0.5], [1.0, -1.0], [0.25, 0.0]])
_C = np.array([6.0, 1.0 - 2.0j, 1.0 + 2.0j])
_T = np.array([[1.0, -2.0, 9.0], [5.0, 6.0, 7.0], [9.0, 0.5, -1.0]])


def _circulant(spectrum: np.ndarray) -> np.ndarray:
    sizes = spectrum.shape
    n = spectrum.size
    units = np.eye(n).reshape(n, *sizes)
    axes = tuple(range(1, len(sizes) + 1))
    return np.fft.ifftn(np.fft.fftn(units, axes=axes) * spectrum, axes=axes).reshape(n, n).T


def _blocks(*matrices: np.ndarray) -> np.ndarray:
    n = sum(m.shape[0] for m in matrices)
    whole = np.zeros((n, n))
    at = 0
    for m in matrices:
        whole[at : at + len(m), at : at + len(m)] = m
        at += len(m)
    return whole


_S2 = np.array([[3.0, 1.0], [2.0, 4.0]])
_S3 = np.arange(1.0, 9.0).reshape(2, 2, 2)
_H = np.array([[3.0, 4.0], [1.0, -1.0]])
_AXIS = _H / np.linalg.norm(_H, axis=-1, keepdims=True)
_PERM = np.array([2, 0, 1])
_HERMITIAN = np.array([[2.0, 1.0j], [-1.0j, 3.0]])
_LOWER = np.zeros((5, 5))
_LOWER[:2, :2], _LOWER[2:, :2], _LOWER[2:, 2:] = _B, _U, _A

# Name -> how it is made of `tf.linalg`, and its matrices.
CASES: dict[str, tuple[Callable[[Any, Any], Any], np.ndarray]] = {
    "full": (lambda tf, l: l.LinearOperatorFullMatrix(np.tril(_A), name="a"), np.tril(_A)),
    "rectangular": (lambda tf, l: l.LinearOperatorFullMatrix(_U), _U),
    "definite": (lambda tf, l: l.LinearOperatorFullMatrix(_A, is_self_adjoint=True, is_positive_definite=True), _A),
    "complex": (lambda tf, l: l.LinearOperatorFullMatrix(_HERMITIAN + np.eye(2, k=1)), _HERMITIAN + np.eye(2, k=1)),
    "hermitian": (lambda tf, l: l.LinearOperatorFullMatrix(_HERMITIAN, is_self_adjoint=True,
                                                           is_positive_definite=True), _HERMITIAN),
    "triangular": (lambda tf, l: l.LinearOperatorLowerTriangular(_A, is_non_singular=True), np.tril(_A)),
    "diagonal": (lambda tf, l: l.LinearOperatorDiag(_D, is_non_singular=True), np.stack([np.diag(d) for d in _D])),
    "positive_diagonal": (lambda tf, l: l.LinearOperatorDiag(_D[0], is_positive_definite=True), np.diag(_D[0])),
    "complex_diagonal": (lambda tf, l: l.LinearOperatorDiag(_C), np.diag(_C)),
    "scaled": (lambda tf, l: l.LinearOperatorScaledIdentity(3, np.array([2.0, 3.0]), is_positive_definite=True),
               np.stack([2 * np.eye(3), 3 * np.eye(3)])),
    "identity": (lambda tf, l: l.LinearOperatorIdentity(3, dtype=tf.float64), np.eye(3)),
    "identities": (lambda tf, l: l.LinearOperatorIdentity(3, [2], tf.float64), np.stack([np.eye(3)] * 2)),
    "zeros": (lambda tf, l: l.LinearOperatorZeros(3, dtype=tf.float64), np.zeros((3, 3))),
    "flat_zeros": (lambda tf, l: l.LinearOperatorZeros(2, 3, [2], tf.float64, is_square=False, is_self_adjoint=False),
                   np.zeros((2, 2, 3))),
    "adjoint": (lambda tf, l: l.LinearOperatorAdjoint(l.LinearOperatorFullMatrix(_U)), _U.T),
    "complex_adjoint": (lambda tf, l: l.LinearOperatorAdjoint(l.LinearOperatorFullMatrix(_HERMITIAN + 1j)),
                        (_HERMITIAN + 1j).conj().T),
    "inversion": (lambda tf, l: l.LinearOperatorInversion(l.LinearOperatorFullMatrix(_B)), np.linalg.inv(_B)),
    "composition": (lambda tf, l: l.LinearOperatorComposition(
        [l.LinearOperatorFullMatrix(_A), l.LinearOperatorDiag(_D, is_non_singular=True)]),
        _A @ np.stack([np.diag(d) for d in _D])),
    "thin_composition": (lambda tf, l: l.LinearOperatorComposition(
        [l.LinearOperatorFullMatrix(_U.T), l.LinearOperatorFullMatrix(_V)]), _U.T @ _V),
    "kronecker": (lambda tf, l: l.LinearOperatorKronecker(
        [l.LinearOperatorFullMatrix(_B, is_non_singular=True), l.LinearOperatorFullMatrix(_A, is_non_singular=True)]),
        np.kron(_B, _A)),
    "thin_kronecker": (lambda tf, l: l.LinearOperatorKronecker(
        [l.LinearOperatorFullMatrix(_U), l.LinearOperatorFullMatrix(_B)]), np.kron(_U, _B)),
    "definite_kronecker": (lambda tf, l: l.LinearOperatorKronecker(
        [l.LinearOperatorDiag(_D[0, :2], is_positive_definite=True),
         l.LinearOperatorFullMatrix(_A, is_self_adjoint=True, is_positive_definite=True)]),
        np.kron(np.diag(_D[0, :2]), _A)),
    "update": (lambda tf, l: l.LinearOperatorLowRankUpdate(
        l.LinearOperatorFullMatrix(_A, is_non_singular=True), _U, np.array([2.0, -0.5]), _V),
        _A + _U @ np.diag([2.0, -0.5]) @ _V.T),
    "definite_update": (lambda tf, l: l.LinearOperatorLowRankUpdate(
        l.LinearOperatorDiag(_D[0], is_positive_definite=True), _U, np.array([2.0, 0.5]),
        is_diag_update_positive=True), np.diag(_D[0]) + _U @ np.diag([2.0, 0.5]) @ _U.T),
    "plain_update": (lambda tf, l: l.LinearOperatorLowRankUpdate(l.LinearOperatorIdentity(3, [2], tf.float64), _U),
                     np.stack([np.eye(3) + _U @ _U.T] * 2)),
    "householder": (lambda tf, l: l.LinearOperatorHouseholder(_H),
                    np.eye(2) - 2 * _AXIS[:, :, None] * _AXIS[:, None, :]),
    "permutation": (lambda tf, l: l.LinearOperatorPermutation(_PERM, tf.float64), np.eye(3)[_PERM]),
    "tridiag": (lambda tf, l: l.LinearOperatorTridiag(_T),
                np.diag(_T[1]) + np.diag(_T[0, :2], 1) + np.diag(_T[2, 1:], -1)),
    "tridiag_sequence": (lambda tf, l: l.LinearOperatorTridiag(
        [np.stack([_T[0], _T[2]]), _T[1:2], _T[2:]], "sequence"), np.stack(
            [np.diag(_T[1]) + np.diag(above[:2], 1) + np.diag(_T[2, 1:], -1) for above in (_T[0], _T[2])])),
    "tridiag_matrix": (lambda tf, l: l.LinearOperatorTridiag(_A, "matrix"), _A),
    "toeplitz": (lambda tf, l: l.LinearOperatorToeplitz(np.array([5.0, 2.0, 3.0]), np.array([5.0, -1.0, 0.5])),
                 np.array([[5.0, -1.0, 0.5], [2.0, 5.0, -1.0], [3.0, 2.0, 5.0]])),
    "circulant": (lambda tf, l: l.LinearOperatorCirculant(_C, tf.float64), _circulant(_C).real),
    "circulant_2d": (lambda tf, l: l.LinearOperatorCirculant2D(_S2, tf.complex128), _circulant(_S2)),
    "circulant_3d": (lambda tf, l: l.LinearOperatorCirculant3D(_S3, tf.complex128, is_positive_definite=True),
                     _circulant(_S3)),
    "block_diagonal": (lambda tf, l: l.LinearOperatorBlockDiag(
        [l.LinearOperatorFullMatrix(_B, is_non_singular=True), l.LinearOperatorDiag(_D[0], is_non_singular=True)]),
        _blocks(_B, np.diag(_D[0]))),
    "definite_blocks": (lambda tf, l: l.LinearOperatorBlockDiag(
        [l.LinearOperatorFullMatrix(_A, is_self_adjoint=True, is_positive_definite=True),
         l.LinearOperatorDiag(_D[0, :2], is_positive_definite=True)]), _blocks(_A, np.diag(_D[0, :2]))),
    "block_triangular": (lambda tf, l: l.LinearOperatorBlockLowerTriangular(
        [[l.LinearOperatorFullMatrix(_B, is_non_singular=True)],
         [l.LinearOperatorFullMatrix(_U), l.LinearOperatorFullMatrix(_A, is_non_singular=True)]]), _LOWER),
}


def _described(result: Any) -> Any:
    """An operator's class and hints; of anything else that it is none."""
    if not hasattr(result, "is_self_adjoint"):
        return "tensor"
    square = result.is_square
    return [type(result).__name__.removeprefix("_"), result.is_non_singular, result.is_self_adjoint,
            result.is_positive_definite, None if square is None else bool(square), result.shape.as_list()]


def _asked(tf: Any, question: Callable[[], Any]) -> Any:
    try:
        return _described(question())
    except (ValueError, TypeError, NotImplementedError, tf.errors.InvalidArgumentError) as e:
        return type(e).__name__


def facts(tf: Any) -> dict[str, Any]:
    """What operators, those made of them, and products of all pairs that fit are known to be."""
    made = {name: make(tf, tf.linalg) for name, (make, _) in CASES.items()}
    found: dict[str, Any] = {}
    for name, o in made.items():
        found[name] = [_described(o), *(_asked(tf, q) for q in (o.adjoint, o.inverse, o.cholesky))]
    for a, x in made.items():
        for b, y in made.items():
            if x.dtype == y.dtype and x.shape[-1] == y.shape[-2]:
                found[f"{a} {b}"] = [_asked(tf, lambda x=x, y=y: x.matmul(y)), _asked(tf, lambda x=x, y=y: x.solve(y))]
    return found
