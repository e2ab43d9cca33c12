"""The threads of NumPy's products: one, but for long ones, of which fewer beside the compiler; users' as ever."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime import executable, tiers
from graphgrad.ir import context
from graphgrad.ops.common import host_products
from graphgrad.system import blas_threads
from graphgrad.system.blas_threads import AllThreads, FewerThreads

raw = tf.raw_ops


@pytest.fixture
def count() -> Iterator[Callable[[], int]]:
    """What gives the number of threads: six at first, on machines with any number of cores."""
    functions = blas_threads._functions()
    if functions is None:
        pytest.skip("this NumPy's products are not OpenBLAS's")
    get, put = functions
    before = get()
    put(6)
    yield get
    put(before)


def test_half_of_them(count: Callable[[], int]) -> None:
    with FewerThreads():
        assert count() == 3
        with FewerThreads():
            assert count() == 3
        with AllThreads():
            assert count() == 6
        assert count() == 3
    with AllThreads():
        assert count() == 6
    assert count() == 6


def test_the_least_that_one_allows(count: Callable[[], int]) -> None:
    with FewerThreads():
        with FewerThreads(1), FewerThreads(2):
            assert count() == 1
            with AllThreads():
                assert count() == 6
            assert count() == 1
        assert count() == 3
    with FewerThreads(4):
        assert count() == 4
    assert count() == 6


@pytest.mark.parametrize("shapes", [((80, 90), (90, 80)), ((1000, 300), (300, 400)), ((300, 200), (200, 1500)),
                                    ((1, 900), (900, 1000)), ((4, 300, 300), (300, 300)), ((1, 300, 300), (300, 300))])
def test_of_one_product(count: Callable[[], int], monkeypatch: pytest.MonkeyPatch, shapes: Any) -> None:
    """BLAS computes what it would deal out to several cores in one thread; then it has them all again."""
    seen: list[int] = []
    matmul = np.matmul

    def noting(*args: Any, **kwargs: Any) -> Any:
        seen.append(count())
        return matmul(*args, **kwargs)

    monkeypatch.setattr(np, "matmul", noting)
    a, b = (np.random.default_rng(0).random(shape) for shape in shapes)
    found = host_products.stacks(a, b)
    assert set(seen) == {1}
    assert count() == 6
    np.testing.assert_allclose(found, matmul(a, b), rtol=1e-12)


def test_of_small_products(count: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    """What BLAS leaves on one core costs nothing more."""
    monkeypatch.setattr(blas_threads, "FewerThreads", None)
    a, b = np.ones((64, 144)), np.ones((144, 16))
    out = np.empty((64, 16))
    host_products.by_matrix(a, b, out)
    for found in (out, host_products.stacks(a, b), host_products.of_columns(a.T.copy(), b)):
        assert (found == 144).all()
    assert count() == 6


_DECOMPOSITIONS: dict[str, Callable[[Any], Any]] = {
    "cholesky": lambda x: raw.Cholesky(input=x), "inv": lambda x: raw.MatrixInverse(input=x),
    "det": lambda x: raw.MatrixDeterminant(input=x), "slogdet": lambda x: raw.LogMatrixDeterminant(input=x),
    "solve": lambda x: raw.MatrixSolve(matrix=x, rhs=x), "qr": lambda x: raw.Qr(input=x),
    "eigh": lambda x: raw.SelfAdjointEigV2(input=x), "svd": lambda x: raw.Svd(input=x),
    "eig": lambda x: raw.Eig(input=x, Tout=tf.complex64),
    "pinv": lambda x: raw.MatrixSolveLs(matrix=x, rhs=x, l2_regularizer=0.0, fast=False),
}


@pytest.mark.parametrize(("name", "rows"), [(n, rows) for n in _DECOMPOSITIONS for rows in (20, 100)]
                         + [("cholesky", 511), ("cholesky", 512)])
def test_of_a_decomposition(count: Callable[[], int], monkeypatch: pytest.MonkeyPatch, name: str, rows: int) -> None:
    """LAPACK uses one thread for matrices of some hundred rows."""
    seen: list[int] = []
    whole = getattr(np.linalg, name)

    def noting(x: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append(count())
        return whole(x, *args, **kwargs)

    monkeypatch.setattr(np.linalg, name, noting)
    with context.use(context.EAGER):
        _DECOMPOSITIONS[name](tf.eye(rows))
    assert seen == [1 if 20 < rows < 512 else 6]
    assert count() == 6


def test_one_is_the_least(count: Callable[[], int]) -> None:
    functions = blas_threads._functions()
    assert functions is not None
    functions[1](1)
    with FewerThreads():
        assert count() == 1


def test_what_overlaps(count: Callable[[], int]) -> None:
    first, second = FewerThreads(), FewerThreads()
    first.__enter__()
    second.__enter__()
    first.__exit__()
    assert count() == 3
    second.__exit__()
    assert count() == 6


def test_after_one_that_never_ended(count: Callable[[], int]) -> None:
    FewerThreads().__enter__()  # an interrupt came before its body
    assert count() == 3
    with FewerThreads():
        assert count() == 3
    assert count() == 6


def test_forked(count: Callable[[], int]) -> None:
    """A fork while another thread is in the middle: the child has them all, and nothing that is held for ever."""
    context = FewerThreads()
    context.__enter__()
    with blas_threads._lock:
        process = os.fork()
        if not process:
            try:
                with FewerThreads():
                    inside = count()
                os._exit(0 if (inside, count()) == (3, 6) else 1)
            finally:
                os._exit(2)
    assert os.waitpid(process, 0)[1] == 0
    assert count() == 3
    context.__exit__()


def test_unknown_libraries_keep_theirs(count: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas_threads, "_functions", lambda: None)
    with FewerThreads(), AllThreads():
        assert count() == 6


@pytest.mark.parametrize("is_long", [False, True])
def test_in_sessions(count: Callable[[], int], monkeypatch: pytest.MonkeyPatch, is_long: bool) -> None:
    """Products have one thread; long ones all in the first run, half of them in later ones in NumPy."""
    if is_long:
        monkeypatch.setattr(host_products, "_LONG", 1 << 20)
    monkeypatch.setattr(executable, "first_in_numpy", True)
    monkeypatch.setattr(executable, "tiered", True)
    seen: list[tuple[str, int]] = []
    matmul = np.matmul

    def noting(*args: Any, **kwargs: Any) -> Any:
        seen.append(("product", count()))
        return matmul(*args, **kwargs)

    def user(x: Any) -> Any:
        seen.append(("user", count()))
        return x

    monkeypatch.setattr(np, "matmul", noting)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [40, 300, 300])
        y = tf.reduce_sum(tf.matmul(tf.py_func(user, [x], tf.float32), x), [1, 2])
        for run in range(3):
            seen.clear()
            sess.run(y, {x: np.ones([40, 300, 300], np.float32)})
            assert dict(seen) == {"user": 6, "product": 1 if not is_long else 3 if run else 6}
    assert count() == 6


def test_errors_leave_them(count: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable, "first_in_numpy", True)
    monkeypatch.setattr(executable, "tiered", True)
    monkeypatch.setattr(tiers, "_ALL", 1e3)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 300])
        y = tf.matmul(x, x)
        for rows in (300, 300, 300):
            sess.run(y, {x: np.ones([rows, 300])})
        with pytest.raises(tf.errors.InvalidArgumentError):
            for _ in range(3):
                sess.run(y, {x: np.ones([301, 300])})
    assert count() == 6
