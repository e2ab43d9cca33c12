"""Colourings that use rows and columns, or the symmetry of a Hessian."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .colouring import THOROUGH, Entries, alone, column_colours, incidence, smallest_last

Array = Any  # an array of integers


def two_sided(entries: Entries, least: int) -> tuple[Any, Any]:
    """Colours rows and columns so that each entry is alone in its row or in its column, in fewer colours than `least`.

    The rows with the most entries get products of their own kind, and the columns are coloured without them; or the
    other way round.

    Returns: the colours of columns and of rows, -1 for none; (None, None) if none are fewer.
    """
    found = _dense_rows_apart(entries, least)
    flipped = _dense_rows_apart(entries.transposed, least if found is None else found[2])
    if flipped is not None:
        return flipped[1], flipped[0]
    return (None, None) if found is None else found[:2]


def _dense_rows_apart(entries: Entries, least: int) -> tuple[Array, Array, int] | None:
    """Returns the colours of columns, of rows, and how many there are together, fewer than `least`; or None."""
    lengths = np.bincount(entries.rows, minlength=entries.shape[0])
    order = np.argsort(-lengths, kind="stable")
    best = None
    for count in _counts(lengths[order], least):
        apart = np.zeros(entries.shape[0], bool)
        apart[order[:count]] = True
        inside = apart[entries.rows]
        rows = column_colours(entries.where(inside).transposed)
        used = int(rows.max(initial=-1)) + 1
        below = int(lengths[order[count]]) if count < len(order) else 0
        if used + below >= least:
            continue
        columns = column_colours(entries.where(~inside))
        total = used + int(columns.max(initial=-1)) + 1
        if total < least:
            best, least = (columns, rows, total), total
    return best


def _counts(lengths: Array, least: int) -> list[int]:
    """Returns how many rows to try apart: where the lengths, which descend, fall."""
    falls = np.flatnonzero(lengths[:-1] > lengths[1:]) + 1
    return [int(n) for n in falls[:8] if n < least or n <= 64]


def star_colours(entries: Entries, shape: Any) -> Array:
    """Colours the rows of a symmetric matrix so that of each entry and its mirror image one is alone.

    A greedy star colouring: neighbours differ, and no path of four has two colours only. Columns are visited in several
    orders; what is found is compared with a colouring that does without symmetry.
    """
    height = entries.shape[0]
    off = entries.rows != entries.columns
    near: list[list[int]] = [[] for _ in range(height)]
    for i, j in zip(entries.rows[off].tolist(), entries.columns[off].tolist(), strict=True):
        near[i].append(j)
    used = np.zeros(height, bool)
    used[entries.rows] = True
    lengths = np.bincount(entries.rows, minlength=height)
    best = None
    if lengths.max(initial=0) ** 2 * height < 50_000_000:
        best = column_colours(entries, shape)
    for order in vertex_orders(near, lengths) if len(entries.rows) < 2_000_000 else []:
        found = np.array(_star(near, [j for j in order if used[j]], height))
        separated = separates_symmetric(entries, found)
        if separated and (best is None or found.max(initial=-1) < best.max(initial=-1)):
            best = found
    if best is None:
        best = column_colours(entries, shape)
    return best


def vertex_orders(near: list[list[int]], lengths: Array) -> Iterator[list[int]]:
    """Yields orders in which vertices are coloured: as they are, by degree, and for small graphs two more."""
    yield list(range(len(near)))
    yield np.argsort(-lengths, kind="stable").tolist()
    if sum(map(len, near)) <= THOROUGH:
        neighbours = [set(its) for its in near]
        yield smallest_last(neighbours)
        yield incidence(neighbours)


def separates_symmetric(entries: Entries, colours: Array) -> bool:
    """Returns whether for each entry it or its mirror image is alone in its row with the colour of its column."""
    here = alone(entries, colours)
    flipped = alone(Entries(entries.columns, entries.rows, entries.shape), colours)
    return bool((here | flipped).all())


def _star(near: list[list[int]], order: list[int], count: int) -> list[int]:
    """Colours greedily (Gebremedhin, Tarafdar, Manne and Pothen 2007, algorithm 4.1, with the hubs of stars).

    A star is a hub and its neighbours of one colour; a vertex may join it only if it is the hub's neighbour.
    """
    colours = [-1] * count
    hubs: dict[tuple[int, int], int] = {}  # an edge -> the hub of its star; -1 if both ends may become it
    for v in order:
        forbidden: set[int] = set()
        first: dict[int, int] = {}  # colour -> the first neighbour with it
        for w in near[v]:
            c = colours[w]
            if c < 0:
                continue
            forbidden.add(c)
            if c in first:  # v will be the hub of a star of that colour: no other neighbour of theirs may share v's
                for u in (first[c], w):
                    forbidden.update(colours[t] for t in near[u] if t != v and colours[t] >= 0)
            else:
                first[c] = w
        for w in near[v]:
            if colours[w] < 0:
                continue
            for t in near[w]:
                if t == v or colours[t] < 0:
                    continue
                # v, w, t: v may share t's colour if w is the hub of the star of that edge, or becomes it.
                hub = hubs[(w, t) if w < t else (t, w)]
                if hub not in (-1, w) or (hub == -1 and _is_end_of_another(near, colours, t, w)):
                    forbidden.add(colours[t])
        c = 0
        while c in forbidden:
            c += 1
        colours[v] = c
        _join(near, colours, hubs, v)
    return colours


def _is_end_of_another(near: list[list[int]], colours: list[int], t: int, w: int) -> bool:
    return any(u != w and colours[u] == colours[w] for u in near[t])


def _join(near: list[list[int]], colours: list[int], hubs: dict[tuple[int, int], int], v: int) -> None:
    """Notes the stars of the edges of a vertex that has just got its colour."""
    by_colour: dict[int, list[int]] = {}
    for w in near[v]:
        if colours[w] >= 0:
            by_colour.setdefault(colours[w], []).append(w)
    for same in by_colour.values():
        for w in same:
            key = (w, v) if w < v else (v, w)
            others = [t for t in near[w] if t != v and colours[t] == colours[v]]
            hubs[key] = v if len(same) > 1 else w if others else -1
            for t in others:
                hubs[(w, t) if w < t else (t, w)] = w
