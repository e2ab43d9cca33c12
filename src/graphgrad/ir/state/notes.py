"""What gradients note of single operations, and the executor asks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Notes:
    """Notes about operations of a graph, by index.

    Attributes:
      recomputed: the mark of its recomputation: it is not merged with operations of another mark.
      early: the index of the operation before which it belongs.
      touched: of backward loops: see `gradients.core.loop_zeros`.
      joints: of recording loops: the joint loop.
      repeating: which pass inputs of an operation on to a repetition of it: see `forward_values.inputs_of_gradient`.
      persistent: which persistent tapes have recorded, of branches.
      arguments: which pass an argument on to a call that is inlined.
      replaced: by the id of a tensor: it, and another one of the same value that runs compute in its place where it is
        fetched (`gradients.rewriting`).
      superseded: the first index, and that after the last, of operations of derivatives that were replaced.
    """

    __slots__ = ("recomputed", "early", "touched", "joints", "repeating", "persistent", "arguments",
                 "replaced", "superseded")

    def __init__(self) -> None:
        self.recomputed: dict[int, int] = {}
        self.early: dict[int, int] = {}
        self.touched: dict[int, tuple[Any, ...]] = {}
        self.joints: dict[int, Any] = {}
        self.repeating: set[int] = set()
        self.persistent: set[int] = set()
        self.arguments: set[int] = set()
        self.replaced: dict[int, tuple[Any, Any]] = {}
        self.superseded: list[tuple[int, int]] = []

    def forget(self, start: int) -> None:
        """Forgets what is noted of operations from an index on, which are gone."""
        for table in (self.recomputed, self.early, self.touched, self.joints):
            for index in [i for i in table if i >= start]:
                del table[index]
        for indices in (self.repeating, self.persistent, self.arguments):
            indices.difference_update([i for i in indices if i >= start])

    def in_order(self, indices: Iterable[int]) -> list[int]:
        """Returns indices in execution order: creation order, except for those that belong before another."""
        early = self.early
        if not early:
            return sorted(indices)
        return sorted(indices, key=self.place)

    def place(self, index: int) -> tuple[float, int]:
        """Returns what sorts the index of an operation in execution order."""
        return (self.early[index] - 0.5, index) if index in self.early else (index, index)
