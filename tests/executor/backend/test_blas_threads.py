"""The threads of NumPy's products: fewer beside the compiler, as ever in users' functions and afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime import executable, tiers
from graphgrad.system import blas_threads
from graphgrad.system.blas_threads import AllThreads, FewerThreads


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


def test_in_sessions(count: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run has all threads, later ones in NumPy half of them, but for the user's own functions."""
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
            assert dict(seen) == {"user": 6, "product": 3 if run else 6}
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
