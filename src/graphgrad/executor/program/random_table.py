"""The states of the random operations of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

_MIX = np.uint64(0x9E3779B97F4A7C15)


def is_drawn(op: Any) -> bool:
    """Returns whether the seed of a random operation was drawn, not given; it is then larger than any of a program."""
    return bool(op._attr("seed") >= 2**32)


class RandomState:
    """The state of one operation, which its kernel gets as `rng`.

    Args:
      values: its position and its two seeds, uint64.
      number: its row.
      taken: receives the number of blocks drawn.

    Attributes:
      values: as above. The position is in blocks for an operation of the run itself; in a sub-graph, where the number
        of draws varies, it is how often the operation has run.
      in_blocks: whether it is in blocks.
    """

    __slots__ = ("_number", "_taken", "in_blocks", "values")

    def __init__(self, values: Any, number: int, taken: dict[int, int] | None):
        self.values = values
        self.in_blocks = taken is not None
        self._number, self._taken = number, taken

    def take(self, blocks: int) -> None:
        """Records the number of blocks that a kernel draws."""
        if self._taken is not None:
            self._taken[self._number] = blocks


class RandomTable:
    """The states of the random operations of a run.

    Args:
      rows: row number -> its index in `values`.
      values: uint64 array, (rows, 3): positions and seeds.
      taken: receives the number of blocks that the operations draw, by row number; None in sub-graphs.

    Attributes:
      values, taken: as above.
    """

    def __init__(self, rows: Mapping[int, int], values: Any, taken: dict[int, int] | None):
        self._rows = rows
        self.values = values
        self.taken = taken

    @classmethod
    def of(cls, values: Any) -> RandomTable:
        """Makes the table of a whole run, row by row."""
        return cls({i: i for i in range(len(values))}, values, {})

    def row(self, number: int) -> RandomState:
        """Returns the state of one operation."""
        return RandomState(self.values[self._rows[number]], number, self.taken)

    def inside(self, xp: Any, step: Any) -> RandomTable:
        """Returns the table for a sub-graph; each iteration `step` of a loop draws its own numbers."""
        if step is None:
            return RandomTable(self._rows, self.values, None)
        ahead = xp.asarray(step).astype(np.uint64) * np.uint64(65536)
        counts = (self.values[:, :1] + ahead) * _MIX  # multiplied, so that nested loops differ
        return RandomTable(self._rows, xp.concatenate([counts, self.values[:, 1:]], 1), None)
