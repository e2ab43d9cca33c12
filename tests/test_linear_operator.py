"""Linear operators against their dense matrices, and conjugate gradients against the solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf

L = tf.linalg
_A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
_D = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
_X = np.arange(6.0).reshape(3, 2) - 2

_OPERATORS: dict[str, tuple[Any, np.ndarray[Any, Any]]] = {
    "full": (L.LinearOperatorFullMatrix(np.tril(_A), name="a"), np.tril(_A)),
    "definite": (L.LinearOperatorFullMatrix(_A, is_positive_definite=True), _A),
    "triangular": (L.LinearOperatorLowerTriangular(_A), np.tril(_A)),
    "diagonal": (L.LinearOperatorDiag(_D), np.stack([np.diag(d) for d in _D])),
    "scaled": (L.LinearOperatorScaledIdentity(3, np.array([2.0, 3.0])), np.stack([2 * np.eye(3), 3 * np.eye(3)])),
    "identity": (L.LinearOperatorIdentity(3, dtype=tf.float64), np.eye(3)),
}


@pytest.mark.parametrize("name", _OPERATORS)
def test_operator(name: str) -> None:
    """Whatever an operator does is what its matrix does."""
    a, dense = _OPERATORS[name]
    turned = np.swapaxes(dense, -1, -2)
    x = np.broadcast_to(_X, dense.shape[:-2] + _X.shape)
    for got, want in (
        (a.to_dense(), dense), (a.matmul(x), dense @ x), (a @ x, dense @ x), (a.matmul(x, adjoint=True), turned @ x),
        (a.matmul(np.swapaxes(x, -1, -2), adjoint_arg=True), dense @ x), (a.matvec(x[..., 0]), (dense @ x)[..., 0]),
        (a.solve(x), np.linalg.solve(dense, x)), (a.solve(x, adjoint=True), np.linalg.solve(turned, x)),
        (a.solvevec(x[..., 0]), np.linalg.solve(dense, x)[..., 0]), (a.determinant(), np.linalg.det(dense)),
        (a.log_abs_determinant(), np.log(np.linalg.det(dense))), (a.trace(), np.trace(dense, axis1=-1, axis2=-2)),
        (a.diag_part(), np.diagonal(dense, axis1=-1, axis2=-2)), (a.adjoint().to_dense(), turned),
        (a.inverse().to_dense(), np.linalg.inv(dense)), (a.cond(), np.linalg.cond(dense)),
        (a.add_to_tensor(dense), 2 * dense), (a.shape_tensor(), dense.shape), (a.tensor_rank_tensor(), dense.ndim),
        (a.batch_shape_tensor(), dense.shape[:-2]), (a.domain_dimension_tensor(), 3), (a.range_dimension_tensor(), 3),
    ):  # fmt: skip
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-10, atol=1e-12)
    assert tuple(a.shape) == dense.shape and tuple(a.batch_shape) == dense.shape[:-2] and a.tensor_rank == dense.ndim
    assert a.dtype is tf.float64 and a.domain_dimension == a.range_dimension == 3
    if a.is_self_adjoint:
        np.testing.assert_allclose(np.asarray(a.eigvals()), np.linalg.eigvalsh(dense), rtol=1e-10)
        np.testing.assert_allclose(np.asarray(a.H.to_dense()), dense)
    else:
        with pytest.raises(NotImplementedError, match="Only self-adjoint"):
            a.eigvals()
    if a.is_positive_definite:
        np.testing.assert_allclose(np.asarray(a.cholesky().to_dense()), np.linalg.cholesky(dense))
    else:
        with pytest.raises(ValueError, match="(?s)Not a positive definite.*Fix:"):
            a.cholesky()


def test_own_operator() -> None:
    """A class that says what its matrix is has everything else; without it, it is told what to do."""

    class Ones(L.LinearOperator):  # type: ignore[misc, name-defined]
        def _dense(self) -> Any:
            return tf.ones([2, 2], self.dtype)

    np.testing.assert_allclose(np.asarray(Ones(tf.float64).matvec([1.0, 2.0])), [3.0, 3.0])
    with pytest.raises(NotImplementedError, match="Fix: define _dense"):
        L.LinearOperator(tf.float32).to_dense()


@pytest.mark.parametrize("preconditioned", [False, True])
def test_conjugate_gradient(preconditioned: bool) -> None:
    """Conjugate gradients solve a batch of systems; their gradient is that of the solution."""
    a = L.LinearOperatorFullMatrix(_A, is_positive_definite=True)
    inverse = L.LinearOperatorDiag(1 / np.diag(_A), is_positive_definite=True) if preconditioned else None
    rhs = tf.constant(_X.T.copy())
    with tf.GradientTape() as tape:
        tape.watch(rhs)
        state = L.experimental.conjugate_gradient(a, rhs, inverse, tol=1e-12)
        loss = tf.reduce_sum(state.x * _X.T)
    np.testing.assert_allclose(np.asarray(state.x), np.linalg.solve(_A, _X).T, rtol=1e-9, atol=1e-12)
    assert int(state.i) <= 4 and state.gamma.shape == (2,)
    np.testing.assert_allclose(np.asarray(tape.gradient(loss, rhs)), np.linalg.solve(_A, _X).T, rtol=1e-6, atol=1e-9)
    start = L.experimental.conjugate_gradient(a, rhs, x=np.linalg.solve(_A, _X).T)
    assert int(start.i) == 0
    with pytest.raises(ValueError, match="(?s)Expected a self-adjoint, positive definite operator.*Fix:"):
        L.experimental.conjugate_gradient(L.LinearOperatorFullMatrix(_A), rhs)
