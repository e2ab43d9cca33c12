"""Colourings by themselves: what large matrices take is right, and few products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphgrad.gradients.sparsity import compressed
from graphgrad.gradients.sparsity.colouring import Entries, _differences, alone, column_colours


def _entries(mask: Any) -> Entries:
    rows, columns = np.nonzero(mask)
    return Entries(rows, columns, mask.shape)


def _arrowhead(n: int) -> Any:
    mask = np.eye(n, dtype=bool)
    mask[0], mask[:, 0] = True, True
    return mask


def _ring(n: int, width: int) -> Any:
    return sum((np.roll(np.eye(n), k, 1) for k in range(width)), np.zeros((n, n))) > 0


@pytest.mark.parametrize("seed", range(6))
def test_alone(seed):
    """Against its definition, for matrices of few and of many colours: both ways to count."""
    rng = np.random.default_rng(seed)
    mask = rng.random((30, 40)) < 0.2
    colours = rng.integers(-1, 5 if seed % 2 else 100_000, 40)
    found = alone(_entries(mask), colours)
    expected = [colours[j] >= 0 and sum(mask[i, k] and colours[k] == colours[j] for k in range(40)) == 1
                for i, j in zip(*np.nonzero(mask), strict=True)]
    assert found.tolist() == expected


def test_differences_of_places():
    """Against all pairs of entries of one row."""
    sizes, rng = (4, 5), np.random.default_rng(0)
    mask = rng.random((6, 20)) < 0.15
    expected = set()
    for row in mask:
        places = [np.array(np.unravel_index(j, sizes)) for j in np.flatnonzero(row)]
        expected |= {tuple((b - a).tolist()) for i, a in enumerate(places) for b in places[i + 1 :]}
    found = _differences(_entries(mask), sizes)
    assert found is not None
    assert set(map(tuple, found.tolist())) == expected


@pytest.mark.parametrize(("mask", "least"), [(_ring(31, 5), 5), (_ring(35, 5), 5), (_arrowhead(40), 3),
                                             (_arrowhead(60)[::-1], 3), (np.eye(9) > 0, 1)])
def test_large_matrices_take_at_most_one_product_more(mask, least, monkeypatch):
    entries = _entries(mask)
    exact = sum(compressed.plan(entries, mask.shape[1:], mask.shape[:1], True).products)
    monkeypatch.setattr(compressed, "_LARGE", 0)
    chosen = compressed.plan(entries, mask.shape[1:], mask.shape[:1], True)
    compressed.checked(chosen, entries)
    assert least <= exact <= sum(chosen.products) <= exact + 1
    assert sum(chosen.products) <= least + 1


def test_colours_of_columns_separate_them():
    for mask in (_ring(23, 4), np.random.default_rng(1).random((25, 25)) < 0.1):
        entries = _entries(mask)
        assert alone(entries, column_colours(entries)).all()
