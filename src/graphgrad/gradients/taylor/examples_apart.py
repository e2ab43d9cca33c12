"""Proves that examples of a batch do not depend on each other: each row of y follows from the same row of xs alone.

Only then is the derivative of the sum of y, which `gradients` gives, that of each example. What an operation does with
rows is said beside its kernel (`OpTraits.by_rows`); of the others nothing is assumed.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphgrad.gradients.core.gradient_paths import GraphView, Paths, upstream
from graphgrad.gradients.core.registry import gradient_function, is_users
from graphgrad.gradients.core.rules import carries_gradient
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, raw

from .propagation import can_be_carried_through


def hindrance(ys: Sequence[Tensor], xs: Sequence[Tensor]) -> str:
    """Returns why rows of ys may depend on other rows of xs, or cannot be followed; "" if neither is the case.

    Args:
      ys, xs: tensors of one graph.
    """
    batches = _Batches(xs)
    view = GraphView(xs[0].graph, {}, xs)
    paths = Paths(view, ys, xs, [t for x in xs for t in x.op.outputs])
    for x in xs:
        others = [other for other in xs if other is not x]
        if others and Paths(GraphView(x.graph, {}, others), [x], others).ops:
            return f"x '{x.name}' is computed from another x"
    for op in paths.ops:
        if not can_be_carried_through(op) or op._gradient is not None or is_users(op.type):
            return f"{_named(op)} has sub-graphs, effects, or a gradient of the user's"
    for op in sorted(upstream([y.op for y in ys], view.inputs, min(x.op.index for x in xs)), key=lambda op: op.index):
        batches.visit(op)
    return next((reason for y in ys if (reason := batches.objection(y))), "") or batches.unproven()


def _named(op: Operation) -> str:
    return f"operation '{op.name}' (op type: {op.type})"


class _Batches:
    """Which tensors are batches, and of the examples of which x.

    Args:
      xs: batches along their first axes, each of its own examples until their numbers are found to be equal.
    """

    def __init__(self, xs: Sequence[Tensor]):
        self._of = {id(x): i for i, x in enumerate(xs)}  # id of a tensor -> number of an x
        self._xs = xs
        self._mixed: dict[int, str] = {}  # id of a tensor -> why its rows depend on others
        self._same = list(range(len(xs)))  # as many examples as which x
        self._needed: list[tuple[int, int, Operation]] = []

    def visit(self, op: Operation) -> None:
        """Finds out what an operation's results are, from what its inputs are."""
        if any(id(t) in self._of for t in op.outputs):
            return
        rule = gradient_function(op)
        reason = next((self._mixed[id(t)] for t in op.inputs if id(t) in self._mixed), "")
        if reason:
            if rule is not None and rule is not NOT_DIFFERENTIABLE:
                self._mixed.update((id(t), reason) for t in op.outputs if carries_gradient(t))
            return
        rows = [id(t) in self._of for t in op.inputs]
        if op.opdef is raw.Fill and op.inputs[0].op.opdef is raw.Shape:  # ones_like, zeros_like
            like = op.inputs[0].op.inputs[0]
            if id(like) in self._of:
                self._of[id(op.outputs[0])] = self._of[id(like)]
            return
        if not any(rows) or op.opdef.shape_only:
            return
        if self._keeps(op, rows):
            number = next(self._of[id(t)] for t in op.inputs if id(t) in self._of)
            self._of.update((id(t), number) for t in op.outputs)
        elif rule is not None and rule is not NOT_DIFFERENTIABLE:
            self._mixed.update((id(t), f"{_named(op)} may mix examples") for t in op.outputs)

    def _keeps(self, op: Operation, rows: list[bool]) -> bool:
        record = op.opdef
        numbers = [self._of[id(t)] for t in op.inputs if id(t) in self._of]
        if record.fill is not None and len(rows) == 1 and op.outputs[0]._spec.shape == op.inputs[0]._spec.shape:
            return True
        if record.elementwise or record.dependence_rule == "elementwise" or record.alias:
            if not self._aligned(op, rows):
                return False
            self._needed += [(numbers[0], n, op) for n in numbers[1:]]
            return True
        if record.rows_rule is None or not record.rows_rule(op, rows):
            return False
        for n in numbers[1:]:  # joined beside each other: of one length, or the run fails
            self._same[self._root(n)] = self._root(numbers[0])
        return True

    def _aligned(self, op: Operation, rows: list[bool]) -> bool:
        """Returns whether the first axes of the batches are that of the result, and nothing is repeated along it."""
        rank = len(op.outputs[0]._spec.shape or ())
        for t, is_batch in zip(op.inputs, rows, strict=True):
            shape = t._spec.shape
            if shape is None or (is_batch and len(shape) != rank):
                return False
            if not is_batch and len(shape) == rank and shape[0] != 1:
                size = next(self._size(self._of[id(b)]) for b in op.inputs if id(b) in self._of)
                if size is None or size != shape[0]:
                    return False
        return rank > 0

    def _size(self, n: int) -> int | None:
        shape = self._xs[n]._spec.shape
        return shape[0] if shape else None

    def _root(self, n: int) -> int:
        while self._same[n] != n:
            n = self._same[n]
        return n

    def objection(self, y: Tensor) -> str:
        """Returns why a tensor is not a batch of examples that are apart; "" if it is one."""
        if id(y) in self._of:
            return ""
        return self._mixed.get(id(y), f"'{y.name}' does not depend on x")

    def unproven(self) -> str:
        """Returns which batches may differ in length, so that one example of one would meet all of the other."""
        pairs = [*self._needed, *[(0, n, None) for n in range(1, len(self._xs))]]
        for a, b, op in pairs:
            known = self._size(a)
            if self._root(a) != self._root(b) and (known is None or known != self._size(b)):
                where = f": {_named(op)}" if op is not None else ""
                return f"'{self._xs[a].name}' and '{self._xs[b].name}' may differ in the number of examples{where}"
        return ""
