"""Constant folding: values that follow from constants and shapes.

Such values are computed in NumPy while a cluster is lowered, in each cluster that needs them, so that they can be
shapes and axes there. They are never passed between steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphgrad.executor.program.interpreter import WHOLE_OP, host_positions, is_small
from graphgrad.ir.constant_value import Origin, Origins
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.shape import num_elements

_LITTLE = 8  # elements: the most axes of a shape


class Knowledge:
    """Classifies the tensors of a run by when they are known.

    Attributes:
      feeds: ids of fed tensors that decide shapes; they are compiled in, by value.
      folded: indices of operations that have to be computed in NumPy, since shapes depend on them.
    """

    def __init__(self, ops: Sequence[Operation], feeds: Sequence[Tensor], must_know: Iterable[tuple[int, int]]):
        self._fed = {id(t) for t in feeds}
        self._also: dict[int, list[int]] = {}
        for index, position in must_know:
            self._also.setdefault(index, []).append(position)
        self._origins = Origins({id(t): Origin.FEEDS if _is_little(t) else Origin.RUN for t in feeds})
        self.feeds: set[int] = set()
        self.folded: set[int] = set()
        for op in ops:
            for position in self.positions(op):
                t = op.inputs[position]
                if id(t) in self._fed or self.is_static(t):
                    self._fold(t)

    def is_static(self, t: Tensor) -> bool:
        """Returns whether a tensor that is not fed follows from constants, shapes and small fed values.

        What follows from larger ones, such as the largest of fed lengths, is computed in a separate step: it takes few
        values, they take many.
        """
        return id(t) not in self._fed and self._origins.of(t) is not Origin.RUN

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
        fixed = all(id(t) not in self._fed and self._origins.of(t) is Origin.SHAPES for t in op.outputs)
        return bool(op.outputs) and fixed and is_small(op)

    def only_on_host(self, op: Operation) -> bool:
        """Returns whether lowering found out that `op` can only run in NumPy."""
        return WHOLE_OP in self._also.get(op.index, ())


def _is_little(t: Tensor) -> bool:
    count = num_elements(t._spec.shape)
    return count is not None and count <= _LITTLE
