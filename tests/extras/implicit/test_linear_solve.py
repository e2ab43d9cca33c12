"""`tf.implicit.linear_solve`: random systems, each method, against `tf.linalg.solve` and its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from tests.support.effort import ALL
from tests.support.sessions import run

from .problems import along, close, compute, pushed

_SEEDS = range(30 if ALL else 2)


def _matrix(rng: np.random.Generator, n: int, definite: bool) -> np.ndarray:
    a = rng.normal(size=(n, n)) * 0.4
    return a @ a.T + np.eye(n) if definite else a + np.diag(rng.choice([-2.0, 2.0], n))


@pytest.mark.parametrize("kind", ["function", "operator", "matrix"])
@pytest.mark.parametrize("method", ["lu", "cg", "bicgstab", "gmres"])
@pytest.mark.parametrize("seed", _SEEDS)
def test_random_systems(seed: int, method: str, kind: str) -> None:
    """Solutions and three derivatives are those of elimination: A and b depend on p, A not symmetrically."""
    if kind == "function" and method == "lu":
        pytest.skip("elimination needs the matrix")
    rng = np.random.default_rng(seed)
    n = 1 + 2 * (seed % 4)
    fixed, part, b = _matrix(rng, n, method == "cg"), rng.normal(size=(n, n)), rng.normal(size=n)
    v, w = rng.normal(size=2), rng.normal(size=n)
    with tf.Graph().as_default():
        p = tf.constant([0.0, 1.0], tf.float64)  # at p[0] = 0 the matrix is symmetric for cg, its derivative is not
        a, right = fixed + p[0] * part, b * tf.exp(p[0]) * p[1]
        given: Any = {"matrix": a, "operator": tf.linalg.LinearOperatorFullMatrix(a),
                      "function": lambda x: tf.linalg.matvec(a, x)}[kind]
        x = tf.implicit.linear_solve(given, right, method=method, rtol=1e-15)
        y = tf.reduce_sum(x * w)
        oracle = tf.reduce_sum(tf.linalg.solve(a, right[:, None])[:, 0] * w)
        got, forward, wanted = compute([along(y, p, v, 3), pushed(y, p, v, 2), along(oracle, p, v, 3)])
    close(got, wanted, 1e-11)
    close(forward, wanted[:3], 1e-11)


@pytest.mark.parametrize("shapes", [((3, 3), (3,)), ((3, 3), (3, 2)), ((4, 3, 3), (4, 3)), ((2, 2, 3, 3), (2, 2, 3, 5)),
                                    ((2, 0, 0), (2, 0)), ((0, 2, 2), (0, 2))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_stacks_of_matrices(shapes: Any, dtype: Any) -> None:
    """Matrices come in stacks, right sides as vectors or matrices, complex ones, too."""
    rng = np.random.default_rng(0)
    a, b = [(rng.normal(size=s) + (1j * rng.normal(size=s) if dtype is np.complex128 else 0)).astype(dtype)
            for s in shapes]
    with tf.Graph().as_default():
        at, bt = tf.constant(a), tf.constant(b)
        x = tf.implicit.linear_solve(at, bt)
        vectors = len(shapes[0]) > len(shapes[1])
        oracle = tf.linalg.solve(at, bt[..., None] if vectors else bt)
        oracle = tf.squeeze(oracle, -1) if vectors else oracle
        assert x.shape == shapes[1]
        real = tf.float32 if dtype is np.float32 else tf.float64
        pairs = [(y, *tf.gradients(tf.reduce_sum(tf.cast(tf.abs(y) ** 2, real)), [at, bt])) for y in (x, oracle)]
        got, wanted = compute(pairs)
    for one, other in zip(got, wanted, strict=True):
        tolerance = 1e-4 if dtype is np.float32 else 1e-10
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_structures_and_closed_over_variables() -> None:
    """Right sides may be structures of any shapes; variables that the operator reads get gradients."""
    with tf.Graph().as_default():
        scale = tf.Variable([[2.0, 3.0]], dtype=tf.float64)
        mix = tf.constant(0.5, tf.float64)

        def a(x: dict[str, Any]) -> dict[str, Any]:
            return {"s": 2 * x["s"] + mix * tf.reduce_sum(x["m"]), "m": scale * x["m"] + x["s"]}

        b = {"s": tf.constant(1.0, tf.float64), "m": tf.constant([[1.0, -1.0]], tf.float64)}
        x, info = tf.implicit.linear_solve(a, b, with_info=True)
        grads = tf.gradients(x["s"], [scale, mix, b["m"]])
        second = tf.gradients(grads[0][0, 1], [scale, mix])
        matrix = tf.stack([tf.stack([2.0 + 0 * mix, mix, mix]), tf.stack([1 + 0 * mix, scale[0, 0], 0 * mix]),
                           tf.stack([1 + 0 * mix, 0 * mix, scale[0, 1]])])
        oracle = tf.linalg.solve(matrix, tf.stack([[b["s"]], b["m"][0, :1], b["m"][0, 1:]]))[0, 0]
        expected = tf.gradients(oracle, [scale, mix, b["m"]])
        got, wanted, count, residual = run([[x["s"], *grads, *second], [
            oracle, *expected, *tf.gradients(expected[0][0, 1], [scale, mix])], info.iterations, info.residual])
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
    assert 0 < count < 20
    assert residual < 1e-11


@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])
def test_large_sparse_systems(method: str) -> None:
    """The methods without matrices solve the Poisson equation on a grid, and its gradient is one more solution."""
    n = 24
    with tf.Graph().as_default():
        k = tf.constant(1.3, tf.float64)

        def laplace(x: Any) -> Any:
            y = tf.pad(x, [[1, 1], [1, 1]])
            return k * (4 * x - y[2:, 1:-1] - y[:-2, 1:-1] - y[1:-1, 2:] - y[1:-1, :-2])

        b = tf.constant(np.random.default_rng(1).normal(size=(n, n)))
        x = tf.implicit.linear_solve(laplace, b, method=method, max_iterations=3000)
        (slope,) = tf.gradients(tf.reduce_sum(x), k)
        total, left, got = compute([tf.reduce_sum(x), tf.reduce_max(tf.abs(laplace(x) - b)), slope])
    assert left < 1e-9
    np.testing.assert_allclose(got, -total / 1.3, rtol=1e-9)


def test_start_matters_little() -> None:
    """A start at the solution takes no iteration; the result has no gradient with respect to it."""
    with tf.Graph().as_default():
        start = tf.constant([0.5, 2.0], tf.float64)
        x, info = tf.implicit.linear_solve(lambda v: v * [2.0, 0.5], np.array([1.0, 1.0]), start=start, with_info=True)
        assert tf.gradients(x, start) == [None]
        np.testing.assert_array_equal(compute([info.iterations, *tf.unstack(x)]), [0, 0.5, 2.0])


@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
def test_complex_operators(method: str) -> None:
    """Products with complex matrices and functions give what elimination gives, and its derivatives."""
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=s) + 1j * rng.normal(size=s) for s in ((4, 4), (4,)))
    a = a @ a.conj().T + np.eye(4) if method == "cg" else a + 4 * np.eye(4)
    with tf.Graph().as_default():
        at, bt = tf.constant(a), tf.constant(b)
        found = []
        for given, how in ((at, None), (at, method), (lambda x: tf.linalg.matvec(at, x), method)):
            x = tf.implicit.linear_solve(given, bt, method=how, rtol=1e-14)
            slopes = tf.gradients(tf.reduce_sum(tf.math.real(x) ** 2 + tf.math.imag(x) * tf.math.real(x)), [at, bt])
            found.append([x, *slopes, *tf.gradients(tf.reduce_sum(tf.abs(slopes[1]) ** 2), [at, bt])])
        wanted, *got = compute(found)
    for one in got:
        close(one, wanted, 1e-10)


@pytest.mark.parametrize("method", [None, "gmres"])
def test_columns(method: str | None) -> None:
    """A right side of the matrix's rank is columns for each method, for matrices and operators."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=(3, 3))
    with tf.Graph().as_default():
        got = compute([tf.implicit.linear_solve(g, tf.constant(b), method=method)
                       for g in (tf.constant(a), tf.linalg.LinearOperatorFullMatrix(a))])
    for one in got:
        np.testing.assert_allclose(one, np.linalg.solve(a, b), rtol=1e-10)


