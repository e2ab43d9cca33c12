"""The states of a run's random operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

_MIX = np.uint64(0x9E3779B97F4A7C15)


class RandomTable:
    """Random states: for each random operation its run count and its two seeds.

    Args:
      rows: row number -> its index in `values`.
      values: uint64 array, (rows, 3).
    """

    def __init__(self, rows: Mapping[int, int], values: Any):
        self._rows = rows
        self._values = values

    @classmethod
    def of(cls, values: Any) -> RandomTable | None:
        """Makes the table of a whole run, row by row; None for None."""
        return None if values is None else cls({i: i for i in range(len(values))}, values)

    def row(self, number: int) -> Any:
        """Returns the state of one operation."""
        return self._values[self._rows[number]]

    def further(self, xp: Any, step: Any) -> RandomTable:
        """Returns the table for an iteration of a loop, which draws its own numbers."""
        ahead = xp.asarray(step).astype(np.uint64) * np.uint64(65536)
        counts = (self._values[:, :1] + ahead) * _MIX  # multiplied, so that nested loops differ
        return RandomTable(self._rows, xp.concatenate([counts, self._values[:, 1:]], 1))
