"""Linear algebra beyond the table: what is determined up to a factor only, and functions made of several ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.errors import InvalidArgumentError
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import dtypes
from graphgrad.ir.graph import Graph
from tests.support.host import evaluate, placeholder
from tests.support.table import generator

from .test_ops import check_derivatives

L = tf2.linalg
_RNG = np.random.default_rng(5)
_SQUARE = _RNG.normal(size=(3, 3)) + np.diag([1.0, 3.0, 5.0])
_TALL = _RNG.normal(size=(4, 2)) + 3 * np.eye(4, 2)
_PAIR = np.stack([_SQUARE, _SQUARE.T + 0.5])
_DIAGONAL = np.array([1.0, 2.0, 4.0])
_WEIGHTS = np.cos(np.arange(16.0)).reshape(4, 4)


def _spread(v: Any) -> Any:
    """The projections onto the spaces of columns, which no factor changes."""
    size = tf.abs(tf.cast(v, tf.complex128))
    return size * size


def _beyond(x: Any, k: int) -> Any:
    """The projection onto the columns from k on."""
    rest = x[..., :, k:]
    return tf.matmul(rest, rest, adjoint_b=True)


def _real(z: Any) -> Any:
    return tf.math.real(z)


# What a function gives for an input, and NumPy's word for it or None.
_FUNCTIONS: dict[str, tuple[Callable[..., Any], Any, np.ndarray[Any, Any]]] = {
    "eigenvectors": (lambda x: _spread(L.eig(x)[1]), None, _SQUARE),
    "eigenvalues": (lambda x: _real(L.eigvals(x)), lambda x: np.sort(np.linalg.eigvals(x)), _SQUARE),
    "both": (lambda x: _real(tf.linalg.matvec(tf.cast(_spread(L.eig(x)[1]), tf.complex128), L.eig(x)[0])), None, _PAIR),
    "eigenvectors of complex": (lambda x: _spread(L.eig(tf.complex(x, tf.sin(x)))[1]), None, _SQUARE),
    "full svd of tall": (lambda x: _beyond(L.svd(x, full_matrices=True)[1], 2), None, _TALL),
    "full svd of wide": (lambda x: _beyond(L.svd(x, full_matrices=True)[2], 2), None, _TALL.T.copy()),
    "full svd": (lambda x: _polar(x, full_matrices=True), None, _TALL),
    "complex svd": (lambda x: _spread(L.svd(tf.complex(x, tf.sin(x)))[1]), None, _TALL),
    "complex product": (lambda x: _real(_polar(tf.complex(x, tf.sin(x)))), None, _TALL),
    "full qr of tall": (lambda x: _beyond(L.qr(x, full_matrices=True)[0], 2), None, _TALL),
    "full qr of wide": (lambda x: L.qr(x, full_matrices=True)[1], None, _TALL.T.copy()),
    "complex qr": (lambda x: _real(L.qr(tf.complex(x, tf.sin(x)))[0]), None, _TALL),
    "lu": (lambda x: L.lu(x)[0], None, _SQUARE),
    "lu_reconstruct": (lambda x: L.lu_reconstruct(*L.lu(x)), lambda x: x, _PAIR),
    "lu_matrix_inverse": (lambda x: L.lu_matrix_inverse(*L.lu(x)), np.linalg.inv, _SQUARE),
    "lu_solve": (lambda x: L.lu_solve(*L.lu(x), rhs=_SQUARE), lambda x: np.linalg.solve(x, _SQUARE), _PAIR),
    "logm": (lambda x: _real(L.expm(L.logm(tf.cast(tf.matmul(x, x, transpose_b=True), tf.complex128)))),
             lambda x: x @ x.T, _SQUARE),
    "logm of nearly defective": (lambda x: _real(L.logm(tf.cast(x, tf.complex128))), None,
                                 np.array([[2.0, 1.0], [1e-9, 2.0]])),
    "sqrtm": (lambda x: L.sqrtm(tf.matmul(x, x, transpose_b=True)), None, _SQUARE),
    "lstsq": (lambda x: L.lstsq(x, _WEIGHTS[:, :2], fast=False),
              lambda x: np.linalg.lstsq(x, _WEIGHTS[:, :2], rcond=None)[0], _TALL),
    "lstsq of wide": (lambda x: L.lstsq(x, _WEIGHTS[:2], fast=False),
                      lambda x: np.linalg.lstsq(x, _WEIGHTS[:2], rcond=None)[0], _TALL.T.copy()),
    "eigh_tridiagonal": (lambda x: L.eigh_tridiagonal(x, x[:2]),
                         lambda x: np.linalg.eigvalsh(np.diag(x) + np.diag(x[:2], 1) + np.diag(x[:2], -1)),
                         _DIAGONAL),
    "some of them": (lambda x: L.eigh_tridiagonal(x, x[:2], select="i", select_range=(1, 2)), None, _DIAGONAL),
    "in a range": (lambda x: L.eigh_tridiagonal(x, x[:2], select="v", select_range=(-9.0, 9.0)), None, _DIAGONAL),
    "tridiagonal": (lambda x: L.tridiagonal_matmul(x, _WEIGHTS[:3, :2], "matrix"), None, _SQUARE),
    "tridiagonal solve": (lambda x: L.tridiagonal_solve((x[0, 1:], tf.linalg.diag_part(x), x[1:, 0]), _WEIGHTS[0, :3],
                                                        "sequence"), None, _SQUARE),
    "transposed": (lambda x: L.tridiagonal_solve(x, _WEIGHTS[:2, :3], transpose_rhs=True), None, _SQUARE + 3),
}


def _polar(z: Any, full_matrices: bool = False) -> Any:
    _, u, v = L.svd(z, full_matrices=full_matrices)
    return tf.matmul(u[..., :2], v[..., :2], adjoint_b=True)


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_function(name: str) -> None:
    """Values are NumPy's, and derivatives up to the third agree with finite differences."""
    function, reference, value = _FUNCTIONS[name]
    with Graph().as_default() as graph:
        x = placeholder(graph, dtypes.float64, value.shape)
        y = function(x)
    if reference is not None:
        np.testing.assert_allclose(evaluate([y], {x: value})[0], reference(value), rtol=1e-9, atol=1e-9)
    rtol = 1e-4 if "defective" in name else 1e-5
    check_derivatives(graph, [y], [x], {x: value}, 1 if "defective" in name else 3, generator("linalg", name), rtol)


_REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "format": (lambda: L.tridiagonal_solve(_SQUARE, _SQUARE[0], "foo"), ValueError, "Unrecognized diagonals_format"),
    "two diagonals": (lambda: L.tridiagonal_matmul(_SQUARE[:2], _SQUARE), ValueError, "Expected diagonals of"),
    "sequence": (lambda: L.tridiagonal_matmul(_SQUARE[:2], _SQUARE, "sequence"), ValueError, "of length 3"),
    "rank": (lambda: L.tridiagonal_solve(_SQUARE, _PAIR), ValueError, "Expected the rank of rhs"),
    "select": (lambda: L.eigh_tridiagonal([1.0], [], select="x"), ValueError, "select must have a value"),
    "range": (lambda: L.eigh_tridiagonal([1.0], [], select="i"), ValueError, "needs a select_range"),
    "types": (lambda: L.eigh_tridiagonal(tf.constant([1.0]), tf.constant([], tf.float64)), ValueError, "same type"),
    "singular": (lambda: L.lu([[1.0, 2.0], [2.0, 4.0]]), InvalidArgumentError, "Input is not invertible"),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_refused(name: str) -> None:
    """Bad arguments raise errors of TensorFlow's class that say what to do."""
    function, cls, text = _REFUSED[name]
    with pytest.raises(cls, match=text) as caught:
        function()
    assert "Fix:" in str(caught.value)


def test_long_tridiagonal() -> None:
    """A long system takes linear time and memory, compiled too."""
    n = 3000
    diagonals = np.stack([np.ones(n), np.full(n, 3.0), np.ones(n)])
    rhs = np.cos(np.arange(float(n)))
    x = np.asarray(tf2.function(L.tridiagonal_solve)(tf2.constant(diagonals), tf2.constant(rhs)))
    np.testing.assert_allclose(3 * x + np.append(x[1:], 0) + np.append(0, x[:-1]), rhs, atol=1e-12)


@pytest.mark.parametrize("op_type", ["Qr", "full Qr", "MatrixSolveLs"])
def test_gradients_of_unknown_sizes(op_type: str) -> None:
    """Gradients to the third order of matrices whose sizes only the run knows are those of known sizes."""
    inputs = [_RNG.normal(size=s) + 2 * np.eye(*s[-2:]) for s in ((2, 3, 2), (2, 4))]
    inputs[1] = inputs[1] * (1 - 0.5j)

    def orders(a: Any, b: Any) -> list[Any]:
        if op_type == "MatrixSolveLs":
            y = L.lstsq(a, b, 0.25)
            found = [tf.reduce_sum(tf.real(y * tf.conj(y) * y))]
        else:
            q, r = L.qr(a, full_matrices=op_type == "full Qr")
            same = tf.matmul(q, q, adjoint_b=True) if "full" not in op_type else tf.matmul(q, r)
            found = [tf.reduce_sum(tf.real(same * same)) + tf.reduce_sum(tf.abs(r) ** 3)]
        for _ in range(3):
            gradient = tf.gradients(found[-1], a)[0]
            found.append(tf.reduce_sum(tf.real(gradient * tf.conj(gradient)) * 0.1))
        return found

    for value in inputs:
        rhs = _RNG.normal(size=(*value.shape[:-1], 2)).astype(value.dtype)
        results = []
        for declared in (value.shape, [None] * value.ndim):
            with tf.Graph().as_default(), HostSession() as sess:
                a = tf.placeholder(value.dtype, declared)
                b = tf.placeholder(value.dtype, [None if d is None else d for d in [*declared[:-1], None]])
                results.append(sess.run(orders(a, b), {a: value, b: rhs}))
        np.testing.assert_allclose(results[1], results[0], rtol=1e-6, err_msg=str(value.shape))


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("transposed", [False, True])
def test_sums_in_output_type(batch: tuple[int, ...], transposed: bool) -> None:
    """Products of 8-bit integers are summed in the dtype of the result, where they fit."""
    a = np.full((*batch, 3, 4), 100, np.int8)
    b = np.full((*batch, 3, 4) if transposed else (*batch, 4, 3), -90, np.int8)
    product = tf2.matmul(a, b, transpose_b=transposed, output_type=tf2.int32)
    assert product.dtype == tf2.int32 and np.all(product.numpy() == -36000)
    assert tf2.matmul(a, b, transpose_b=transposed, output_type=tf2.int8).dtype == tf2.int8
