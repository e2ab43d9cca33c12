"""Where random operations continue in their streams of numbers, from run to run."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping

import numpy as np

from graphgrad.executor.program.plan_types import Plan
from graphgrad.executor.program.random_table import RandomTable, is_drawn
from graphgrad.ir.graph import Operation
from graphgrad.ir.state.seeding import times_set

_lock = threading.Condition()
# Seconds that a run waits for the first run of the same operation in another thread, which may have to compile; little
# where that run may itself come to wait for this one.
_PATIENCE, _LITTLE_PATIENCE = 120.0, 1.0
_APART = 2**40  # blocks between runs that do not wait for each other


class RandomPositions:
    """The positions of random operations: of a session, or of a function.

    The position of an operation is the number of blocks that its runs have drawn, as in TensorFlow, where runs may draw
    different numbers of them; that of an operation in a sub-graph is the number of its runs.

    Args:
      of_function: whether all begin anew when eager mode's seed is set.

    Attributes:
      latest: the positions at which the latest runs began.
    """

    def __init__(self, of_function: bool = False) -> None:
        self._of_function, self._seeded = of_function, times_set()
        self._next: dict[Operation, int] = {}
        self._usual: dict[Operation, int] = {}  # how many blocks the latest run of an operation has drawn
        self._first: dict[Operation, float] = {}  # operations in their first run, and how long others wait for it
        self.latest: dict[Operation, int] = {}

    def set(self, positions: Mapping[Operation, int]) -> None:
        """Lets the next runs begin at given positions.

        Args:
          positions: those positions; other operations begin anew.
        """
        with _lock:
            self._next = dict(positions)

    def start(self, plan: Plan, begun: dict[Operation, int], reserved: dict[Operation, int],
              advance: bool) -> RandomTable:
        """Begins a run: reserves as many blocks as the latest one has drawn, so that runs in other threads draw others.

        The first run of an operation does not know; others wait for it, unless it may wait for them.

        Args:
          plan: the plan.
          begun: the positions at which the run begins; missing ones are added.
          reserved: receives the reserved blocks.
          advance: whether later runs continue after this one.
        Returns: the table for the run.
        """
        with _lock:
            if self._of_function and self._seeded != times_set():
                self._next, self._seeded = {}, times_set()
            if self._first:  # its own are there where the run begins again, with another plan
                others = self._first.keys() & (set(plan.random_ops) - begun.keys())
                patience = min((self._first[op] for op in others), default=0.0)
                if begun:
                    patience = min(patience, _LITTLE_PATIENCE)
                _lock.wait_for(lambda: others.isdisjoint(self._first), patience)
            for row, op in enumerate(plan.random_ops):
                if op not in begun:
                    position = self._next.get(op)
                    begun[op] = position = _first(op) if position is None else position
                    self.latest[op] = position
                    if advance:
                        known = 1 if row in plan.nested_rows else self._usual.get(op)
                        if known is None:
                            self._first[op] = _LITTLE_PATIENCE if plan.waits or plan.last_act else _PATIENCE
                        reserved[op] = _APART if known is None else known
                        self._next[op] = position + reserved[op]
        return RandomTable.of(np.array([[begun[op] % 2**64, *_seeds(op)] for op in plan.random_ops], np.uint64))

    def _over(self, operations: Iterable[Operation]) -> None:
        if self._first:
            for op in operations:
                self._first.pop(op, None)
            _lock.notify_all()

    def finish(self, plan: Plan, table: RandomTable, begun: Mapping[Operation, int],
               reserved: Mapping[Operation, int]) -> None:
        """Ends a run that succeeded: what it has drawn takes the place of what was reserved.

        Args:
          plan: the plan.
          table: the run's table.
          begun: the positions at which it began.
          reserved: the reserved blocks.
        """
        assert table.taken is not None
        with _lock:
            for row, op in enumerate(plan.random_ops):
                if op in reserved and row not in plan.nested_rows:
                    drawn = self._usual[op] = table.taken.get(row, 0)
                    if self._next.get(op) == begun[op] + reserved[op]:
                        self._next[op] = begun[op] + drawn
            self._over(reserved)

    def give_back(self, begun: Mapping[Operation, int], reserved: Mapping[Operation, int]) -> None:
        """Undoes the reservations of a failed run, unless others have reserved since.

        Args:
          begun: the positions at which it began.
          reserved: the reserved blocks.
        """
        with _lock:
            for op, blocks in reserved.items():
                if self._next.get(op) == begun[op] + blocks:
                    self._next[op] = begun[op]
            self._over(reserved)

    def set_back(self, plan: Plan) -> None:
        """Lets the next run of a plan draw the numbers of its latest run.

        Args:
          plan: the plan.
        """
        with _lock:
            self._next.update({op: self.latest[op] for op in plan.random_ops})


def _first(op: Operation) -> int:
    """Returns where an operation begins: unseeded ones at a random position."""
    return int.from_bytes(os.urandom(7), "little") if is_drawn(op) else 0


def _seeds(op: Operation) -> tuple[int, int]:
    attrs = op.opdef.attrs
    # Silenced: of two keys.
    return tuple(int(op._attr(k)) % 2**64 if k in attrs else 0 for k in ("seed", "seed2"))  # type: ignore[return-value]