def test_operators_solve_in_their_own_way() -> None:
    """A diagonal operator with 100,000 unknowns needs no matrix; a zero in it is an error; hints choose CG."""
    with tf.Graph().as_default():
        d = tf.constant(np.linspace(1.0, 2.0, 100_000))
        x = tf.implicit.linear_solve(tf.linalg.LinearOperatorDiag(d), tf.ones_like(d))
        (slope,) = tf.gradients(tf.reduce_sum(x), d)
        got, one, two, at = compute([x, slope, tf.gradients(tf.reduce_sum(slope), d)[0], d])
        np.testing.assert_allclose([got, one, two], [1 / at, -1 / at**2, 2 / at**3], rtol=1e-14)
        singular = tf.implicit.linear_solve(tf.linalg.LinearOperatorDiag([1.0, 0.0]), [1.0, 1.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)singular.*residual is.*Fix: "):
            compute(singular)
        a = np.array([[2.0, 1.0], [1.0, 3.0]])
        hinted = type("Hinted", (), {"is_self_adjoint": True, "is_positive_definite": True,
                                     "matvec": staticmethod(lambda v: tf.linalg.matvec(a, v))})
        y, info = tf.implicit.linear_solve(hinted(), tf.constant([1.0, 2.0], tf.float64), with_info=True)
        found, count = compute([y, info.iterations])
    np.testing.assert_allclose(found, np.linalg.solve(a, [1.0, 2.0]), rtol=1e-12)
    assert count == 2


@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])
@pytest.mark.parametrize("columns", [False, True])
def test_systems_of_different_sizes(method: str, columns: bool) -> None:
    """Each of several systems is solved as accurately as the others, however small it and its right side are."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 4, 4))
    a = (a @ a.transpose(0, 2, 1) + np.eye(4)) * np.array([1e12, 1.0, 1e-9])[:, None, None]
    b = rng.normal(size=(3, 4, 2)) * np.array([1.0, 1e-9]) if columns else (
        rng.normal(size=(3, 4)) * np.array([[1e6], [1e-6], [1.0]]))
    with tf.Graph().as_default():
        k, right = tf.constant(a), tf.constant(b)
        x, info = tf.implicit.linear_solve(k, right, method=method, with_info=True)
        oracle = tf.linalg.solve(k, right if columns else right[:, :, None])
        scale = 1 / np.abs(compute(oracle)).reshape(b.shape)
        pairs = [[y, *tf.gradients(y * scale, [k, right])] for y in (x, tf.reshape(oracle, b.shape))]
        got, wanted, residual = compute([*pairs, info.residual])
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)
    assert residual < 1e-5
