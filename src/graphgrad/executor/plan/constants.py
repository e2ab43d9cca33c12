"""What a plan must know: the values that decide shapes, and where they come from.

Those that follow from constants and shapes are computed in NumPy while a cluster is lowered, in each cluster that needs
them, so that they can be shapes and axes there. They are never passed between steps.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from graphgrad.executor.program.interpreter import WHOLE_OP, host_positions, is_small
from graphgrad.executor.program.plan_types import Provenance
from graphgrad.ir.constant_value import Origin, Origins
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.shape import num_elements

_LITTLE = 8  # elements: the most axes of a shape


class KnownInput(NamedTuple):
    """An input of an operation whose value must be known when the operation is lowered.

    Attributes:
      position: which input.
      source: where its value comes from.
    """

    position: int
    source: Provenance


class Knowledge:
    """The values that the operations of a run need when they are lowered.

    Args:
      ops: the operations.
      feeds: the fed tensors.
      must_know: (operation index, input position) of needs that lowering found out; the position is `WHOLE_OP` for an
        operation that can only run in NumPy.

    Attributes:
      feeds: ids of fed tensors that decide shapes; they are compiled in, by value.
      folded: indices of operations that have to be computed in NumPy, since shapes depend on them.
    """

    def __init__(self, ops: Sequence[Operation], feeds: Sequence[Tensor], must_know: Collection[tuple[int, int]]):
        self._fed = {id(t) for t in feeds}
        self._origins = Origins({id(t): Origin.FEEDS if _is_little(t) else Origin.RUN for t in feeds})
        self.feeds: set[int] = set()
        self.folded: set[int] = set()
        self._needs: dict[int, list[KnownInput]] = {}
        self._only_on_host = {index for index, position in must_know if position == WHOLE_OP}
        found: dict[int, list[int]] = {}
        for index, position in must_know:
            if position != WHOLE_OP:
                found.setdefault(index, []).append(position)
        for op in ops:
            if op.opdef.host or op.index in found:
                positions = dict.fromkeys((*host_positions(op), *found.get(op.index, ())))
                self._needs[op.index] = [KnownInput(i, self._source(op.inputs[i])) for i in positions]

    def _source(self, t: Tensor) -> Provenance:
        """Returns where a tensor's value comes from, and notes what has to be folded for it."""
        if id(t) in self._fed:
            self._fold(t)
            return Provenance.FED
        # What follows from larger fed values, such as the largest of fed lengths, is computed in a separate step: it
        # takes few values, they take many.
        if self._origins.of(t) is Origin.RUN:
            return Provenance.STEP
        self._fold(t)
        return Provenance.FOLDED

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

    def needs(self, op: Operation) -> Sequence[KnownInput]:
        """Returns the inputs that must be known when `op` is lowered."""
        return self._needs.get(op.index, ())

    def floats(self, op: Operation) -> bool:
        """Returns whether `op` has no step of its own: the steps that need its result compute it, in NumPy."""
        if op.index in self.folded:
            return True
        if op.opdef.shape_only:
            return not any(id(t) in self._fed for t in op.outputs)
        fed, origin_of = self._fed, self._origins.of
        for t in op.outputs:
            if origin_of(t) is not Origin.SHAPES or id(t) in fed:
                return False
        return bool(op.outputs) and is_small(op)

    def only_on_host(self, op: Operation) -> bool:
        """Returns whether lowering found out that `op` can only run in NumPy."""
        return op.index in self._only_on_host


def _is_little(t: Tensor) -> bool:
    count = num_elements(t._spec.shape)
    return count is not None and count <= _LITTLE
