"""Follows dependences through branches, loops, maps over rows, and lists of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from graphgrad.gradients.core.gradient_paths import GraphView
from graphgrad.gradients.core.rules import carries_gradient
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined
from graphgrad.op_traits import Dependence

from .dependences import Dependences, shape_of, size_of
from .known_values import KnownValues
from .pattern import ColumnTable, Pattern, PatternPart, TooManyEntries, identity, merged, uniform, union

_EXACT = 64  # iterations that are followed one by one
_ROUNDS = 24  # until what is reached in any number of iterations is taken to be everything
_LIMIT = 50_000_000  # entries of a map over rows


def visit(dependences: Dependences, op: Operation) -> None:
    """Computes the patterns of an operation's outputs, sub-graphs included."""
    rule = _RULES.get(op.opdef)
    inputs = dependences.inputs(op)
    given = [dependences.of(t) if carries_gradient(t) else () for t in inputs]
    if rule is None or op._gradient is not None or not any(given):
        dependences.visit(op)
        return
    found = rule(dependences, op, given)
    if found is None:
        found = dependences.everything(op, given, "what it does is not known")
    for t, pattern in zip(op.outputs, found, strict=False):
        if pattern and carries_gradient(t):
            dependences.known[id(t)] = pattern


def _inside(outer: Dependences, graph: FuncGraph, given: Sequence[Pattern], values: Sequence[Any],
            width: int | None = None) -> tuple[list[Pattern], KnownValues]:
    """Returns the patterns of a sub-graph's outputs, for those and the known values of its inputs."""
    known = KnownValues({id(t): v for t, v in zip(graph.inputs, values, strict=True) if v is not None})
    inner = Dependences(outer.width if width is None else width, attrgetter("inputs"), known)
    inner.dense = outer.dense
    inner.known.update((id(t), p) for t, p in zip(graph.inputs, given, strict=True) if p)
    for op in GraphView(graph, {}).upstream(graph.outputs):
        visit(inner, op)
    return [inner.of(t) if carries_gradient(t) else () for t in graph.outputs], known


def _if(outer: Dependences, op: Operation, given: list[Pattern]) -> list[Pattern]:
    values = [outer.values.of(t) for t in outer.inputs(op)]
    found = [_inside(outer, op._attr(branch), given[1:], values[1:])[0] for branch in ("then_branch", "else_branch")]
    return [union(pair, _size(t), outer.width, op) for t, pair in zip(op.outputs, zip(*found, strict=True),
                                                                      strict=False)]


def _while(outer: Dependences, op: Operation, given: list[Pattern]) -> list[Pattern]:
    body, n = op._attr("body"), len(op.outputs)
    values = [outer.values.of(t) for t in outer.inputs(op)]
    exact = _iterated(outer, op, given, values)
    if exact is not None:
        return exact
    fixed = [*[v if body.outputs[i] is body.inputs[i] else None for i, v in enumerate(values[:n])], *values[n:]]
    state, captured = given[:n], given[n:]
    counts = None
    for _ in range(_ROUNDS):
        after, _known = _inside(outer, body, [*state, *captured], fixed)
        state = [_settled(outer, t, (p, q), op) for t, p, q in zip(op.outputs, state, after, strict=True)]
        now = [[(len(table.columns) if table else -1, None if rows is None else len(rows)) for table, rows in p]
               for p in state]
        if now == counts:
            return state
        counts = now
    return outer.everything(op, given, "it may run any number of times")


def _iterated(outer: Dependences, op: Operation, given: list[Pattern], values: list[Any]) -> list[Pattern] | None:
    """Follows a loop iteration by iteration, where its condition is known; None where it is not."""
    condition, body, n = op._attr("cond"), op._attr("body"), len(op.outputs)
    most = op._attr("maximum_iterations") if "maximum_iterations" in op.attrs else None
    if most is not None and not isinstance(most, (int, np.integer)):
        return None
    state, known = given[:n], list(values[:n])
    for step in range(_EXACT):
        go_on = KnownValues({id(t): v for t, v in zip(condition.inputs, [*known, *values[n:]], strict=True)
                             if v is not None}).of(condition.outputs[0])
        if go_on is None:
            return None
        if not go_on or (most is not None and step >= most):
            return state
        state, inner = _inside(outer, body, [*state, *given[n:]], [*known, *values[n:]])
        state = [_settled(outer, t, (p,), op) for t, p in zip(op.outputs, state, strict=True)]
        known = [None if carries_gradient(t) else inner.of(t) for t in body.outputs]
    return None


def _settled(outer: Dependences, t: Tensor, patterns: Sequence[Pattern], op: Operation) -> Pattern:
    """Returns the union as one part, so that it can be compared with another one."""
    found = union(patterns, _size(t), outer.width, op)
    if not found or (len(found) == 1 and found[0].rows is None):
        return found
    sizes = {len(rows) for _, rows in found if rows is not None}
    size = _size(t)
    if size is None and t.dtype.kind == "o" and len(sizes) == 1:  # a list of elements of that size
        (size,) = sizes
    if size is None or sizes - {size}:
        return uniform([found], outer.width, op)
    return (PatternPart(merged(found, size, outer.width, op), np.arange(size, dtype=np.int32)),)


