"""What a `for` loop of a staged function may go over, besides tensors."""

from __future__ import annotations

from typing import Any, Protocol


class LoopElements(Protocol):
    """The elements of a `LoopSource` in the graph that is being built."""

    def has(self, i: Any) -> Any:
        """Returns whether there is an element `i`, a bool scalar; loops ask for 0, 1, 2, ... in turn."""

    def item(self, i: Any) -> Any:
        """Returns element `i`."""


class LoopSource:
    """The base of values that give a loop in a graph its elements when it runs: data sets, iterators, ragged rows."""

    def _loop_elements(self) -> LoopElements:
        raise NotImplementedError(f"{type(self).__name__}._loop_elements")
