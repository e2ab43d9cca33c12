"""The error for an op without a derivative, with an alternative to use."""

from __future__ import annotations

from collections.abc import Sequence

from graphgrad.ir.graph import Operation

_SHOWN = 12  # operations of a path


def replacement(op: Operation) -> str:
    """Suggests a differentiable replacement for an operation, as a clause; '' where none is known."""
    known = op.opdef.gradient_advice
    return f"use {known}" if known else ""


def problem(op: Operation) -> str:
    """Says that an operation has no gradient."""
    return f"No gradient defined for operation '{op.name}' (op type: {op.type})"


def remedy(op: Operation) -> str:
    """Says what to do about an operation without a gradient."""
    instead = replacement(op)
    return (f"register one with @tf.RegisterGradient('{op.type}'), treat it as a constant with tf.stop_gradient, "
            f"or leave that x out{'; or ' + instead if instead else ''}")


class MissingGradientError(LookupError):
    """An op between ys and xs has no gradient.

    Attributes:
      op: the operation.
      path: the operations from a y to an x, `op` among them, as far as they are known.
    """

    def __init__(self, op: Operation, path: Sequence[Operation] = ()):
        self.op = op
        self.path = list(path)
        super().__init__(self._text())

    def lies_within(self, holder: Operation, path: Sequence[Operation]) -> None:
        """Extends the path: `op` is in a sub-graph of `holder`, which lies on `path`."""
        after = list(path).index(holder) + 1
        self.path = [*path[:after], *self.path, *path[after:]]
        self.args = (self._text(),)

    def _text(self) -> str:
        names = [f"{o.name} ({o.type})" for o in self.path]
        if len(names) > _SHOWN:
            names = [*names[:6], "...", *names[-5:]]
        where = f" It lies between the ys and the xs: {' <- '.join(names)}." if names else ""
        return f"{problem(self.op)}.{where}\n  Built at {self.op.source}\n  Fix: {remedy(self.op)}"
