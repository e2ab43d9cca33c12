"""Which operations lie between ys and xs: the one place that knows what a path is.

A path leads from a y to an x, against the direction in which values flow, through tensors that carry gradients. Where
else it ends depends on who looks, so paths are seen through a `PathView`: `gradients` sees the operations of graphs
(`GraphView`), a tape what it has recorded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Protocol

from graphgrad.ir.funcgraph import around
from graphgrad.ir.graph import Graph, Operation, Tensor

from .outer_graphs import Outside
from .rules import carries_gradient


class PathView(Protocol):
    """Operations, or their representations, as paths see them."""

    @property
    def inputs(self) -> Callable[[Any], Sequence[Any]]:
        """A function that returns the inputs of an operation."""

    def source(self, t: Any) -> Any:
        """Returns the operation that computes a tensor; None where paths end."""

    def upstream(self, ys: Iterable[Any]) -> Iterable[Any]:
        """Returns what tensors are computed by, as far as paths lead, in execution order."""


class GraphView:
    """The operations of a graph, and of those around it if a sweep leaves it.

    Args:
      graph: the graph in which a gradient is taken.
      outside: the tensors behind captured placeholders, which are seen in their place.
      xs: where paths are to lead: older operations cannot depend on any x.
      sees_touched: whether what TensorFlow's operation would have read counts among the inputs (`loop_zeros`).
    """

    def __init__(self, graph: Graph, outside: Outside, xs: Sequence[Tensor] = (), sees_touched: bool = False):
        self._outside = outside
        self._first = 0 if outside or sees_touched else min((x.op.index for x in xs), default=0)
        self.inputs: Callable[[Operation], Sequence[Tensor]] = attrgetter("inputs")
        self._order: Callable[[Operation], Any] = attrgetter("index")
        if graph._notes.early:
            self._order = lambda op: op.graph._notes.place(op.index)
        if sees_touched:
            self.inputs = self._inputs_and_touched
        elif outside:
            self.inputs = self._inputs_outside
        if outside:
            depth = {id(g): -i for i, g in enumerate(around(graph))}
            self._order = lambda op: (depth[id(op.graph)], op.graph._notes.place(op.index))

    def source(self, t: Tensor) -> Operation | None:
        """Returns the operation that computes a tensor; None if it is too old."""
        return t.op if t.op.index >= self._first else None

    def upstream(self, ys: Iterable[Tensor]) -> list[Operation]:
        """Returns the operations that tensors are computed by, except too old ones, in execution order."""
        return sorted(upstream([y.op for y in ys], self.inputs, self._first), key=self._order)

    def _inputs_outside(self, op: Operation) -> list[Tensor]:
        outside = self._outside
        return [outside.get(id(t), t) for t in op.inputs]

    def _inputs_and_touched(self, op: Operation) -> list[Tensor]:
        outside = self._outside
        return [outside.get(id(t), t) for t in (*op.inputs, *op.graph._notes.touched.get(op.index, ()))]


def upstream(ops: Iterable[Operation], inputs: Callable[[Operation], Iterable[Tensor]],
             first: int = 0) -> set[Operation]:
    """Returns operations and what they depend on, without those numbered below `first`."""
    found: set[Operation] = set()
    waiting = [op for op in ops if op.index >= first]
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            for t in inputs(op):
                source = t.op
                if source.index >= first and source not in found:
                    waiting.append(source)
    return found


class Paths:
    """The paths from ys to xs.

    Args:
      view: how operations are seen.
      ys, xs: tensors.
      ends: the tensors at which paths end, if these are not just the xs.
      passes: which tensors a path may go through.

    Attributes:
      ops: the operations on paths, in execution order; not those at whose outputs all paths end.
      live: the ids of the tensors from which a path leads to an x.
    """

    def __init__(self, view: PathView, ys: Sequence[Any], xs: Sequence[Any], ends: Iterable[Any] | None = None,
                 passes: Callable[[Any], bool] = carries_gradient):
        self.view = view
        self.ys = ys
        self.xs = xs
        self.passes = passes
        self.ops: dict[Any, None] = {}
        live = self.live = set(map(id, xs if ends is None else ends))
        inputs = view.inputs
        for op in view.upstream(ys):
            for t in inputs(op):
                if id(t) in live and passes(t):
                    self.ops[op] = None
                    for result in op.outputs:
                        live.add(id(result))
                    break

    def in_tensorflows_order(self) -> Iterator[Operation]:
        """Yields the operations of graphs, each after all of its consumers, in the order in which TensorFlow does."""
        ops, inputs = self.ops, self.view.inputs
        # How many inputs of operations still to come each one feeds. Those that only tensors without gradients, such as
        # a comparison, connect with a y do not count.
        pending = {y.op: 0 for y in self.ys if y.op in ops}
        ends = list(pending)
        for op in reversed(ops):
            if op in pending:
                for t in inputs(op):
                    if t.op in ops:
                        pending[t.op] = pending.get(t.op, 0) + 1
        queue = deque(op for op in ends if not pending[op])
        while queue:
            op = queue.popleft()
            feeds = inputs(op)
            yield op
            for t in feeds:
                source = t.op
                if source in pending:
                    pending[source] -= 1
                    if not pending[source]:
                        queue.append(source)

    def through(self, op: Any) -> list[Any]:
        """Returns the operations of a path from a y to an x, `op` among them."""
        return [*self.from_y(op), *self.to_x(self.towards_x(op))]

    def from_y(self, op: Any) -> list[Any]:
        """Returns the operations of a path from a y to `op`."""
        return way_back(op, self._consumers())

    def to_x(self, t: Any) -> list[Any]:
        """Returns the operations of a path from a tensor to an x, that of the x included if there is one."""
        way = []
        while (op := self.view.source(t)) in self.ops:
            way.append(op)
            t = self.towards_x(op)
        return [*way, t.op] if isinstance(t, Tensor) else way

    def towards_x(self, op: Any) -> Any:
        """Returns the first input of an operation on a path from which that leads on to an x."""
        return next(t for t in self.view.inputs(op) if id(t) in self.live and self.passes(t))

    def _consumers(self) -> dict[Any, Any]:
        """Returns for each operation on a path the consumer that comes before it on one; None for those of ys."""
        view = self.view
        found: dict[Any, Any] = {view.source(y): None for y in self.ys}
        for later in reversed(self.ops):
            if later in found:
                for t in view.inputs(later):
                    if id(t) in self.live and self.passes(t):
                        found.setdefault(view.source(t), later)
        return found


def way_back(op: Any, consumers: dict[Any, Any]) -> list[Any]:
    """Returns the operations from a y to `op`; `consumers` has for each the one before it on the way."""
    way = []
    while op is not None:
        way.append(op)
        op = consumers.get(op)
    return way[::-1]