def _size(t: Tensor) -> int | None:
    return size_of(t) if t.dtype.kind != "o" and is_fully_defined(t._spec.shape) else None


def _map(outer: Dependences, op: Operation, given: list[Pattern]) -> list[Pattern] | None:
    """Finds what one row depends on, and repeats it for all."""
    body, mapped, summed = op._attr("body"), op._attr("mapped"), op._attr("summed")
    if not all(t.dtype.kind == "o" or is_fully_defined(t._spec.shape) for t in (*op.inputs, *op.outputs)):
        return None
    n = next(shape_of(t)[0] for t, is_mapped in zip(op.inputs, mapped, strict=True) if is_mapped)
    sizes = [size_of(t) if pattern else 0 for t, pattern in zip(body.inputs, given, strict=True)]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    local = [tuple(PatternPart(None, part.sized(size) + start) for part in identity(size)) if size else ()
             for start, size in zip(starts, sizes, strict=True)]
    values = [None if is_mapped or p else outer.values.of(t)
              for t, is_mapped, p in zip(outer.inputs(op), mapped, given, strict=True)]
    patterns, _known = _inside(outer, body, local, values, sum(sizes))
    lists = [*zip(body.inputs, given, strict=True), *zip(body.outputs, patterns, strict=True)]
    if any(t.dtype.kind == "o" and pattern for t, pattern in lists):
        return None
    found = []
    for i, (t, pattern) in enumerate(zip(body.outputs, patterns, strict=True)):
        table = merged(pattern, size_of(t), sum(sizes), op)
        row = _Row(table, size_of(t), n, i in summed)
        terms = [outer.through(dependence, given[j], op) for j in range(len(sizes))
                 if (dependence := row.on(starts[j], sizes[j], mapped[j])) is not None]
        found.append(union(terms, _size(op.outputs[i]), outer.width, op))
    return found


class _Row(NamedTuple):
    """What a row of a map over `n` rows depends on, among the inputs of its body one after the other.

    Attributes: table: for each element of the row. size: their number. summed: whether rows are summed.
    """

    table: ColumnTable
    size: int
    n: int
    summed: bool

    def on(self, start: int, length: int, is_mapped: bool) -> Dependence | None:
        """Returns how all rows depend on an input: that of the body begins at `start`."""
        table, n = self.table, self.n
        groups = np.repeat(np.arange(self.size), table.starts[1:] - table.starts[:-1])
        mine = (table.columns >= start) & (table.columns < start + length)
        groups, members = groups[mine], table.columns[mine] - start
        if not len(groups):
            return None
        if len(groups) * n > _LIMIT:
            raise TooManyEntries(len(groups) * n, table.op)
        each = np.arange(n)[:, None]
        groups = np.tile(groups, n) if self.summed else (each * self.size + groups).ravel()
        members = (each * length + members).ravel() if is_mapped else np.tile(members, n)
        return Dependence(np.arange(self.size if self.summed else n * self.size), groups, members)


# -- lists: the pattern of one is that of any of its elements -------------------------------


def _set_item(outer: Dependences, op: Operation, given: list[Pattern]) -> list[Pattern]:
    elements, item = given[0], given[2]
    sizes = {len(rows) for _, rows in (*elements, *item) if rows is not None}
    if len(sizes) > 1:
        return [uniform([elements, item], outer.width, op)]
    return [union([elements, item], max(sizes, default=None), outer.width, op)]


def _get_item(outer: Dependences, op: Operation, given: list[Pattern]) -> list[Pattern]:
    return [_of_elements(outer, op, given[0], 1)]


def _of_elements(outer: Dependences, op: Operation, elements: Pattern, count: int) -> Pattern:
    """Returns the pattern of `count` elements, one after the other."""
    size = _size(op.outputs[0])
    if size is None or any(rows is not None and len(rows) * count != size for _, rows in elements):
        return uniform([elements], outer.width, op)
    return tuple([PatternPart(table, None if rows is None else np.tile(rows, count)) for table, rows in elements])


def _stack(outer: Dependences, op: Operation, given: list[Pattern]) -> list[Pattern]:
    shape = shape_of(op.outputs[0])
    return [_of_elements(outer, op, given[0], shape[0] if shape and shape[0] else 1)]


def _from_tensor(outer: Dependences, op: Operation, given: list[Pattern]) -> list[Pattern]:
    shape = shape_of(op.inputs[0])
    if not is_fully_defined(shape) or not shape or not shape[0]:
        return [uniform([given[0]], outer.width, op)]
    size = size_of(op.inputs[0]) // shape[0]
    members = np.arange(size * shape[0], dtype=np.int32)
    return [outer.through(Dependence(np.arange(size), members % max(size, 1), members), given[0], op)]


_RULES: dict[Any, Any] = {
    raw.If: _if, raw.While: _while, raw.VectorizedMap: _map, raw.TensorListSetItem: _set_item,
    raw.TensorListGetItem: _get_item, raw.TensorListStack: _stack, raw.TensorListFromTensor: _from_tensor,
}
