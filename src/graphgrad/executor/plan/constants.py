"""Constant folding: values that follow from constants and shapes.

Such values are computed in NumPy while a cluster is lowered, in each cluster that needs them, so that they can be
shapes and axes there. They are never passed between steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphgrad.executor.program.interpreter import WHOLE_OP, host_positions, is_pure, is_small
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.shape import num_elements

_LITTLE = 8  # elements: the most axes of a shape


class Knowledge:
    """Classifies the tensors of a run by when they are known.

    Attributes:
      static: ids of tensors that follow from constants, shapes and small fed values. What follows from larger ones,
        such as the largest of fed lengths, is computed in a separate step: it takes few values, they take many.
      fixed: ids of those that follow from constants and shapes alone.
      feeds: ids of fed tensors that decide shapes; they are compiled in, by value.
      folded: indices of operations that have to be computed in NumPy, since shapes depend on them.
    """

    def __init__(self, ops: Sequence[Operation], fed: set[int], must_know: Iterable[tuple[int, int]]):
        self._fed = fed
        self._also: dict[int, list[int]] = {}
        for index, position in must_know:
            self._also.setdefault(index, []).append(position)
        self.static: set[int] = set()
        self.fixed: set[int] = set()
        self.feeds: set[int] = set()
        self.folded: set[int] = set()
        self._follow(ops)
        for op in ops:
            for position in self.positions(op):
                t = op.inputs[position]
                if id(t) in self.static or id(t) in fed:
                    self._fold(t)

    def _follow(self, ops: Sequence[Operation]) -> None:
        static, fixed, fed = self.static, self.fixed, self._fed
        for op in ops:
            outputs = [id(t) for t in op.outputs if id(t) not in fed]
            if op.type == "Const" or op.opdef.shape_only:
                static.update(outputs)
                fixed.update(outputs)
            elif op.inputs and is_pure(op) and "host" not in op.opdef.flags:
                if all(id(t) in static or (id(t) in fed and _is_little(t)) for t in op.inputs):
                    static.update(outputs)
                    if all(id(t) in fixed for t in op.inputs):
                        fixed.update(outputs)

    def _fold(self, t: Tensor) -> None:
        stack = [t]
        while stack:
            t = stack.pop()
            if id(t) in self._fed:
                self.feeds.add(id(t))
            elif t.op.index not in self.folded:
                self.folded.add(t.op.index)
                if not t.op.opdef.shape_only:
                    stack.extend(t.op.inputs)

    def positions(self, op: Operation) -> tuple[int, ...]:
        """Returns the positions of the inputs that must be known when `op` is lowered."""
        positions = host_positions(op)
        more = self._also.get(op.index)
        if more:
            positions += tuple(i for i in more if i not in positions and i != WHOLE_OP)
        return positions

    def floats(self, op: Operation) -> bool:
        """Returns whether `op` has no step of its own: the steps that need its result compute it, in NumPy."""
        if op.index in self.folded:
            return True
        if op.opdef.shape_only:
            return not any(id(t) in self._fed for t in op.outputs)
        return bool(op.outputs) and all(id(t) in self.fixed for t in op.outputs) and is_small(op)

    def only_on_host(self, op: Operation) -> bool:
        """Returns whether lowering found out that `op` can only run in NumPy."""
        return WHOLE_OP in self._also.get(op.index, ())


def _is_little(t: Tensor) -> bool:
    count = num_elements(t._spec.shape)
    return count is not None and count <= _LITTLE
