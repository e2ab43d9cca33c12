"""Linear operators against their dense matrices in NumPy, what is known of them against TensorFlow; solutions."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.executor.runtime.session import HostSession

from . import linear_operator_cases

L = tf.linalg
_CASES = linear_operator_cases.CASES
_A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
_X = np.arange(6.0).reshape(3, 2) - 2
_RECORDED = pathlib.Path(__file__).parents[1] / "recorded" / "linear_operators.json"


def _turned(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def _close(got: Any, want: Any, what: str) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-9, atol=1e-11, err_msg=what)


def _numbers(shape: tuple[int, ...], dtype: Any) -> Any:
    x = np.sin(np.arange(1.0, 1 + np.prod(shape))).reshape(shape)
    return x.astype(dtype) if dtype is np.float64 else x + 1j * np.cos(np.arange(x.size)).reshape(shape)


@pytest.mark.parametrize("name", _CASES)
def test_operator(name: str) -> None:
    """Whatever an operator does is what its matrix does; also for arguments of another batch."""
    make, dense = _CASES[name]
    a = make(tf, L)
    kind = a.dtype.as_numpy_dtype
    batch, (m, n) = dense.shape[:-2], dense.shape[-2:]
    x, y = _numbers((n, 2), kind), _numbers((m, 2), kind)
    more = _numbers((2, n, 3), kind)
    for what, got, want in (
        ("to_dense", a.to_dense(), dense), ("matmul", a.matmul(x), dense @ x), ("@", a @ x, dense @ x),
        ("matmul, batch", a.matmul(more), dense @ more),
        ("matmul, adjoint", a.matmul(y, adjoint=True), _turned(dense) @ y),
        ("matmul, adjoint_arg", a.matmul(_turned(x), adjoint_arg=True), dense @ x),
        ("both", a.matmul(_turned(y), adjoint=True, adjoint_arg=True), _turned(dense) @ y),
        ("matvec", a.matvec(x[:, 0]), (dense @ x)[..., 0]),
        ("matvec, adjoint", a.matvec(y[:, 0], adjoint=True), (_turned(dense) @ y)[..., 0]),
        ("adjoint", a.adjoint().to_dense(), _turned(dense)), ("H", a.H.matmul(y), _turned(dense) @ y),
        ("add_to_tensor", a.add_to_tensor(dense), 2 * dense), ("add", a.add_to_tensor(_numbers((m, n), kind)),
                                                               dense + _numbers((m, n), kind)),
        ("diag_part", a.diag_part(), np.diagonal(dense, axis1=-1, axis2=-2)),
        ("trace", a.trace(), np.trace(dense, axis1=-1, axis2=-2)), ("shape", a.shape_tensor(), dense.shape),
        ("rank", a.tensor_rank_tensor(), dense.ndim), ("batch", a.batch_shape_tensor(), batch),
        ("columns", a.domain_dimension_tensor(), n), ("rows", a.range_dimension_tensor(), m),
    ):
        _close(got, want, what)
    assert tuple(a.shape) == dense.shape and tuple(a.batch_shape) == batch and a.tensor_rank == dense.ndim
    assert a.domain_dimension == n and a.range_dimension == m and a.is_square == (m == n)
    if batch:
        for index in (0, slice(1), (Ellipsis, None), (None, slice(None))):
            _close(a[index].to_dense(), dense[(*index, slice(None), slice(None))] if isinstance(index, tuple) and
                   index[0] is Ellipsis else dense[index], f"[{index}]")
    if m == n and "zeros" not in name:
        _check_solutions(a, dense)


def _check_solutions(a: Any, dense: Any) -> None:
    kind, n = a.dtype.as_numpy_dtype, dense.shape[-1]
    x, more = _numbers((n, 2), kind), _numbers((2, n, 3), kind)
    inverse, det = np.linalg.inv(dense), np.linalg.det(dense)
    for what, got, want in (
        ("solve", a.solve(x), inverse @ x), ("solve, batch", a.solve(more), inverse @ more),
        ("solve, adjoint", a.solve(x, adjoint=True), _turned(inverse) @ x),
        ("solve, adjoint_arg", a.solve(_turned(x), adjoint_arg=True), inverse @ x),
        ("solvevec", a.solvevec(x[:, 0]), (inverse @ x)[..., 0]),
        ("solvevec, adjoint", a.solvevec(x[:, 0], adjoint=True), (_turned(inverse) @ x)[..., 0]),
        ("inverse", a.inverse().to_dense(), inverse), ("determinant", a.determinant(), det),
        ("log_abs_determinant", a.log_abs_determinant(), np.log(np.abs(det))),
        ("cond", a.cond(), np.linalg.cond(dense) if np.ndim(a.cond()) == dense.ndim - 2 else 1.0),
    ):
        _close(got, want, what)
    if a.is_self_adjoint:
        _close(np.sort_complex(np.asarray(a.eigvals())), np.linalg.eigvalsh(dense), "eigvals")
    else:
        with pytest.raises(NotImplementedError, match="Only self-adjoint"):
            a.eigvals()
    if a.is_positive_definite and a.is_self_adjoint:
        _close(a.cholesky().to_dense(), np.linalg.cholesky(dense), "cholesky")
    else:
        with pytest.raises(ValueError, match="(?s)Not a positive definite.*Fix:"):
            a.cholesky()


# Where TensorFlow fails, or is wrong: factors are not made to broadcast with the batch there, and the adjoint of a
# Kronecker product that is not square says that it is.
_DIFFERENT = {"thin_kronecker", "triangular diagonal", "diagonal scaled", "positive_diagonal scaled", "scaled diagonal",
              "scaled positive_diagonal"}


def test_what_is_known() -> None:
    """Classes, hints and shapes of operators, of those made of them, and of products and solutions of all pairs."""
    wanted = json.loads(_RECORDED.read_text())
    found = json.loads(json.dumps(linear_operator_cases.facts(tf)))
    assert {k for k in wanted if found[k] != wanted[k]} == _DIFFERENT


def test_products_of_operators() -> None:
    """What a product or a solution of two operators is has the right matrix."""
    made = {name: (make(tf, L), dense) for name, (make, dense) in _CASES.items()}
    seen = set()
    for a, x in made.values():
        for b, y in made.values():
            if a.dtype != b.dtype or x.shape[-1] != y.shape[-2]:
                continue
            if isinstance(a, L.LinearOperatorZeros) or isinstance(b, L.LinearOperatorZeros):
                continue
            if a is not b and isinstance(a, L.LinearOperatorBlockDiag) and isinstance(b, L.LinearOperatorBlockDiag):
                continue  # their blocks differ
            product = a.matmul(b)
            pair = type(a), type(b), type(product)
            if pair in seen or isinstance(product, L.LinearOperatorComposition):
                continue
            seen.add(pair)
            _close(product.to_dense(), x @ y, f"{a} {b}")
            if x.shape[-1] == x.shape[-2]:
                _close(a.solve(b).to_dense(), np.linalg.solve(x, y), f"{a} {b}")
    assert len(seen) > 20


def test_unknown_sizes() -> None:
    """Operators of sizes that only the run knows do what those of known sizes do."""
    graph = tf.Graph()
    with graph.as_default(), HostSession() as sess:
        c, r = (tf.compat.v1.placeholder(tf.float64, [None]) for _ in range(2))
        m = tf.compat.v1.placeholder(tf.float64, [None, None])
        d = tf.compat.v1.placeholder(tf.float64, [None, None])
        n = tf.shape(c)[0]
        full, diag = L.LinearOperatorFullMatrix(m, is_non_singular=True), L.LinearOperatorDiag(d, is_non_singular=True)
        operators = [
            L.LinearOperatorToeplitz(c, r), L.LinearOperatorHouseholder(c),
            L.LinearOperatorIdentity(n, [2], tf.float64),
            L.LinearOperatorScaledIdentity(n, c[0]), L.LinearOperatorLowRankUpdate(full, d[:2, :, None] * r[None, :1]),
            L.LinearOperatorComposition([full, diag]), L.LinearOperatorKronecker([full, diag]),
            L.LinearOperatorBlockDiag([full, diag]), L.LinearOperatorCirculant(tf.gather(c, [0, 1, 1]), tf.float64),
            L.LinearOperatorPermutation(tf.argsort(c), tf.float64), L.LinearOperatorAdjoint(full),
            L.LinearOperatorBlockLowerTriangular([[full], [L.LinearOperatorFullMatrix(m * 2), diag]]),
            L.LinearOperatorTridiag(tf.stack([c, r, c])),
        ]
        x = tf.ones([1, 1], tf.float64)
        asked = [[o.to_dense(), o.matmul(x * tf.ones([o.domain_dimension_tensor(), 2], tf.float64)), o.shape_tensor(),
                  o.solve(x * tf.ones([o.range_dimension_tensor(), 2], tf.float64)), o.diag_part(), o.trace(),
                  o.log_abs_determinant()] for o in operators]
        feeds = {c: [5.0, 2.0, 3.0], r: [5.0, -1.0, 0.5], m: _A, d: np.array([[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]])}
        for operator, (dense, product, shape, solution, diagonal, trace, log) in zip(
                operators, sess.run(asked, feeds), strict=True):
            what, ones = operator.name, np.ones((dense.shape[-1], 2))
            _close(product, dense @ ones, what)
            _close(shape, dense.shape, what)
            _close(solution, np.linalg.solve(dense, ones), what)
            _close(diagonal, np.diagonal(dense, axis1=-1, axis2=-2), what)
            _close(trace, np.trace(dense, axis1=-1, axis2=-2), what)
            _close(log, np.linalg.slogdet(dense)[1], what)


def test_blocks() -> None:
    """Operators of blocks take and give lists of blocks."""
    for name in ("block_diagonal", "block_triangular"):
        make, dense = _CASES[name]
        a = make(tf, L)
        x = _numbers((5, 2), np.float64)
        for adjoint in (False, True):
            whole = _turned(dense) if adjoint else dense
            _close(tf.concat(a.matmul([x[:2], x[2:]], adjoint=adjoint), 0), whole @ x, name)
            _close(tf.concat(a.matvec([x[:2, 0], x[2:, 0]], adjoint=adjoint), 0), whole @ x[:, 0], name)
            _close(tf.concat(a.solve([x[:2], x[2:]], adjoint=adjoint), 0), np.linalg.solve(whole, x), name)
            _close(tf.concat(a.solve([x[:2].T, x[2:].T], adjoint, adjoint_arg=True), 0),
                   np.linalg.solve(whole, x), name)
            _close(tf.concat(a.solvevec([x[:2, 0], x[2:, 0]], adjoint=adjoint), 0),
                   np.linalg.solve(whole, x[:, 0]), name)
        with pytest.raises(ValueError, match="are not compatible"):
            a.matmul([x[:3], x[3:]])
    three = L.LinearOperatorBlockDiag([L.LinearOperatorIdentity(n, dtype=tf.float64) for n in (1, 2, 2)])
    with pytest.raises(ValueError, match="(?s)number of blocks differ.*Fix:"):
        _CASES["block_diagonal"][0](tf, L).matmul(three)


_DERIVED = ("full", "definite", "triangular", "diagonal", "scaled", "composition", "kronecker", "update", "householder",
            "tridiag", "toeplitz", "circulant", "block_triangular")


@pytest.mark.parametrize("name", _DERIVED)
def test_derivatives(name: str) -> None:
    """Derivatives of products and solutions for what the operator is made of: to the third order, in one direction."""
    make, dense = _CASES[name]
    n = dense.shape[-1]
    x = _numbers((n, 2), np.float64)

    def loss(t: Any) -> Any:
        a = make(tf, L)
        key, value = next(((k, v) for k, v in a.parameters.items() if isinstance(v, np.ndarray)), (None, None))
        if value is None:
            return tf.reduce_sum(a.matmul(x * t) ** 2)
        along = _numbers(value.shape, value.dtype.type)
        along = along + along.T if name == "definite" else along
        a = type(a)(**{**a.parameters, key: value + tf.cast(t, value.dtype) * along})
        return (tf.reduce_sum(a.matmul(x) ** 2) + tf.reduce_sum(tf.sin(a.solve(x))) +
                tf.reduce_sum(tf.math.real(a.log_abs_determinant())))

    graph = tf.Graph()
    with graph.as_default(), HostSession() as sess:
        t = tf.compat.v1.placeholder(tf.float64, [])
        orders = [tf.cast(loss(t), tf.float64)]
        for _ in range(3):
            orders.append(tf.gradients(orders[-1], t)[0])
        step = 1e-4
        low, at, high = (np.array(sess.run(orders, {t: 0.1 + s})) for s in (-step, 0.0, step))
    np.testing.assert_allclose((high - low)[:3] / (2 * step), at[1:], rtol=2e-5, atol=2e-5)


def test_functions() -> None:
    """Functions of matrices take operators."""
    a = L.LinearOperatorFullMatrix(_A, is_self_adjoint=True, is_positive_definite=True)
    b = L.LinearOperatorDiag(np.ones(3) * 2)
    for got, want in (
        (tf.matmul(a, _X), _A @ _X), (L.matmul(_X, a, adjoint_a=True), _X.T @ _A), (L.matmul(a, b).to_dense(), 2 * _A),
        (L.solve(a, _X), np.linalg.solve(_A, _X)), (L.inv(a).to_dense(), np.linalg.inv(_A)),
        (L.adjoint(b).to_dense(), 2 * np.eye(3)), (L.cholesky(a).to_dense(), np.linalg.cholesky(_A)),
        (L.det(b), 8.0), (L.logdet(b), np.log(8.0)), (L.trace(b), 6.0), (tf.linalg.trace(a), np.trace(_A)),
        (L.diag_part(a), np.diag(_A)),
    ):
        _close(got, want, "")
    with pytest.raises(ValueError, match="(?s)Transposing not supported.*Fix:"):
        tf.matmul(a, _X, transpose_a=True)
    with pytest.raises(ValueError, match="(?s)`rhs` as a LinearOperator is not supported.*Fix:"):
        L.solve(_A, b)


def test_variables() -> None:
    """An operator of a variable follows what is assigned to it, and has gradients for it."""
    v = tf.Variable([1.0, 2.0])
    a = L.LinearOperatorDiag(v)
    v.assign([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(a.matvec([1.0, 10.0]))
    assert float(y) == 43.0
    np.testing.assert_array_equal(np.asarray(tape.gradient(y, v)), [1.0, 10.0])


def test_assertions() -> None:
    """What is asserted of an operator holds, or fails with the reason."""
    fail = tf.errors.InvalidArgumentError
    singular, indefinite = np.ones((2, 2)), np.array([[1.0, 2.0], [2.0, 1.0]])
    unit = {"is_self_adjoint": True}
    L.LinearOperatorFullMatrix(_A).assert_non_singular()
    L.LinearOperatorFullMatrix(_A, **unit).assert_positive_definite()
    L.LinearOperatorFullMatrix(_A).assert_self_adjoint()
    for a, name, match in (
        (L.LinearOperatorFullMatrix(singular), "non_singular", "Singular matrix up to precision"),
        (L.LinearOperatorFullMatrix(indefinite, **unit), "positive_definite", "not positive definite"),
        (L.LinearOperatorFullMatrix(np.tril(_A)), "self_adjoint", "not equal to its adjoint"),
        (L.LinearOperatorDiag([0.0, 1.0]), "non_singular", "Diagonal contained zero"),
        (L.LinearOperatorDiag([-1.0, 1.0]), "positive_definite", "non-positive"),
        (L.LinearOperatorDiag([1j, 1.0]), "self_adjoint", "non-zero imaginary"),
        (L.LinearOperatorLowerTriangular([[0.0]]), "non_singular", "zero values"),
        (L.LinearOperatorScaledIdentity(2, 0.0), "non_singular", "was singular"),
        (L.LinearOperatorScaledIdentity(2, -1.0), "positive_definite", "not positive definite"),
        (L.LinearOperatorScaledIdentity(2, 1j), "self_adjoint", "not self-adjoint"),
        (L.LinearOperatorZeros(2), "non_singular", "always non-invertible"),
        (L.LinearOperatorZeros(2), "positive_definite", "always non-positive"),
        (L.LinearOperatorHouseholder([1.0, 0.0]), "positive_definite", "always non-positive"),
        (L.LinearOperatorCirculant([0.0, 1.0]), "non_singular", "contained zero"),
        (L.LinearOperatorCirculant([1.0, -1.0]), "positive_definite", "Real part of spectrum"),
        (L.LinearOperatorCirculant([1j, 1.0]), "self_adjoint", "imaginary part"),
        (L.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]), "self_adjoint", "row and col are not the same"),
        (L.LinearOperatorTridiag([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), "self_adjoint", "non-conjugate"),
    ):
        with pytest.raises(fail, match=match):
            getattr(a, f"assert_{name}")()
    with pytest.raises(NotImplementedError, match="(?s)assert_positive_definite is not implemented.*Fix:"):
        L.LinearOperatorFullMatrix(_A).assert_positive_definite()
    with pytest.raises(fail, match="Spectrum was not Hermitian"):
        L.LinearOperatorCirculant([1.0, 1j]).assert_hermitian_spectrum()
    kernel = L.LinearOperatorCirculant(np.fft.fft([1.0, 2.0, 3.0]), tf.float64).convolution_kernel()
    _close(kernel, [1.0, 2.0, 3.0], "kernel")
    graph = tf.Graph()
    with graph.as_default(), tf.compat.v1.Session() as sess:
        x = tf.compat.v1.placeholder(tf.float32, [2, 2])
        check = L.LinearOperatorFullMatrix(x).assert_non_singular()
        sess.run(check, {x: np.eye(2)})
        with pytest.raises(fail, match="Singular matrix"):
            sess.run(check, {x: np.ones((2, 2))})


_FULL = L.LinearOperatorFullMatrix(_A)


@pytest.mark.parametrize(("make", "error", "match"), [
    (lambda: L.LinearOperatorFullMatrix(_A, is_positive_definite=True, is_non_singular=False), ValueError,
     "positive definite matrix is always non-singular"),
    (lambda: L.LinearOperatorFullMatrix(_A, is_self_adjoint=True, is_square=False), ValueError, "always square"),
    (lambda: L.LinearOperatorFullMatrix([1.0]), ValueError, "at least 2 dimensions"),
    (lambda: L.LinearOperatorDiag([1.0], is_self_adjoint=False), ValueError, "real diagonal operator"),
    (lambda: L.LinearOperatorIdentity(2, is_non_singular=False), ValueError, "identity operator is always"),
    (lambda: L.LinearOperatorIdentity(2.0), TypeError, "must be integer"),
    (lambda: L.LinearOperatorIdentity(-2), ValueError, "must be non-negative"),
    (lambda: L.LinearOperatorIdentity(2, 3), ValueError, "must be a 1-D Tensor"),
    (lambda: L.LinearOperatorZeros(2, is_non_singular=True), ValueError, "always singular"),
    (lambda: L.LinearOperatorZeros(2, 3), ValueError, "num_rows.*num_columns"),
    (lambda: L.LinearOperatorHouseholder([1.0], is_positive_definite=True), ValueError, "non-positive definite"),
    (lambda: L.LinearOperatorPermutation([0, 0]), ValueError, "unique integers from 0 to 1"),
    (lambda: L.LinearOperatorPermutation([0.0]), TypeError, "integer dtype"),
    (lambda: L.LinearOperatorTridiag(_A, "rows"), ValueError, "diagonals_format"),
    (lambda: L.LinearOperatorToeplitz([1.0], [1.0, 2.0]), ValueError, "mismatched dimensions"),
    (lambda: L.LinearOperatorCirculant2D([1.0]), ValueError, "at least 2 dimensions"),
    (lambda: L.LinearOperatorCirculant([1.0], is_self_adjoint=False), ValueError, "real spectrum"),
    (lambda: L.LinearOperatorComposition([]), ValueError, "non-empty list"),
    (lambda: L.LinearOperatorComposition([_FULL, L.LinearOperatorIdentity(3)]), TypeError, "same dtype"),
    (lambda: L.LinearOperatorKronecker([L.LinearOperatorIdentity(3)], is_self_adjoint=False), ValueError, "Kronecker"),
    (lambda: L.LinearOperatorInversion(L.LinearOperatorZeros(2)), ValueError, "is_non_singular"),
    (lambda: L.LinearOperatorAdjoint(L.LinearOperatorIdentity(2), is_self_adjoint=False), ValueError, "if and only if"),
    (lambda: L.LinearOperatorLowRankUpdate(_FULL, _X, is_diag_update_positive=False), ValueError, "Default diagonal"),
    (lambda: L.LinearOperatorBlockLowerTriangular([[_FULL], [_FULL]]), ValueError, "must contain `2` blocks"),
    (lambda: L.LinearOperatorZeros(3).solve(_X), NotImplementedError, "expected to be singular"),
    (lambda: L.LinearOperatorZeros(3).inverse(), ValueError, "a singular matrix"),
    (lambda: _FULL.matmul(L.LinearOperatorDiag(np.ones(2))), ValueError, "Operators are incompatible"),
    (lambda: _FULL.matmul(_X.astype(np.float32)), TypeError, "Expected argument to have dtype"),
    (lambda: _FULL[0], ValueError, "1 indices for the 0 batch dimensions"),
])
def test_refused(make: Any, error: type[Exception], match: str) -> None:
    """Hints that contradict each other and sizes that do not fit are refused, with a remedy."""
    with pytest.raises(error, match=f"(?s){match}.*Fix:"):
        make()


def test_own_operator() -> None:
    """A class that says what its products are has everything else; without it, it is told what to do."""

    class Ones(L.LinearOperator):  # type: ignore[misc, name-defined]  # of a module that a face makes
        def _shape(self) -> Any:
            return tf.TensorShape([2, 2])

        def _shape_tensor(self) -> Any:
            return tf.constant([2, 2])

        def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
            x = tf.linalg.adjoint(x) if adjoint_arg else x
            return tf.reduce_sum(x, -2, keepdims=True) * tf.ones([2, 1], self.dtype)

    np.testing.assert_allclose(np.asarray(Ones(tf.float64).matvec([1.0, 2.0])), [3.0, 3.0])
    np.testing.assert_allclose(np.asarray(Ones(tf.float64).to_dense()), np.ones((2, 2)))
    with pytest.raises(NotImplementedError, match="Fix: define _shape"):
        L.LinearOperator(tf.float32).to_dense()


@pytest.mark.parametrize("preconditioned", [False, True])
def test_conjugate_gradient(preconditioned: bool) -> None:
    """Conjugate gradients solve a batch of systems; their gradient is that of the solution."""
    a = L.LinearOperatorFullMatrix(_A, is_self_adjoint=True, is_positive_definite=True)
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
