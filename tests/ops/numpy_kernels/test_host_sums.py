"""Sums over axes in NumPy along long loops: of the same numbers as NumPy's own, and as exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.ops.common import host_sums
from graphgrad.ops.common.host_sums import sum_over
from tests.support.table import generator

_LONGEST = {1: 20_000, 2: 200, 3: 40, 4: 16}  # sizes by rank


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "c8"])
@pytest.mark.parametrize("seed", range(8))
def test_sums_over_axes(dtype: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compared with sums in twice the precision: at most a few units of what is added up."""
    rng = generator(f"host sums {dtype} {seed}")
    for _ in range(40):
        monkeypatch.setattr(host_sums, "_LEAST", int(rng.choice([1, 1 << 12])))
        rank = int(rng.integers(1, 5))
        shape = [1 if rng.random() < 0.2 else int(n) for n in rng.integers(1, _LONGEST[rank], rank)]
        axes = tuple(int(a) - rank * int(rng.integers(2)) for a in rng.permutation(rank)[: rng.integers(1, rank + 1)])
        x = (10 * rng.standard_normal(shape)).astype(dtype)
        if rng.random() < 0.2:
            x = np.asfortranarray(x)
        keepdims = bool(rng.integers(2))
        result = sum_over(np, x, axes, keepdims)
        wide = x.astype(np.clongdouble if dtype == "c8" else np.longdouble)
        expected, added = (np.sum(a, axes, keepdims=keepdims) for a in (wide, np.abs(wide)))
        assert result.dtype == x.dtype and result.shape == expected.shape
        assert type(result) is type(np.sum(x, axes, dtype=dtype, keepdims=keepdims))
        close = {"f8": 1e-14, "f2": 0.02, "i4": 0.0}.get(dtype, 2e-6) * added
        assert np.all(np.abs(result - expected) <= close), (shape, axes)


@pytest.mark.parametrize(("shape", "axes"), [((300, 50), 1), ((3, 9_000), 1), ((20_000,), 0), ((5_000, 3), 0),
                                             ((4, 700, 5), 1), ((9, 30, 40), (1, 2)), ((50, 40, 9), (0, 1))])
def test_what_is_added_up(shape: tuple[int, ...], axes: Any) -> None:
    """Each number once: powers of two, one of each at random places, leave no other sum possible."""
    rng = generator(f"what is added up {shape}")
    for _ in range(10):
        x = np.zeros(shape)
        x.reshape(-1)[rng.choice(x.size, 40, replace=False)] = 2.0 ** np.arange(40)
        assert np.array_equal(sum_over(np, x, axes), np.sum(x, axes))
        x.reshape(-1)[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -np.inf])
        assert np.array_equal(sum_over(np, x, axes), np.sum(x, axes), equal_nan=True)


def test_an_array_at_another_address_gives_the_same_bits() -> None:
    rng = generator("addresses")
    for shape, axes in (((300, 37), 1), ((3, 9_001), 1), ((2_000, 7), 0), ((3, 700, 5), 1)):
        for dtype in (np.float32, np.float64):
            x = rng.standard_normal(shape).astype(dtype)
            memory = np.empty(x.size + 16, dtype)
            for start in range(1, 17):
                moved = memory[start : start + x.size].reshape(shape)
                moved[...] = x
                assert sum_over(np, moved, axes).tobytes() == sum_over(np, x, axes).tobytes()


def test_axes_that_do_not_exist_are_refused_as_before() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="reduction"):
        tf.reduce_sum(np.ones((100, 100), np.float32), 2)
