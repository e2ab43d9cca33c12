"""What long work of a run is called in the line that announces it."""

from __future__ import annotations

from collections.abc import Sequence

from graphgrad.executor.program.plan_types import Cluster
from graphgrad.ir import blocking
from graphgrad.ir.graph import Operation
from graphgrad.system import progress
from graphgrad.system.progress import Pending

blocking.other_bystanders.append(progress.threads)


class Compiling(Pending):
    """Clusters that are being compiled.

    Args:
      clusters: the clusters.

    Attributes:
      lowered: how many of them XLA has been given.
    """

    __slots__ = ("lowered", "_clusters")

    def __init__(self, clusters: Sequence[Cluster]):
        super().__init__(len(clusters))
        self.lowered = 0
        self._clusters = clusters

    def text(self) -> str:
        operations = sum(len(c.program) for c in self._clusters)
        what = f"{self.total} cluster{'s' * (self.total > 1)} of {operations:,} operations"
        if self.lowered < self.total:
            return f"tracing {what}, {self.lowered} done"
        return f"compiling {what}, {self.done} done"


class Looping(Pending):
    """A loop on a device.

    Args:
      loop: its operation.
    """

    __slots__ = ("_loop",)

    def __init__(self, loop: Operation):
        super().__init__()
        self._loop = loop

    def text(self) -> str:
        source = self._loop.source
        where = "" if source is None else f", built at {source.filename.rpartition('/')[2]}:{source.lineno}"
        return f"running loop '{self._loop.name}'{where}"


class Planning(Pending):
    """A run that is being planned.

    Args:
      operations: the number of operations of the graph.
    """

    __slots__ = ("_operations",)

    def __init__(self, operations: int):
        super().__init__()
        self._operations = operations

    def text(self) -> str:
        return f"planning a run on a graph of {self._operations:,} operations"
