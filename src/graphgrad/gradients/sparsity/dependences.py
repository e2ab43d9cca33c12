"""Follows dependences from x through the operations of an unchanged graph.

What an operation depends on is what its gradient says, since that is the Jacobian that a user sees: nothing passes
`stop_gradient`, and where a user has given the gradient all may depend on all. An operation about which nothing is
known is treated so, too: a pattern may have entries too many, never too few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.core.registry import gradient_function, is_users
from graphgrad.gradients.core.rules import carries_gradient
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE
from graphgrad.ir.shape import is_fully_defined
from graphgrad.op_traits import Dependence

from .known_values import KnownValues, run_kernel
from .pattern import ColumnTable, Pattern, PatternPart, grouped, moved, uniform, union


class Dependences:
    """The patterns of tensors, by what they are computed from.

    Args:
      width: the number of elements of x.
      inputs: gives the inputs of an operation, as `gradient_paths` sees them.
      values: the values that are known.

    Attributes:
      known: id of a tensor -> its pattern.
      dense: operations that were treated as if all depended on all, in the order of their execution, with a reason.
    """

    def __init__(self, width: int, inputs: Callable[[Operation], Sequence[Tensor]], values: KnownValues):
        self.width, self.inputs, self.values = width, inputs, values
        self.known: dict[int, Pattern] = {}
        self.dense: list[tuple[Operation, str]] = []

    def of(self, t: Any) -> Pattern:
        """Returns the pattern of a tensor."""
        return self.known.get(id(t), ())

    def visit(self, op: Operation) -> None:
        """Computes the patterns of an operation's outputs."""
        given = [self.of(t) if carries_gradient(t) else () for t in self.inputs(op)]
        if not any(given):
            return
        found = self._outputs(op, given)
        for t, pattern in zip(op.outputs, found, strict=True):
            if pattern and carries_gradient(t) and id(t) not in self.known:
                self.known[id(t)] = pattern

    def _outputs(self, op: Operation, given: list[Pattern]) -> list[Pattern]:
        record = op.opdef
        rule = gradient_function(op)
        if rule is NOT_DIFFERENTIABLE or rule is None:
            return [()] * len(op.outputs)
        if op._gradient is not None or is_users(record.name):
            return self.everything(op, given, "its gradient is a user's")
        if record.variable == "read" and len(op.outputs) == 1:
            return [given[0]]
        if record.tensor_list is None and not all(map(_is_sized, (*op.inputs, *op.outputs))):
            return self.everything(op, given, "a shape is not known")
        if record.alias and len(op.inputs) == len(op.outputs):
            return given
        # A maximum moves data, too, but which is not known.
        chosen = not record.elementwise or not all(map(carries_gradient, op.inputs))
        found = self._moved(op, given) if record.data_movement and chosen else None
        if found is None and (record.elementwise or record.dependence_rule == "elementwise"):
            return [self._elementwise(op, given)]
        if found is None and callable(record.dependence_rule):
            found = self._by_rule(op, record.dependence_rule, given)
        return self.everything(op, given, "") if found is None else found

    def everything(self, op: Operation, given: Sequence[Pattern], reason: str) -> list[Pattern]:
        """Returns patterns by which each element of each output depends on all that the inputs depend on."""
        if any(size_of(t) > 1 for t in op.outputs):
            self.dense.append((op, reason))
        return [uniform(given, self.width, op)] * len(op.outputs)

    def _elementwise(self, op: Operation, given: list[Pattern]) -> Pattern:
        (y,) = op.outputs
        shape = shape_of(y)
        found = []
        for i, (t, pattern) in enumerate(zip(op.inputs, given, strict=True)):
            if pattern and t._spec.shape != shape:
                rows = np.broadcast_to(np.arange(size_of(t), dtype=np.int32).reshape(shape_of(t)), shape).ravel()
                pattern = moved(pattern, rows)
            if pattern and record_is_product(op) and len(op.inputs) == 2:
                pattern = self._without_zeros(op, 1 - i, pattern)
            found.append(pattern)
        return union(found, size_of(y), self.width, op)

    def _without_zeros(self, op: Operation, factor: int, pattern: Pattern) -> Pattern:
        """Returns the pattern of a product whose other factor is zero here and there."""
        value = self.values.of(self.inputs(op)[factor])
        if value is None or np.all(value):
            return pattern
        zero = np.broadcast_to(value == 0, shape_of(op.outputs[0])).ravel()
        return moved(pattern, np.where(zero, -1, np.arange(len(zero), dtype=np.int32)))

    def _moved(self, op: Operation, given: list[Pattern]) -> list[Pattern] | None:
        """Runs the kernel on numbers of rows; 0 stands for a zero, which depends on nothing."""
        values = [None if carries_gradient(t) else self.values.of(t) for t in self.inputs(op)]
        if any(v is None and not carries_gradient(t) for v, t in zip(values, op.inputs, strict=True)):
            return None
        by_table: dict[int, list[list[Any]]] = {}
        tables: dict[int, ColumnTable | None] = {}
        for i, (t, pattern) in enumerate(zip(op.inputs, given, strict=True)):
            for part in pattern:
                tables[id(part.table)] = part.table
                lists: list[list[Any]] = by_table.setdefault(id(part.table), [[] for _ in given])
                lists[i].append((part.sized(size_of(t)) + 1).reshape(shape_of(t)))
        found: list[list[PatternPart]] = [[] for _ in op.outputs]
        for key, lists in by_table.items():
            for n in range(max(map(len, lists))):
                arrays = [value if value is not None else mine[n] if n < len(mine) else
                          np.zeros(shape_of(t), np.int32)
                          for value, mine, t in zip(values, lists, op.inputs, strict=True)]
                results = run_kernel(op, arrays)
                if results is None:
                    return None
                for t, parts, result in zip(op.outputs, found, results, strict=True):
                    if np.shape(result) != t._spec.shape:
                        return None
                    rows = np.asarray(result).ravel().astype(np.int32) - 1
                    if (rows >= 0).any():
                        parts.append(PatternPart(tables[key], rows))
        return [union([tuple(p)], size_of(t), self.width, op) for p, t in zip(found, op.outputs, strict=True)]

    def _by_rule(self, op: Operation, rule: Any, given: list[Pattern]) -> list[Pattern] | None:
        values = [None if pattern else self.values.of(t) for t, pattern in zip(self.inputs(op), given, strict=True)]
        found = []
        for index, output in enumerate(op.outputs):
            dependences = rule(op, values, index) if carries_gradient(output) else [None] * len(given)
            if dependences is None:
                return None
            terms = [self.through(d, pattern, op) for d, pattern in zip(dependences, given, strict=True)
                     if d is not None and pattern]
            found.append(union(terms, size_of(output), self.width, op))
        return found

    def through(self, dependence: Dependence, pattern: Pattern, op: Operation) -> Pattern:
        """Returns the pattern of an output that depends on an input with `pattern` as `dependence` says."""
        rows, groups, members = dependence
        if groups is None:
            return moved(pattern, np.asarray(rows))
        count = int(groups.max(initial=-1)) + 1
        if not count:
            return ()
        table = grouped(pattern, groups, members, count, self.width, op)
        if not len(table.columns):
            return ()
        if rows is None:
            return (PatternPart(table, None),)
        return (PatternPart(table, np.where(rows < count, rows, -1).astype(np.int32)),)


def record_is_product(op: Operation) -> bool:
    """Returns whether a zero in one input makes the derivatives by the other one zero, elementwise."""
    return op.opdef.elementwise and op.opdef.linear is not None and op.opdef.linear.name == "SEPARATELY"


def shape_of(t: Any) -> Any:
    """Returns the shape of a tensor, a tuple of int where it is known."""
    return t._spec.shape


def _is_sized(t: Tensor) -> bool:
    return t.dtype.kind == "o" or is_fully_defined(t._spec.shape)


def size_of(t: Tensor) -> int:
    """Returns the number of elements of a tensor; 2, which stands for several, where it is not known."""
    shape = shape_of(t)
    return math.prod(shape) if is_fully_defined(shape) else 2
