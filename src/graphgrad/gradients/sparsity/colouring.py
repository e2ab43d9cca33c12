"""Colours columns so that those of one colour have no row in common: one product gives them all.

Greedy colouring visits columns in some order and takes the smallest colour that no row of theirs has. What a row has is
one integer with a bit for each colour, so that a column costs as many steps as it has entries.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = Any  # an array of integers
THOROUGH = 50_000  # entries, up to which several orders are tried
_LATTICE = 16  # the largest number of colours that lattices are tried for


class Entries(NamedTuple):
    """The places of the entries of a matrix, by rows.

    Attributes:
      rows, columns: of each entry.
      shape: the numbers of rows and columns.
    """

    rows: Array
    columns: Array
    shape: tuple[int, int]

    @property
    def transposed(self) -> Entries:
        """The entries of the transposed matrix."""
        order = np.lexsort((self.rows, self.columns))
        return Entries(self.columns[order], self.rows[order], self.shape[::-1])

    def where(self, chosen: Array) -> Entries:
        """Returns the entries for which `chosen` is true."""
        return Entries(self.rows[chosen], self.columns[chosen], self.shape)


def alone(entries: Entries, colours: Array) -> Array:
    """Returns for each entry whether its column has a colour that no other column of its row has."""
    if not len(entries.rows):
        return np.zeros(0, bool)
    count = int(colours.max(initial=0)) + 2
    mine = colours[entries.columns]
    keys = entries.rows * count + mine + 1
    if entries.shape[0] * count <= 8 * len(keys) + 1_000_000:  # counted without sorting
        once = np.bincount(keys)[keys] == 1
    else:
        _, place, frequency = np.unique(keys, return_inverse=True, return_counts=True)
        once = frequency[place] == 1
    result: Array = once & (mine >= 0)
    return result


def column_colours(entries: Entries, grid: Sequence[int] = ()) -> Array:
    """Returns a colour for each column, -1 for those without entries.

    Args:
      entries: the matrix.
      grid: the shape in which the columns lie, for patterns that repeat.
    """
    rows, columns, (height, width) = entries
    lengths = np.bincount(rows, minlength=height)
    least = int(lengths.max(initial=0))
    lattice = _lattice(entries, grid, least)
    if lattice is not None and lattice.max(initial=-1) + 1 == least:
        return lattice
    if lattice is not None and len(rows) > THOROUGH:
        return lattice
    best = lattice
    rows_of = _lists(columns, rows, width)
    for order in _orders(entries, rows_of, len(rows) <= THOROUGH):
        found = _greedy(order, rows_of, height, width)
        if best is None or found.max(initial=-1) < best.max(initial=-1):
            best = found
        if best.max(initial=-1) + 1 == least:
            break
    assert best is not None
    return best


def _lists(keys: Array, values: Array, count: int) -> list[list[int]]:
    """Returns the values of each key, as lists."""
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(np.bincount(keys, minlength=count)).tolist()
    flat = values[order].tolist()
    return [flat[start:end] for start, end in itertools.pairwise([0, *ends])]


def _greedy(order: Iterable[int], rows_of: list[list[int]], height: int, width: int) -> Array:
    taken = [0] * height
    colours = [-1] * width
    for j in order:
        mine = rows_of[j]
        if not mine:
            continue
        seen = 0
        for i in mine:
            seen |= taken[i]
        bit = ~seen & (seen + 1)
        colours[j] = bit.bit_length() - 1
        for i in mine:
            taken[i] |= bit
    return np.array(colours, np.int64)


def _orders(entries: Entries, rows_of: list[list[int]], thorough: bool) -> Iterable[Iterable[int]]:
    """Yields orders of the columns."""
    rows, columns, (height, width) = entries
    yield range(width)
    lengths = np.bincount(rows, minlength=height)
    weight = np.bincount(columns, lengths[rows], minlength=width)  # about how many neighbours
    yield np.argsort(-weight, kind="stable").tolist()
    if thorough and (lengths.astype(np.int64) ** 2).sum() < 40 * THOROUGH:
        neighbours = _neighbours(entries, rows_of)
        yield smallest_last(neighbours)
        yield incidence(neighbours)
        generator = np.random.default_rng(0)
        for _ in range(3):
            yield generator.permutation(width).tolist()


def _neighbours(entries: Entries, rows_of: list[list[int]]) -> list[set[int]]:
    """Returns for each column those with which it has a row in common."""
    columns_of = _lists(entries.rows, entries.columns, entries.shape[0])
    found = []
    for j, mine in enumerate(rows_of):
        near = set().union(*[columns_of[i] for i in mine])
        near.discard(j)
        found.append(near)
    return found


def smallest_last(neighbours: list[set[int]]) -> list[int]:
    """Removes a column with the fewest neighbours left, again and again; the order is that from the last one."""
    degrees = [len(n) for n in neighbours]
    buckets: list[dict[int, None]] = [{} for _ in range(max(degrees, default=0) + 1)]
    for j, d in enumerate(degrees):
        buckets[d][j] = None
    found, low = [], 0
    gone = [False] * len(neighbours)
    for _ in neighbours:
        while not buckets[low]:
            low += 1
        j, _none = buckets[low].popitem()
        gone[j] = True
        found.append(j)
        for k in neighbours[j]:
            if not gone[k]:
                del buckets[degrees[k]][k]
                degrees[k] -= 1
                buckets[degrees[k]][k] = None
        low = max(low - 1, 0)
    return found[::-1]


def incidence(neighbours: list[set[int]]) -> list[int]:
    """Chooses a column with the most neighbours chosen before, again and again."""
    degrees = [0] * len(neighbours)
    buckets: list[dict[int, None]] = [dict.fromkeys(range(len(neighbours)))]
    buckets += [{} for _ in range(max((len(n) for n in neighbours), default=0) + 1)]
    found, high = [], 0
    chosen = [False] * len(neighbours)
    for _ in neighbours:
        while not buckets[high]:
            high -= 1
        j, _none = buckets[high].popitem()
        chosen[j] = True
        found.append(j)
        for k in neighbours[j]:
            if not chosen[k]:
                del buckets[degrees[k]][k]
                degrees[k] += 1
                buckets[degrees[k]][k] = None
                high = max(high, degrees[k])
    return found


def _lattice(entries: Entries, grid: Sequence[int], least: int) -> Array | None:
    """Returns colours (a i + b j + ...) modulo a number for columns that lie in a grid, the fewest that will do.

    Stencils have them, on grids of any size at once where they do not wrap around.
    """
    sizes = [n for n in grid if n > 1]
    rows, columns, (_, width) = entries
    if not 1 <= len(sizes) <= 3 or np.prod(sizes) != width or least > _LATTICE or not len(rows):
        return None
    differences = _differences(entries, sizes)
    if differences is None:
        return None
    places = np.stack(np.unravel_index(np.arange(width), sizes))
    for count in range(max(least, 1), _LATTICE + 1):
        for factors in itertools.product(range(count), repeat=len(sizes)):
            if (differences @ np.array(factors) % count).all():
                colours = np.array(factors) @ places % count
                if alone(entries, colours).all():
                    colours[np.bincount(columns, minlength=width) == 0] = -1
                    return colours
    return None


def _differences(entries: Entries, sizes: Sequence[int]) -> Array | None:
    """Returns by what columns of one row may differ; None if that is no stencil."""
    rows, columns, (height, _) = entries
    most = int(np.bincount(rows, minlength=height).max(initial=0))
    # A place as one number in which differences, too, have room: that of a difference is the difference of numbers.
    doubled = [2 * n for n in sizes]
    codes: Array = np.ravel_multi_index(np.unravel_index(columns, sizes), doubled)
    middle = int(np.ravel_multi_index(tuple(sizes), doubled))
    found = []
    for shift in range(1, most):
        same = rows[shift:] == rows[:-shift]
        found.append(_distinct((codes[shift:] - codes[:-shift])[same] + middle, math.prod(doubled)))
        if sum(map(len, found)) > 400:
            return None
    if not found:
        return np.zeros((0, len(sizes)), np.int64)
    distinct = np.unique(np.concatenate(found))
    return np.stack(np.unravel_index(distinct, doubled), 1) - np.array(sizes)


def _distinct(numbers: Array, count: int) -> Array:
    """Returns the different ones among numbers below `count`, in order."""
    if count > 8 * len(numbers) + 1_000_000:
        return np.unique(numbers)
    seen = np.zeros(count, bool)
    seen[numbers] = True
    return np.flatnonzero(seen)
