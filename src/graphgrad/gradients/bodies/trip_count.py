"""Infers the trip count of a loop from its condition."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphgrad.ir.constant_value import Origin, Origins, constant_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INDEX, int32
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw

from .subgraphs import copy_ops, needed_ops, through_identity

_SMALL = 4096  # up to this many iterations a bound is as good as the exact count


class Trips(NamedTuple):
    """What is known of the trip count of a loop.

    Attributes:
      steps: the trip count, a scalar int32; None if it is only known after the loop.
      bound: an upper bound, which decides sizes; None if there is no suitable one.
    """

    steps: Any
    bound: Any


class _Counter(NamedTuple):
    """A condition `i < limit` (or <=, >, >=) on a loop variable that changes by a constant."""

    start: Tensor
    limit: Tensor
    stride: int
    inclusive: bool


def count_trips(op: Operation) -> Trips:
    """Infers the trip count of a `While` from its condition.

    Args:
      op: the loop; new operations are added to the current graph, which holds it.
    """
    cond: FuncGraph = op._attr("cond")
    most = op._attr("maximum_iterations")
    conditions = _conjuncts(through_identity(cond.outputs[0]))
    counters = [c for c in (_counter(op, t) for t in conditions) if c is not None]
    counter = counters[0] if len(conditions) == len(counters) == 1 else None
    steps = None if counter is None else _count(counter, counter.limit)
    if steps is not None and most is not None:
        steps = raw.Minimum(steps, np.int32(most))
    longer = op._attr("bounded_by")
    if longer is not None:
        return Trips(steps, raw.TensorListLength(op.inputs[longer]))
    known = [constant_value(_count(c, c.limit)) for c in counters]
    bounds = [int(k) for k in (*known, most) if k is not None]
    if bounds and (min(bounds) <= _SMALL or (counter is not None and known[0] is not None)):
        return Trips(steps, np.int32(max(1, min(bounds))))
    return Trips(steps, None if counter is None else _size(op, steps, counter))


def _conjuncts(t: Tensor) -> list[Tensor]:
    """Returns the conjuncts of condition `t`."""
    found, waiting = [], [t]
    while waiting:
        t = through_identity(waiting.pop())
        if t.op.opdef.operator == "and":
            waiting.extend(t.op.inputs)
        else:
            found.append(t)
    return found


# Which way the left side may go, and whether it may reach the right one.
_COMPARISONS = {"<": (1, False), "<=": (1, True), ">": (-1, False), ">=": (-1, True)}


def _counter(op: Operation, condition: Tensor) -> _Counter | None:
    cond, n = op._attr("cond"), len(op.outputs)
    comparison = _COMPARISONS.get(condition.op.opdef.operator or "")
    if comparison is None:
        return None
    direction, inclusive = comparison
    left, right = map(through_identity, condition.op.inputs)
    positions = {id(t): i for i, t in enumerate(cond.inputs[:n])}
    for variable, limit, way in ((left, right, direction), (right, left, -direction)):
        i = positions.get(id(variable))
        stride = None if i is None else stride_of(op._attr("body"), i)
        if i is None or stride is None or stride * way <= 0:
            continue
        outside = _lifted(op, limit)
        if outside is not None:
            return _Counter(op.inputs[i], outside, stride, inclusive)
    return None


def is_sum_of_two(op: Operation) -> bool:
    """Returns whether an operation is the sum or the difference of two tensors."""
    return op.opdef.operator in ("+", "-") and not op.opdef.has_lists


def stride_of(body: FuncGraph, i: int) -> int | None:
    """Returns the constant that each iteration adds to the integer loop variable `i`."""
    before, after = body.inputs[i], through_identity(body.outputs[i])
    if before.dtype not in INDEX or not is_sum_of_two(after.op):
        return None
    a, b = map(through_identity, after.op.inputs)
    sign = -1 if after.op.opdef.operator == "-" else 1
    if sign > 0 and b is before:
        a, b = b, a
    if a is not before or b.op.type != "Const":
        return None
    value = constant_value(b)
    if value is None or value.ndim:
        return None
    return sign * int(value)


def written_once(op: Operation, i: int) -> bool:
    """Returns whether loop variable `i` of a `While` is a new list of which each iteration writes a different element.

    The gradient of such a list can be read in place: no element of it has to be cleared.
    """
    body, n = op._attr("body"), len(op.outputs)
    before, last = body.inputs[i], through_identity(body.outputs[i])
    if op.inputs[i].op.opdef.tensor_list != "reserve" or last.op.opdef.tensor_list != "set":
        return False
    if through_identity(last.op.inputs[0]) is not before or last.op._attr("resize_if_index_out_of_bounds"):
        return False
    place = through_identity(last.op.inputs[1])
    fixed = {id(t) for t in body.inputs[n:]}
    if is_sum_of_two(place.op):
        a, b = map(through_identity, place.op.inputs)
        if a.op.type == "Const" or id(a) in fixed:
            place = b
        elif b.op.type == "Const" or id(b) in fixed:
            place = a
    counters = [j for j in range(n) if body.inputs[j] is place]
    if not counters or not stride_of(body, counters[0]):
        return False
    readers = [o for o in needed_ops(body.outputs) if any(through_identity(t) is before for t in o.inputs)]
    return all(o is last.op or o.opdef.identity for o in readers)


def _lifted(op: Operation, t: Tensor) -> Tensor | None:
    """Computes a tensor of the condition outside of the loop; None if it changes from iteration to iteration."""
    cond, body, n = op._attr("cond"), op._attr("body"), len(op.outputs)
    inside: dict[int, Tensor] = {}
    for i, p in enumerate(cond.inputs):
        if i >= n or through_identity(body.outputs[i]) is body.inputs[i]:
            inside[id(p)] = convert_to_tensor(op.inputs[i])
    for o in needed_ops([t], inside):
        if not o.opdef.pure or "host" in o.opdef.flags:
            return None
    graph = current_graph()
    assert graph is not None
    (lifted,) = copy_ops(graph, [t], inside)
    return lifted


def _count(counter: _Counter, limit: Any) -> Any:
    """Counts the values of the counter that satisfy the condition, a scalar int32."""
    distance = raw.Sub(limit, counter.start) if counter.stride > 0 else raw.Sub(counter.start, limit)
    size = abs(counter.stride)
    more = size if counter.inclusive else size - 1
    dtype = distance.dtype.np_dtype.type
    if more:
        distance = raw.AddV2(distance, dtype(more))
    if size > 1:
        distance = raw.FloorDiv(distance, dtype(size))
    count = raw.Maximum(distance, dtype(0))
    return count if count.dtype is int32 else raw.Cast(count, DstT=int32)


def _size(op: Operation, steps: Any, counter: _Counter) -> Any:
    """Returns the length of the lists: at least 1, and known when the loop is compiled."""
    if op.graph.building_function and op.graph._outer_graph is not None:
        return raw.Maximum(steps, np.int32(1))  # if it is unknown in a run, NumPy runs the outer loop
    limit = through_identity(counter.limit)
    # The loop of a dynamic_rnn ends at the longest sequence, at most the length of the inputs.
    origins = Origins()
    smaller = list(limit.op.inputs) if limit.op.opdef.operator == "min" else []
    for candidate in (limit, *smaller):
        if max(origins.of(candidate), origins.of(counter.start)) is Origin.SHAPES:
            count = steps if candidate is limit else _count(counter, candidate)
            return raw.Maximum(count, np.int32(1))
    return raw.LoopBound(steps)
