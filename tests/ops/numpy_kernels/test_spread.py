"""Kernels whose parts run side by side in threads give the same bits on any number of cores."""

from __future__ import annotations

import functools
import os
import queue
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graphgrad.ir.dtypes import float32, float64, int32
from graphgrad.ops.common import host_products
from graphgrad.ops.nn.conv import conv_numpy
from graphgrad.ops.nn.conv.window_geometry import Window
from graphgrad.ops.random import philox
from graphgrad.system import cores
from graphgrad.system.subnormals import Subnormals


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("least", [0, 1, 3, 50])
@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_parts(monkeypatch: pytest.MonkeyPatch, count: int, least: int, number: int) -> None:
    """Each element is done once, in parts that are long enough."""
    monkeypatch.setattr(cores, "CORES", number)
    done = np.zeros(count, int)
    parts: list[tuple[int, int]] = []

    def work(start: int, stop: int) -> None:
        done[start:stop] += 1
        parts.append((start, stop))

    cores.spread(work, count, least)
    assert (done == 1).all()
    assert len(parts) == max(1, min(number, 4, count // max(1, least)))
    assert len(parts) == 1 or min(stop - start for start, stop in parts) >= least


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_errors(monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    """What a part raises arrives; the other parts are done."""
    monkeypatch.setattr(cores, "CORES", 3)
    done: list[int] = []

    def work(start: int, stop: int) -> None:
        if start == failing:
            raise ArithmeticError(f"part {start}")
        done.append(start)

    with pytest.raises(ArithmeticError, match=f"part {failing}"):
        cores.spread(work, 3, 1)
    assert sorted(done) == [i for i in range(3) if i != failing]


def test_parts_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that spread work themselves wait for no thread that waits for them."""
    monkeypatch.setattr(cores, "CORES", 4)
    done = np.zeros((16, 16), int)

    def rows(start: int, stop: int) -> None:
        for i in range(start, stop):
            cores.spread(functools.partial(elements, i), 16, 1)

    def elements(i: int, start: int, stop: int) -> None:
        cores.spread(lambda a, b: np.add.at(done[i], np.arange(start + a, start + b), 1), stop - start, 1)

    for _ in range(20):
        cores.spread(rows, 16, 1)
    assert (done == 20).all()


def test_several_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of a program's own get their own parts, and their own errors."""
    monkeypatch.setattr(cores, "CORES", 3)
    wrong: list[object] = []

    def caller(number: int) -> None:
        done = np.zeros(9, int)

        def work(start: int, stop: int) -> None:
            done[start:stop] += number
            if number == 3 and not start:
                raise ArithmeticError

        for _ in range(200):
            done[:] = 0
            try:
                cores.spread(work, 9, 1)
            except ArithmeticError:
                wrong.extend([number] if number != 3 else [])
            if (done != number).any():
                wrong.append(done.copy())

    threads = [threading.Thread(target=caller, args=(number,)) for number in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("waiting", [True, False])
def test_arrays_are_let_go(monkeypatch: pytest.MonkeyPatch, waiting: bool) -> None:
    """Threads keep nothing of what they have done, or would have done."""
    monkeypatch.setattr(cores, "CORES", 4)
    cores.spread(lambda start, stop: None, 4, 1)

    class Array:
        pass

    array = Array()
    found = weakref.ref(array)

    def work(start: int, stop: int, array: Any = array) -> None:
        assert array is not None

    if not waiting:  # a thread that comes very late
        monkeypatch.setattr(cores, "_jobs", queue.SimpleQueue())
    cores.spread(work, 100, 1)
    del work, array
    end = time.monotonic() + 30
    while found() is not None and time.monotonic() < end:
        time.sleep(0.001)
    assert found() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forked process, which has none of the threads, starts its own."""
    monkeypatch.setattr(cores, "CORES", 2)
    cores.spread(lambda start, stop: None, 2, 1)
    with warnings.catch_warnings(), cores._lock:
        warnings.simplefilter("ignore")  # of forks beside threads
        process = os.fork()
        if not process:
            try:
                both = threading.Barrier(2)
                cores.spread(lambda start, stop: both.wait(60) and None, 2, 1)
                os._exit(0)
            finally:
                os._exit(1)
    assert os.waitpid(process, 0)[1] == 0


def test_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started all parts are done one after the other."""

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(cores, "CORES", 3)
    monkeypatch.setattr(cores, "_jobs", queue.SimpleQueue())
    monkeypatch.setattr(cores, "_members", 0)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    done: list[int] = []
    cores.spread(lambda start, stop: done.extend(range(start, stop)), 10, 1)
    assert sorted(done) == list(range(10))


def test_the_modes_of_arithmetic_are_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads warn, or not, as their caller does, and treat subnormal numbers as it does."""
    monkeypatch.setattr(cores, "CORES", 2)
    tiny, both = np.full(2, 1e-45, np.float32), threading.Barrier(2)
    for flushed in (False, True):
        out = np.ones(2, np.float32)
        with Subnormals(flushed=flushed), np.errstate(divide="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            here = float((tiny * np.float32(1))[0])

            def work(start: int, stop: int, out: Any = out, both: threading.Barrier = both) -> None:
                both.wait(60)  # each in a thread of its own
                np.log(np.zeros(1))
                np.multiply(tiny[start:stop], np.float32(1), out=out[start:stop])

            cores.spread(work, 2, 1)
        assert (out == np.float32(here)).all()


def _window(kernel: tuple[int, int], strides: tuple[int, int], sizes: tuple[int, int]) -> Window:
    pads = tuple((k // 2, k // 2) for k in kernel)
    out = tuple((n + 2 * (k // 2) - k) // s + 1 for n, k, s in zip(sizes, kernel, strides, strict=True))
    return Window(kernel, strides, (1, 1), pads, out)


def _normal(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


_STREAM = philox.Stream(0x1234_5678_9ABC, 2**64 - 1000, 5)  # its counter carries
_SIZE = (1_000_003,)
_WINDOWS = _window((3, 3), (1, 1), (30, 31)), _window((3, 3), (2, 2), (30, 31)), _window((5, 5), (1, 1), (30, 31))
_KERNELS: dict[str, Callable[[], Any]] = {
    "uniform": lambda: philox.sample(np, _STREAM, _SIZE, philox.UniformFloats(float32)),
    "uniform, double": lambda: philox.sample(np, _STREAM, _SIZE, philox.UniformFloats(float64)),
    "integers": lambda: philox.sample(np, _STREAM, _SIZE, philox.UniformInt(int32, np.int32(3), np.int32(900))),
    "normal": lambda: philox.sample(np, _STREAM, _SIZE, philox.NormalDeviates(float32)),
    "truncated": lambda: philox.truncated_normal(np, _STREAM, _SIZE, float32),
    "truncated, double": lambda: philox.truncated_normal(np, _STREAM, _SIZE, float64),
    "product, rows": lambda: host_products.stacks(_normal(900, 300), _normal(300, 210)),
    "product, columns": lambda: host_products.stacks(_normal(210, 300), _normal(300, 905)),
    "product, transposes": lambda: host_products.stacks(_normal(300, 501).T, _normal(701, 300).T),
    "stack of one": lambda: host_products.stacks(_normal(1, 300, 300), _normal(300, 300)),
    "large stacks": lambda: host_products.stacks(_normal(5, 300, 300), _normal(300, 300)),
    "columns, wide": lambda: host_products.of_columns(_normal(100, 500), _normal(100, 600)),
    "rows, wide": lambda: _written(host_products.by_matrix, _normal(200, 300), _normal(300, 500)),
    "stacks": lambda: host_products.stacks(_normal(90, 128, 64), _normal(90, 64, 128)),
    "stacks, one matrix": lambda: host_products.stacks(_normal(90, 128, 64), _normal(1, 64, 128)),
    "stacks, broadcast": lambda: host_products.stacks(_normal(4, 30, 128, 64), _normal(30, 64, 128)),
    "rows": lambda: _written(host_products.by_matrix, _normal(20_000, 64), _normal(64, 64)),
    "columns": lambda: host_products.of_columns(_normal(40_000, 40), _normal(40_000, 60)),
    **{f"convolution {n}": lambda w=w: conv_numpy.forward(
        _normal(70, 30, 31, 16), _normal(*w.kernel, 16, 32), w, "NHWC") for n, w in enumerate(_WINDOWS)},
    **{f"convolution's input {n}": lambda w=w: conv_numpy.to_input(
        (70, 30, 31, 16), _normal(*w.kernel, 16, 32), _normal(70, *w.out, 32), w, "NHWC")
       for n, w in enumerate(_WINDOWS)},
    "convolution's input, narrow": lambda: conv_numpy.to_input(
        (130, 30, 31, 2), _normal(3, 3, 2, 32), _normal(130, *_WINDOWS[0].out, 32), _WINDOWS[0], "NHWC"),
    "convolution's input, lines": lambda: conv_numpy.to_input(
        (4, 30, 31, 64), _normal(5, 5, 64, 8), _normal(4, *_WINDOWS[2].out, 8), _WINDOWS[2], "NHWC"),
}


def _written(product: Callable[..., None], rows: Any, matrix: Any) -> Any:
    out = np.empty((len(rows), matrix.shape[1]), rows.dtype)
    product(rows, matrix, out)
    return out


@pytest.mark.parametrize("name", _KERNELS)
def test_same_bits(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """With one core, two and five; several of them are used."""
    used: list[int] = []
    whole = cores.spread

    def counted(work: Callable[[int, int], None], count: int, least: int) -> None:
        used.append(min(cores.CORES, count // max(1, least)))
        whole(work, count, least)

    monkeypatch.setattr(philox, "spread", counted)
    monkeypatch.setattr(cores, "spread", counted)
    results = []
    for number in (1, 2, 5):
        monkeypatch.setattr(cores, "CORES", number)
        results.append(np.asarray(_KERNELS[name]()))
    assert max(used) > 1
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


@pytest.mark.parametrize("dtype", [float32, float64])
def test_truncated_one_by_one(dtype: Any) -> None:
    """Each group takes the first of its part of the stream that are small enough."""
    normal = philox.NormalDeviates(dtype)
    stride = normal.width * 64
    got = philox.truncated_normal(np, _STREAM, (2_000 * normal.width,), dtype).reshape(-1, normal.width)
    for group in range(2_000):
        words = philox.host_blocks(_STREAM, np.uint64(group * stride) + np.arange(20, dtype=np.uint64))
        drawn = np.stack(normal.host(*words), 1).reshape(-1)
        assert np.array_equal(got[group], drawn[np.abs(drawn) < 2][: normal.width])
