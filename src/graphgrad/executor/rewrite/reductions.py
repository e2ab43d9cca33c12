"""Rewrites reductions of a StableHLO program into what XLA:CPU computes sooner.

XLA:CPU (jaxlib 0.10 to 0.12) emits a sum as a chain of additions, one after the other, and cuts it into windows of 32:
it takes the time of the processor's latency, and where several axes in front are summed, ten times as much. Where the
library YNNPACK may not have sums (`xla_options`), they become matrix products with ones, which libraries compute;
maxima and minima along the last axis begin with elementwise ones of the two halves. docs/inside/performance.md has
the measurements.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.system.late_imports import load

from .operations import operations_in

_LARGE = 1 << 13  # elements from which on a reduction is rewritten,
_LONG = 32  # and the fewest that are summed to one: XLA does not cut fewer into windows
_WIDE = 16  # the fewest sums side by side, between axes in front and the axes that are summed
_AT_ONCE = 2048  # the most terms that one product adds up, one after the other; more are, in parts, for accuracy
_HALVED = 16  # the fewest elements of which halves are compared,
_TIMES = 4  # how often at most


def rewrite(module: Any) -> None:
    """Rewrites the reductions of a module, in place.

    Args:
      module: an operation of `jaxlib.mlir.ir`.
    """
    reductions = [o for o in operations_in(module) if o.name == "stablehlo.reduce" and len(o.operands) == 2]
    for operation in reductions:
        body = [o.operation.name for o in operation.regions[0].blocks[0].operations]
        kind = operation.operands[0].type
        if len(body) != 2 or str(kind.element_type) not in ("f32", "f64") or math.prod(kind.shape) < _LARGE:
            continue
        rewriter = _Rewriter(operation)
        with operation.location, rewriter.ir.InsertionPoint(operation):
            if body[0] == "stablehlo.add" and _is_zero(operation.operands[1]):
                rewriter.sum()
            elif body[0] in ("stablehlo.maximum", "stablehlo.minimum"):
                rewriter.extremum(body[0])


def _is_zero(value: Any) -> bool:
    owner = value.owner
    if getattr(owner, "name", None) != "stablehlo.constant":
        return False
    return not np.any(np.array(owner.attributes["value"]))


class _Rewriter:
    """Emits operations in front of a reduction."""

    def __init__(self, operation: Any):
        self.ir = load("jaxlib.mlir.ir")
        self.hlo = load("jaxlib.mlir.dialects.stablehlo")
        self.operation = operation
        self.operand = operation.operands[0]
        self.element = self.operand.type.element_type
        self.axes = list(self.ir.DenseI64ArrayAttr(operation.attributes["dimensions"]))

    def sum(self) -> None:
        """Replaces a sum by matrix products, if that pays."""
        # Neighbouring axes that are both summed, or both kept, become one.
        sizes = [(n, i in self.axes) for i, n in enumerate(self.operand.type.shape) if n != 1]
        groups = [(math.prod(n for n, _ in together), summed)
                  for summed, together in itertools.groupby(sizes, lambda size: size[1])]
        between = [i for i, (_, summed) in enumerate(groups) if summed and 0 < i < len(groups) - 1]
        if max((n for n, summed in groups if summed), default=0) < _LONG:
            return
        if any(math.prod(n for n, _ in groups[i + 1 :]) < _WIDE for i in between):
            return
        x = self.operand
        while any(summed for _, summed in groups):
            i = max((i for i, (_, summed) in enumerate(groups) if summed), key=lambda i: groups[i][0])
            n = groups[i][0]
            before, after = (math.prod(n for n, _ in part) for part in (groups[:i], groups[i + 1 :]))
            if i == 0:
                x = self._in_front(x, n, after)
            elif i == len(groups) - 1:
                x = self._at_end(x, before, n)
            else:
                x = self._between(x, before, n, after)
            del groups[i]
        self.operation.results[0].replace_all_uses_with(self._shaped(x, *self.operation.results[0].type.shape))
        self.operation.erase()

    def _in_front(self, x: Any, n: int, after: int) -> Any:
        if (part := _part(n)) > 1:
            return self._in_front(self._between(x, part, n // part, after), part, after)
        return self._product(self._ones(n), self._shaped(x, n, after), ([0], [0]), ([], []), (after,))

    def _between(self, x: Any, before: int, n: int, after: int) -> Any:
        return self._product(self._ones(before, n), self._shaped(x, before, n, after), ([1], [1]), ([0], [0]),
                             (before, after))

    def _at_end(self, x: Any, before: int, n: int) -> Any:
        if (part := _part(n)) > 1:
            return self._at_end(self._at_end(x, before * part, n // part), before, part)
        return self._product(self._shaped(x, before, n), self._ones(n), ([1], [0]), ([], []), (before,))

    def extremum(self, name: str) -> None:
        """Lets a maximum or minimum along the last axis begin with elementwise ones of the halves."""
        shape = list(self.operand.type.shape)
        if self.axes != [len(shape) - 1]:
            return
        x = self.operand
        for _ in range(_TIMES):
            n = shape[-1]
            if n % 2 or n < _HALVED:
                break
            shape[-1] = n // 2
            halves = [self.hlo.slice(x, [0] * (len(shape) - 1) + [start], [*shape[:-1], start + n // 2],
                                     [1] * len(shape)) for start in (0, n // 2)]
            x = (self.hlo.maximum if name == "stablehlo.maximum" else self.hlo.minimum)(*halves)
        self.operation.operands[0] = x

    def _type(self, shape: Sequence[int]) -> Any:
        return self.ir.RankedTensorType.get(list(shape), self.element)

    def _shaped(self, x: Any, *shape: int) -> Any:
        return x if tuple(x.type.shape) == shape else self.hlo.reshape(self._type(shape), x)

    def _ones(self, *shape: int) -> Any:
        one = self.ir.FloatAttr.get(self.element, 1.0)
        return self.hlo.constant(self.ir.DenseElementsAttr.get_splat(self._type(shape), one))

    def _product(self, x: Any, y: Any, contracted: Any, batch: Any, shape: Sequence[int]) -> Any:
        numbers = self.hlo.DotDimensionNumbers.get(
            lhs_batching_dimensions=batch[0], rhs_batching_dimensions=batch[1],
            lhs_contracting_dimensions=contracted[0], rhs_contracting_dimensions=contracted[1])
        return self.hlo.dot_general(self._type(shape), x, y, numbers)


def _part(n: int) -> int:
    """Returns in how many parts n terms are added up, at most `_AT_ONCE` each; 1 if in none."""
    if n <= _AT_ONCE:
        return 1
    most = next(d for d in range(_AT_ONCE, 0, -1) if n % d == 0)
    return n // most if most >= _LONG else 1
