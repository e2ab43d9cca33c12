"""The inputs of gradients of branches, loops and maps, as tapes see them.

Such a gradient computes the forward pass again. TensorFlow's reads intermediate results of the forward operation in
its place, and a tape that begins after this operation ran does not follow them. So neither does it follow here what
computes them again. Of a branch or a map it follows what the rules inside read directly, except for variables; of a
loop, and of a branch that a persistent tape has recorded, TensorFlow hands out all inputs as intermediate results.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphgrad.gradients.bodies.subgraphs import carries, in_graph_of
from graphgrad.ir import graph as ir_graph
from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw

from .forward_values import as_it_was
from .loop_zeros import is_loop


def given(op: Operation) -> tuple[Sequence[Tensor], dict[int, Tensor]]:
    """Returns what the gradient of an operation gets in place of its inputs.

    Args:
      op: the operation, whose gradient is being built.
    Returns: the inputs as they were, and what the repeated forward pass gets in place of some of them, by position.
      There is no difference unless a tape that has not recorded `op` is recording.
    """
    listening = ir_graph.listening
    if not listening.recorders or not any(is_unaware(op) for is_unaware in listening.unaware):
        return as_it_was(op), {}
    before, listening.repeated = listening.repeated, op
    try:
        inputs = list(as_it_was(op, True))
        again = {}
        with in_graph_of(op):
            for i, t in enumerate(inputs):
                if carries(t) and t.dtype is not resource:
                    again[i] = raw.Identity(t)
                    again[i].op.graph._notes.repeating.add(again[i].op.index)
    finally:
        listening.repeated = before
    if op.type == "While" or is_loop(op) or op.index in op.graph._notes.persistent:
        return [again.get(i, t) for i, t in enumerate(inputs)], {}
    return inputs, again
