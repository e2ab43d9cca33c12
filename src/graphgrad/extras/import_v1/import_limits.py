"""Limits of graphs that are read: how large they may become, and the errors of those that are invalid."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from graphgrad.errors import Complaint
from graphgrad.ir.source import user_source


class _Invalid(Exception):
    """An error that no other way of reading the graph avoids."""


_FIX = "Fix: use another copy of the graph"


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """Converts any error of an invalid graph to a ValueError."""
    try:
        yield
    except (_Invalid, RecursionError) as e:
        problem = "functions or loops are nested too deeply" if isinstance(e, RecursionError) else e
        raise ValueError(f"graph_def is invalid: {problem}\n  Asked for at {user_source(3)}\n  {_FIX}") from None
    except TypeError as e:
        raise ValueError(f"graph_def is invalid, or input_map does not fit it: {e}\n  Asked for at {user_source(3)}"
                         ) from e
    except (LookupError, AttributeError, ArithmeticError, AssertionError, Complaint) as e:
        raise ValueError(f"graph_def is invalid: {type(e).__name__}: {e}\n  Asked for at {user_source(3)}\n"
                         f"  {_FIX}") from e


class SizeLimit:
    """A limit of the operations that a graph becomes at run time: functions that call each other twice double it.

    Args:
      graph_def: the graph.
    """

    def __init__(self, graph_def: Any):
        nodes = len(graph_def.node) + sum(len(f.node_def) for f in graph_def.library.function)
        self.most = 2_000 + 100 * nodes
        self.counts = [0]  # of the graph, and of the nested functions that are being read
        self.sizes: dict[str, int] = {}  # of functions that have been read
        self.calls: list[str] = []

    def add(self, count: int = 1) -> None:
        """Counts operations."""
        self.counts[-1] += count
        if self.counts[-1] > self.most:
            raise _Invalid(f"its functions call each other so often that it becomes more than {self.most} operations")

    @contextlib.contextmanager
    def within(self, function: str) -> Iterator[None]:
        """Reads a function; raises an error if it contains itself."""
        if function in self.calls:
            raise _Invalid(f"the function {function!r} calls itself")
        self.calls.append(function)
        self.counts.append(0)
        yield
        self.calls.pop()
        self.sizes[function] = self.counts.pop()

    def called(self, function: str) -> None:
        """Counts the operations of a function that has been read."""
        self.add(self.sizes[function])
