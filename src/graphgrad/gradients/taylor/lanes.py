"""Coefficients along several directions, each direction's by themselves: `LaneSeries`, in place of stacks.

XLA's processor code runs a product for each direction, with what surrounds it fused, in about half the time and memory
that it takes for a stack of them, so that stacks are for many directions. What does not depend on the direction, the
derivatives of elementwise operations, is shared. The weighted sum of the top coefficients may be carried in place of
them, as in `series`:

- of a linear operation it is the operation on the sum;
- of others it is the first derivative times the sum, and the weighted sum of what lower orders contribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw

from .direction_stacks import apply, full
from .nested import along_tangents, differentiated
from .series import Series, SeriesLayout, scaled, times, total

MOST = 16  # directions; beyond, a stack has fewer operations


class LaneSeries:
    """The coefficients of tensors along several directions.

    Args:
      orders: for each direction the highest order.
      weights: for each direction the factor of its coefficient of the next order in the sum that is carried; None if
        none is. All orders are equal then.
      inputs: as `Series` takes it.

    Attributes:
      lanes: for each direction the coefficients.
      tops: by the id of a tensor the weighted sum of its top coefficients; none if it is zero.
    """

    def __init__(self, orders: Sequence[int], weights: Sequence[float] | None,
                 inputs: Callable[[Operation], Sequence[Tensor]]):
        self.lanes = [Series(SeriesLayout(order), inputs) for order in orders]
        self.tops: dict[int, Any] = {}
        self._inputs = inputs
        self._weights = weights
        self._top = orders[0] + 1 if weights is not None else 0
        for lane in self.lanes[1:]:
            lane.share(self.lanes[0])

    def start(self, x: Tensor, directions: Sequence[Any]) -> None:
        """Sets the first coefficients of an x: for each direction one of its shape, or of one row; None for zero."""
        for lane, direction in zip(self.lanes, directions, strict=True):
            lane.known[id(x)] = [direction] + [None] * (lane.layout.order - 1)

    def visit(self, op: Operation) -> None:
        """Computes all coefficients of an operation's outputs."""
        for lane in self.lanes:
            lane.visit(op)
        if self._top:
            for t, c in zip(op.outputs, self._tops_of(op), strict=True):
                if c is not None and t.dtype.kind == "f":
                    self.tops[id(t)] = c

    def full(self, t: Tensor, lane: int, k: int) -> Any:
        """Returns a coefficient with all of its elements."""
        return self.lanes[lane].full(t, k)

    def full_top(self, t: Tensor) -> Any:
        """Returns the weighted sum of the top coefficients with all of its elements."""
        c = self.tops.get(id(t))
        return None if c is None else full(c, t, False)

    # -- the top -------------------------------------------------------------------------

    def _tops_of(self, op: Operation) -> Sequence[Any]:
        moving = sorted({i for lane in self.lanes for i in lane.moving(op, self._top - 1)}
                        | {i for i, t in enumerate(self._inputs(op)) if id(t) in self.tops})
        tops = [self.tops.get(id(t)) if i in moving else None for i, t in enumerate(self._inputs(op))]
        if not moving:
            return [None] * len(op.outputs)
        first = self.lanes[0]
        way = first.way(op, moving)
        if way == "linear":
            return first.linear(op, tops, False)
        if way == "nested":
            return self._nested(op, tops)
        if way == "product":
            return [self._product(op, tops, *moving)]
        return [self._elementwise(op, tops, moving)]

    def _sum(self, terms: Sequence[Any], factor: float = 1.0) -> Any:
        """Returns the weighted sum of what each direction contributes; None for nothing."""
        assert self._weights is not None
        present = [(c, w * factor) for c, w in zip(terms, self._weights, strict=True) if c is not None and w]
        if present and all(w == present[0][1] for _, w in present):
            return scaled(total([c for c, _ in present]), present[0][1])
        return total([scaled(c, w) for c, w in present])

    def _product(self, op: Operation, tops: Sequence[Any], one: int, other: int) -> Any:
        found = []
        for i in (one, other):
            if tops[i] is not None:
                found += apply(op, [tops[i] if n == i else t for n, t in enumerate(op.inputs)], [False] * len(tops))
        inner = []
        for lane, weight in zip(self.lanes, self._weights or (), strict=True):
            terms = []
            for j in range(1, self._top if weight else 1):
                operands = list(op.inputs)
                operands[one] = lane.coefficient(self._inputs(op)[one], j)
                operands[other] = lane.coefficient(self._inputs(op)[other], self._top - j)
                if operands[one] is not None and operands[other] is not None:
                    terms += apply(op, operands, [False] * len(operands))
            inner.append(total(terms))
        return total([*found, self._sum(inner)])

    def _elementwise(self, op: Operation, tops: Sequence[Any], moving: Sequence[int]) -> Any:
        """Computes the sum of y_k = 1/k sum_j j x_j g_(k-j), over the inputs x and the directions."""
        k, first = self._top, self.lanes[0]
        partials = [lane.partials(op, moving) for lane in self.lanes]
        found = [times(tops[i], g) for i, g in enumerate(partials[0]) if g is not None and tops[i] is not None]
        if k == 2 and len(op.inputs) == 1:
            (g,), (x,) = partials[0], self._inputs(op)
            second = None if g is None else first.second_derivative(op, g)
            squares = self._sum([None if (c := lane.coefficient(x, 1)) is None else raw.Square(c)
                                 for lane in self.lanes], 0.5)
            if second is not None and squares is not None:
                found.append(raw.Mul(squares, second))
            return total(found)
        inner = []
        for lane, its in zip(self.lanes, partials, strict=True):
            terms = []
            for x, g in zip(self._inputs(op), its, strict=True):
                for j in range(1, k if g is not None else 1):
                    x_j, g_j = lane.coefficient(x, j), lane.coefficient(g, k - j)
                    if x_j is not None and g_j is not None:
                        terms.append(raw.Mul(scaled(x_j, j), g_j))
            inner.append(total(terms))
        return total([*found, self._sum(inner, 1 / k)])

    def _nested(self, op: Operation, tops: Sequence[Any]) -> list[Any]:
        given = {i: full(c, op.inputs[i], False) for i, c in enumerate(tops) if c is not None}
        linear = along_tangents(op, op.inputs, given) if given else [None] * len(op.outputs)
        inner = []
        for lane in self.lanes:
            lower = {(i, k): full(c, op.inputs[i], False) for i, t in enumerate(self._inputs(op))
                     for k in range(1, self._top) if (c := lane.coefficient(t, k)) is not None}
            inner.append(differentiated(op, op.inputs, lower, self._top)[-1] if lower else [None] * len(op.outputs))
        return [total([d, self._sum([found[n] for found in inner])]) for n, d in enumerate(linear)]

