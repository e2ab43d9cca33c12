"""The error for an op between ys and xs that has no gradient."""

from __future__ import annotations

from ..ir.graph import Operation
from .rules import carries_gradient


def no_gradient(op: Operation, between: dict[int, int]) -> LookupError:
    """Words the error for an op without a gradient: op, path, line, how to register one."""
    trail = [op]
    while True:  # towards an x
        t = next((t for t in trail[-1].inputs if t.op.index in between and carries_gradient(t)), None)
        if t is None:
            break
        trail.append(t.op)
    after = op
    for index in sorted(i for i in between if i > op.index):  # towards a y
        later = op.graph._operations[index]
        if any(t.op is after for t in later.inputs):
            trail.insert(0, later)
            after = later
    names = [f"{o.name} ({o.type})" for o in trail]
    if len(names) > 12:
        names = [*names[:6], "...", *names[-5:]]
    return LookupError(
        f"No gradient defined for operation '{op.name}' (op type: {op.type}). It lies between the ys and the xs: "
        f"{' <- '.join(names)}.\n  Built at {op.source}\n"
        f"  Fix: register one with @tf.RegisterGradient('{op.type}'), treat it as a constant with tf.stop_gradient, "
        "or leave that x out"
    )
