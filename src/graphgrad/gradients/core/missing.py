"""The error for an op without a derivative, with an alternative to use."""

from __future__ import annotations

from collections.abc import Collection

from graphgrad.ir.graph import Graph, Operation, Tensor

from .outer_graphs import Outside, order_of
from .rules import carries_gradient


def replacement(op: Operation) -> str:
    """Names a differentiable replacement for an operation, as a clause; '' where none is known."""
    known = op.opdef.gradient_advice
    return f"use {known}" if known else ""


class MissingGradientError(LookupError):
    """An op between ys and xs has no gradient.

    Attributes:
      op: the operation.
      path: the operations from a y to an x, `op` among them.
    """

    def __init__(self, text: str, op: Operation, path: list[Operation]):
        super().__init__(text)
        self.op = op
        self.path = path


def no_gradient(op: Operation, between: Collection[Operation], graph: Graph,
                outside: Outside) -> MissingGradientError:
    """Words the error for an op without a gradient: op, path, line, how to register one, an alternative.

    Args:
      op: the operation.
      between: the operations between the xs and the ys.
      graph, outside: the graph in which the gradient is taken, and the tensors behind placeholders.
    """

    def inputs(later: Operation) -> list[Tensor]:
        return [outside.get(id(t), t) for t in later.inputs]

    trail = [op]
    while True:  # towards an x
        t = next((t for t in inputs(trail[-1]) if t.op in between and carries_gradient(t)), None)
        if t is None:
            break
        trail.append(t.op)
    towards_y = []
    after = op
    key = order_of(graph, outside)
    place = key(op)
    for later in sorted((o for o in between if key(o) > place), key=key):
        if any(t.op is after for t in inputs(later)):
            towards_y.append(later)
            after = later
    trail = [*reversed(towards_y), *trail]
    names = [f"{o.name} ({o.type})" for o in trail]
    if len(names) > 12:
        names = [*names[:6], "...", *names[-5:]]
    instead = replacement(op)
    return MissingGradientError(
        f"No gradient defined for operation '{op.name}' (op type: {op.type}). It lies between the ys and the xs: "
        f"{' <- '.join(names)}.\n  Built at {op.source}\n"
        f"  Fix: register one with @tf.RegisterGradient('{op.type}'), treat it as a constant with tf.stop_gradient, "
        f"or leave that x out{'; or ' + instead if instead else ''}",
        op,
        trail,
    )
