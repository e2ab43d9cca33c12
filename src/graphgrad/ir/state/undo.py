"""Taking back what was added to a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .index import Index


@contextlib.contextmanager
def all_or_nothing(graph: Any) -> Iterator[None]:
    """Takes back the operations that a block has added to a graph, and their names, if the block fails.

    Args:
      graph: the graph. What is outside of a function's graph has to be captured before the block.
    """
    count, names, state = len(graph._operations), graph._names.copy(), dict(graph._scoped_state)
    try:
        yield
    except BaseException:
        del graph._operations[count:]
        graph._index = Index(graph._operations)
        graph._names, graph._scoped_state = names, state
        graph._notes.forget(count)
        raise
