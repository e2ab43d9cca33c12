"""Which elements of x each element of a tensor depends on.

A pattern is the union of parts. A part refers each element to a row of a table, of which there are two kinds: the
identity on x, and rows of columns. So what moves elements moves numbers of rows, and sums of five neighbours are five
parts, until the columns are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

_LIMIT = 100_000_000  # entries of one table: what is larger is refused
_MANY = 12  # parts, from which on they are merged
Array = Any  # an array of integers


class TooManyEntries(Exception):
    """A table would have more entries than memory is meant for; `op` made it dense."""

    def __init__(self, count: int, op: Any):
        super().__init__(count, op)
        self.count, self.op = count, op


class ColumnTable(NamedTuple):
    """Rows of columns of x.

    Attributes:
      starts: where each row begins among the columns, and the end.
      columns: the columns of all rows, ascending in each.
      width: the number of elements of x.
      op: the operation that made it.
    """

    starts: Array
    columns: Array
    width: int
    op: Any

    def expanded(self, owners: Array, rows: Array) -> tuple[Array, Array]:
        """Returns owner and column of each entry of some rows, the same row any number of times."""
        lengths = (self.starts[1:] - self.starts[:-1])[rows]
        count = int(lengths.sum())
        if count > _LIMIT:
            raise TooManyEntries(count, self.op)
        first = np.repeat(self.starts[rows] - (np.cumsum(lengths) - lengths), lengths)
        return np.repeat(owners, lengths), self.columns[first + np.arange(count)]


class PatternPart(NamedTuple):
    """Attributes: table: None for the identity. rows: for each element a row, -1 for none; None: row 0 for all."""

    table: ColumnTable | None
    rows: Array | None

    def sized(self, size: int) -> Array:
        """Returns the rows of `size` elements."""
        return np.zeros(size, np.int32) if self.rows is None else self.rows


Pattern = tuple[PatternPart, ...]


def identity(size: int) -> Pattern:
    """Returns the pattern of x itself."""
    return (PatternPart(None, np.arange(size, dtype=np.int32)),)


def uniform(patterns: Iterable[Pattern], width: int, op: Any) -> Pattern:
    """Returns the pattern of a tensor whose elements all depend on everything that some patterns contain."""
    found: list[Any] = []
    for pattern in patterns:
        for table, rows in pattern:
            if rows is None and table is not None:
                found.append(table.columns)
                continue
            used = np.unique(rows[rows >= 0])  # type: ignore[index,operator]  # the identity has rows
            found.append(used if table is None else table.expanded(used, used)[1])
    columns = np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
    return (PatternPart(ColumnTable(np.array([0, len(columns)]), columns, width, op), None),) if len(columns) else ()


def union(patterns: Iterable[Pattern], size: int | None, width: int, op: Any) -> Pattern:
    """Returns the union of patterns of the same elements; `size` is their number, None if that is not known."""
    found: list[PatternPart] = []
    for pattern in patterns:
        for part in pattern:
            if not any(_same(part, other) for other in found):
                found.append(part)
    if len(found) > _MANY and size is not None:
        return (PatternPart(merged(found, size, width, op), np.arange(size, dtype=np.int32)),)
    return tuple(found)


def _same(one: PatternPart, other: PatternPart) -> bool:
    if one.table is not other.table:
        return False
    a, b = one.rows, other.rows
    if a is None or b is None or a is b:
        return a is b
    return len(a) == len(b) and np.array_equal(a[:16], b[:16]) and np.array_equal(a, b)


def moved(pattern: Pattern, rows: Array) -> Pattern:
    """Returns the pattern of a tensor whose element i is element rows[i] of the one with `pattern`; -1: a zero."""
    nothing = rows < 0
    some = bool(nothing.any())
    found = []
    for table, old in pattern:
        if old is None:
            new = np.where(nothing, -1, 0).astype(np.int32) if some else None
        else:
            new = old[rows] if len(old) else np.full(len(rows), -1, np.int32)
            if some:
                new[nothing] = -1
        if new is None or bool((new >= 0).any()):
            found.append(PatternPart(table, new))
    return tuple(found)


def grouped(pattern: Pattern, groups: Array, members: Array, count: int, width: int, op: Any) -> ColumnTable:
    """Returns a table with a row for each of `count` groups: the union of what its members depend on.

    Args:
      pattern: that of the members.
      groups, members: pairs of a group and the number of an element.
      count: the number of groups.
      width: the number of elements of x.
      op: the operation that groups.
    """
    keys = []
    for table, old in pattern:
        rows = np.zeros(len(members), np.int32) if old is None else old[members]
        used = rows >= 0
        owners, rows = (groups, rows) if used.all() else (groups[used], rows[used])
        if table is not None:
            pairs = np.unique(owners.astype(np.int64) * (len(table.starts) - 1) + rows)
            owners, rows = table.expanded(*np.divmod(pairs, max(len(table.starts) - 1, 1)))
        keys.append(owners.astype(np.int64) * width + rows)
    return _table(keys, count, width, op)


def merged(parts: Sequence[PatternPart], size: int, width: int, op: Any) -> ColumnTable:
    """Returns the table of all elements of a pattern."""
    if all(p.table is None for p in parts):
        return _neighbours([p.sized(size) for p in parts], size, width, op)
    keys = []
    for table, old in parts:
        rows = np.zeros(size, np.int32) if old is None else old
        owners = np.flatnonzero(rows >= 0)
        rows = rows[owners]
        if table is not None:
            owners, rows = table.expanded(owners, rows)
        keys.append(owners.astype(np.int64) * width + rows)
    total = sum(map(len, keys))
    if total > _LIMIT:
        worst = max((p.table for p in parts if p.table is not None), key=lambda table: len(table.columns))
        raise TooManyEntries(total, worst.op)
    return _table(keys, size, width, op)


def _table(keys: Sequence[Array], count: int, width: int, op: Any) -> ColumnTable:
    """Returns the table of entries given as row * width + column, in any order."""
    together = keys[0] if len(keys) == 1 else np.concatenate(keys) if keys else np.zeros(0, np.int64)
    if len(together) > 1 and not (together[1:] > together[:-1]).all():
        together = np.unique(together)
    owners, columns = np.divmod(together, max(width, 1))
    return ColumnTable(_starts(np.bincount(owners, minlength=count)), columns, width, op)


def _starts(lengths: Array) -> Array:
    return np.concatenate([[0], np.cumsum(lengths)])


def _neighbours(rows: Sequence[Array], size: int, width: int, op: Any) -> ColumnTable:
    """Merges parts of the identity, without a sort of all entries."""
    if not rows:
        return ColumnTable(np.zeros(size + 1, np.int64), np.zeros(0, np.int64), width, op)
    side_by_side = np.stack(rows, 1)
    side_by_side.sort(axis=1)
    keep = side_by_side >= 0
    keep[:, 1:] &= side_by_side[:, 1:] != side_by_side[:, :-1]
    return ColumnTable(_starts(keep.sum(1)), side_by_side[keep], width, op)
