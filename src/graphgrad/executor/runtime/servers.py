"""The servers of this process: sessions with the target of one share its variables, as those of TensorFlow's do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

from graphgrad.executor.plan.dead_outputs import prune
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.values.variable_store import Cell


class Served:
    """What the sessions of a server have in common.

    Args:
      tasks: the names and numbers of the cluster's tasks, which devices may name.
      before_sums: called with a session before its first run that needs other processes; None for a single process.
      before_run: called with a session before each such run.

    Attributes:
      cells: the variables, queues and tables.
    """

    def __init__(self, tasks: Collection[tuple[str, int]], before_sums: Callable[[Any], None] | None,
                 before_run: Callable[[Any], None]):
        self.tasks, self.before_sums, self._before_run = frozenset(tasks), before_sums, before_run
        self.cells: dict[str, Cell] = {}

    def prepare(self, session: Any, executable: Any, fetches: list[Tensor], targets: list[Operation],
                feeds: list[Tensor]) -> None:
        """Calls `before_sums` if what a session is going to run needs other processes."""
        if self.before_sums is not None:
            if any(op.type.startswith("Processes") for op in prune(fetches, targets, feeds)):
                self.before_sums(session)
                executable.before = functools.partial(self._before_run, session)


_served: dict[str, Served] = {}


def serve(target: str, served: Served) -> None:
    """Lets sessions with a target share what a server holds."""
    _served[target] = served


def find(target: Any) -> Served | None:
    """Returns what sessions with a target have in common; None if it is no server's of this process."""
    return _served.get(target.decode() if isinstance(target, bytes) else target) if target else None


def forget(target: str) -> None:
    """Ends a server."""
    _served.pop(target, None)
