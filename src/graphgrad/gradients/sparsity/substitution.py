"""Hessians by substitution: acyclic colouring takes fewer products than star colouring, and a sum for each entry.

In an acyclic colouring neighbours differ, and any two colours induce a forest. A product with a colour gives sums of
entries; in a tree the entry of a leaf is such a sum by itself, and that of the edge behind it follows by subtraction.
Trees are taken apart from all leaves at once, so an entry is a sum with signs over the smaller part of its tree.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .colouring import Entries
from .two_sided import vertex_orders

Array = Any  # an array of integers
_LONGEST = 64  # products in a sum on average: measured up to there, an error stays at 1e-15 of the largest entry
_MOST = 500_000  # entries: larger matrices are not tried


class Substitution(NamedTuple):
    """How entries follow from products.

    Attributes:
      colours: the colour of each row, -1 for none.
      places: for each term of a sum its place among the products, (colours, width), flat.
      signs: 1 or -1 for each term.
      sums: the number of the sum that each term belongs to, ascending.
      of_entries: for each entry the number of its sum.
    """

    colours: Array
    places: Array
    signs: Array
    sums: Array
    of_entries: Array


def rectangles(found: Substitution, zero: int) -> tuple[list[tuple[Array, Array]], Array]:
    """Arranges the sums by length, so that each kind is a sum over the rows of a matrix: faster than segments.

    Args:
      found: the sums.
      zero: a place that holds zero, for what is added to make rows equally long.
    Returns: pairs of places and signs, (n, length), and for each entry its number among all rows.
    """
    lengths = np.bincount(found.sums)
    starts = np.cumsum(lengths) - lengths
    widths = 1 << np.ceil(np.log2(lengths)).astype(np.int64)  # powers of two: few kinds, at most twice the terms
    pairs, numbers, count = [], np.zeros(len(lengths), np.int64), 0
    for width in np.unique(widths).tolist():
        mine = np.flatnonzero(widths == width)
        within = np.arange(width)[None]
        present = within < lengths[mine][:, None]
        terms = np.where(present, starts[mine][:, None] + within, 0)
        pairs.append((np.where(present, found.places[terms], zero), np.where(present, found.signs[terms], 1)))
        numbers[mine] = count + np.arange(len(mine))
        count += len(mine)
    return pairs, numbers[found.of_entries]


def substitution(entries: Entries, grid: Sequence[int] = ()) -> Substitution | None:
    """Finds an acyclic colouring of a symmetric matrix, and how its entries follow; None if the sums would be long.

    Args:
      entries: the matrix.
      grid: the shape in which the columns lie, for patterns that repeat.
    """
    if len(entries.rows) > _MOST:
        return None
    size = entries.shape[0]
    near: list[list[int]] = [[] for _ in range(size)]
    for i, j in zip(entries.rows.tolist(), entries.columns.tolist(), strict=True):
        if i != j:
            near[i].append(j)
    used = np.zeros(size, bool)
    used[entries.rows] = True
    lengths = np.bincount(entries.rows, minlength=size)
    best = None
    for order in vertex_orders(near, lengths):
        colours = _acyclic(near, [j for j in order if used[j]], size)
        if best is None or max(colours, default=0) < max(best.colours, default=0):
            best = _taken_apart(entries, near, colours) or best
    return _on_lattice(entries, near, grid, best) or best


def _on_lattice(entries: Entries, near: list[list[int]], grid: Sequence[int],
                best: Substitution | None) -> Substitution | None:
    """Returns the substitution of colours (a i + b j + ...) modulo a number, if that takes fewer than `best`.

    By them the d-dimensional grid of nearest neighbours has d + 1 colours, the least that there can be.
    """
    sizes = [n for n in grid if n > 1]
    width = entries.shape[0]
    if not 2 <= len(sizes) <= 3 or np.prod(sizes) != width or len(entries.rows) > _MOST // 10:
        return None
    places = np.stack(np.unravel_index(np.arange(width), sizes))
    off = entries.rows != entries.columns
    apart = np.unique(places[:, entries.columns[off]] - places[:, entries.rows[off]], axis=1)
    most = 6 if best is None else int(best.colours.max(initial=-1))
    for count in range(2, min(most, 6) + 1):
        for factors in itertools.product(range(count), repeat=len(sizes)):
            if (np.array(factors) @ apart % count).all():
                found = _taken_apart(entries, near, (np.array(factors) @ places % count).tolist())
                if found is not None:
                    return found
    return None


def _acyclic(near: list[list[int]], order: list[int], size: int) -> list[int]:
    """Colours greedily (Gebremedhin, Tarafdar, Pothen and Walther 2009, algorithm 3.1, with a forest of edges)."""
    colours = [-1] * size
    trees: dict[tuple[int, int], tuple[int, int]] = {}  # an edge -> one that is nearer to the root of its tree

    def root(edge: tuple[int, int]) -> tuple[int, int]:
        while trees[edge] != edge:
            trees[edge] = trees[trees[edge]]
            edge = trees[edge]
        return edge

    for v in order:
        forbidden: set[int] = set()
        came_by: dict[tuple[int, int], int] = {}  # a tree -> the neighbour at which it was met
        for w in near[v]:
            if colours[w] < 0:
                continue
            forbidden.add(colours[w])
            for x in near[w]:  # a tree with two neighbours of v would become a cycle
                if x != v and colours[x] >= 0 and came_by.setdefault(root(_edge(w, x)), w) != w:
                    forbidden.add(colours[x])
        c = 0
        while c in forbidden:
            c += 1
        colours[v] = c
        by_colour: dict[int, tuple[int, int]] = {}
        for w in near[v]:
            if colours[w] < 0:
                continue
            edge = _edge(v, w)
            trees[edge] = edge
            trees[edge] = root(by_colour.setdefault(colours[w], edge))
            for x in near[w]:
                if x != v and colours[x] == c:
                    trees[root(_edge(w, x))] = root(edge)
    return colours


def _edge(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _taken_apart(entries: Entries, near: list[list[int]], colours: list[int]) -> Substitution | None:
    """Takes the trees apart; None if some are none, or the sums would be long."""
    size = entries.shape[0]
    left: dict[tuple[int, int], set[int]] = {}  # of a vertex and a colour, the neighbours of that colour that are left
    for v, its in enumerate(near):
        for w in its:
            left.setdefault((v, colours[w]), set()).add(w)
    sums: dict[tuple[int, int], list[tuple[int, int]]] = {}
    known: dict[tuple[int, int], list[tuple[int, int]]] = {}  # of such a pair, what has been found of its product
    waiting, budget = [n for n, its in left.items() if len(its) == 1], _LONGEST * max(len(entries.rows), 1)
    while waiting:
        following = []
        for v, c in waiting:
            if len(left[v, c]) != 1:  # its tree has been taken apart from the other side
                continue
            (w,) = left[v, c]
            terms = [(c * size + v, 1), *((place, -sign) for place, sign in known.get((v, c), ()))]
            budget -= len(terms)
            if budget < 0:
                return None
            sums[_edge(v, w)] = terms
            left[v, c].clear()
            other = (w, colours[v])
            left[other].discard(v)
            known.setdefault(other, []).extend(terms)
            if len(left[other]) == 1:
                following.append(other)
        waiting = following
    if any(left.values()):
        return None
    for v in entries.rows[entries.rows == entries.columns].tolist():
        sums[v, v] = [(colours[v] * size + v, 1)]
    numbers = {edge: i for i, edge in enumerate(sums)}
    flat = np.array([term for terms in sums.values() for term in terms], np.int64).reshape(-1, 2)
    which = np.repeat(np.arange(len(sums)), [len(terms) for terms in sums.values()])
    of_entries = [numbers[_edge(i, j)] for i, j in zip(entries.rows.tolist(), entries.columns.tolist(), strict=True)]
    return Substitution(np.array(colours), flat[:, 0], flat[:, 1], which, np.array(of_entries, np.int64))
