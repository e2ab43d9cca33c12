"""Finds repeated runs in a sequence of operations or groups, such as the layers of a net that has no name scopes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

_LONGEST = 512  # items of one repetition
_LEAST = 4  # items that are worth folding


class Stretch(NamedTuple):
    """A part of a sequence that repeats: `period` items, `times` over, from `start` on."""

    start: int
    period: int
    times: int

    @property
    def stop(self) -> int:
        """The index after the last item."""
        return self.start + self.period * self.times


def numbered(forms: Sequence[Hashable]) -> np.ndarray:
    """Returns a number for each form; equal forms have equal numbers."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(form, len(numbers)) for form in forms], np.int64)


def runs_in(numbers: np.ndarray) -> list[Stretch]:
    """Finds runs that do not overlap, in their order: the longest first, then what is left on both of its sides.

    Args:
      numbers: the forms of the items, as `numbered` gives them.
    """
    found: list[Stretch] = []
    waiting = [(0, len(numbers))]
    while waiting:
        start, stop = waiting.pop()
        run = _longest(numbers[start:stop])
        if run is not None:
            run = run._replace(start=run.start + start)
            found.append(run)
            waiting += [(start, run.start), (run.stop, stop)]
    return sorted(found)


def _longest(numbers: np.ndarray) -> Stretch | None:
    """Returns the run that covers most items; of several the one with the shortest period."""
    best: Stretch | None = None
    for period in range(1, min(len(numbers) // 2, _LONGEST) + 1):
        same = numbers[:-period] == numbers[period:]
        if np.count_nonzero(same) < period:
            continue
        edges = np.flatnonzero(np.diff(np.concatenate(([0], same.view(np.int8), [0]))))
        lengths = edges[1::2] - edges[::2]
        at = int(np.argmax(lengths))
        count = (int(lengths[at]) + period) // period
        if count < 2 or count * period < _LEAST:
            continue
        if best is None or count * period > best.times * best.period:
            best = Stretch(int(edges[2 * at]), period, count)
    return best
