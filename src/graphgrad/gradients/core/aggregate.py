"""Aggregation: sums the gradients that reach one tensor along several paths."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import int64
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.indexed_slices import IndexedSlices, dense

from .rules import Call, beside


class AggregationMethod:
    """How `gradients` sums several terms.

    `ADD_N` (the default) sums all terms by one `AddN`, once all have arrived. `EXPERIMENTAL_TREE` adds each term as it
    arrives, so that it can be freed: the terms of a weight shared by many steps are never alive together.
    `EXPERIMENTAL_ACCUMULATE_N` does the same, as in TensorFlow 2.
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def check_method(method: Any) -> int:
    """Returns the method as a number; raises ValueError for an unknown one."""
    method = AggregationMethod.DEFAULT if method is None else method
    if method not in (0, 1, 2):
        raise ValueError(
            f"Invalid `aggregation_method` specified {method}. Accepted values are [0, 1, 2]. "
            "Fix: use an attribute of tf.AggregationMethod"
        )
    return int(method)


def aggregate(call: Call, terms: list[Any], op: Operation) -> Any:
    """Sums `terms`.

    Args:
      call: the call of `gradients`, which determines method and name.
      terms: tensors or `IndexedSlices`, all gradients of one output of `op` that have not been added early.
      op: the operation whose output's gradients these are.
    Returns: a tensor or `IndexedSlices`; the term itself if there is only one. A sum of
      `IndexedSlices` stays sparse, by concatenation.
    """
    if len(terms) == 1:
        return terms[0]
    graph = call.graph
    with graph._around.having(scope=call.scope, original_op=op), beside(graph, op, call.colocate):
        sparse = [isinstance(t, IndexedSlices) for t in terms]
        if all(sparse):
            return concat_slices(terms)
        if any(sparse):
            return raw.AddN([dense(t) for t in terms])
        return _add_n(graph, terms)


def add_early(call: Call, t: Tensor, terms: list[Any], term: Any) -> bool:
    """Adds a new term of `t` to the previous sum; returns whether that was possible.

    So the sum grows during the sweep, and a run in that order keeps one term at a time.
    """
    if isinstance(term, IndexedSlices) or isinstance(terms[-1], IndexedSlices):
        return False
    graph, op = call.graph, t.op
    with graph._around.having(scope=call.scope, original_op=op):
        scope = call.sums.get(id(t))
        if scope is None:
            scope = call.sums[id(t)] = graph.unique_name(f"{op.name}_gradient_sum")
        graph._around.scope = scope
        with beside(graph, op, call.colocate):
            terms[-1] = raw.AddN([terms[-1], term])
    return True


def _add_n(graph: Graph, terms: list[Any]) -> Any:
    """Adds by one `AddN` on the terms' device; with several devices, by one for each and one over these."""
    by_device: dict[str, list[Any]] = {}
    for t in terms:
        by_device.setdefault(t.op.device, []).append(t)
    parts = []
    for _, group in sorted(by_device.items()):
        if len(group) == 1:
            parts.append(group[0])
        else:
            with graph.colocate_with(group[0].op, ignore_existing=True):
                parts.append(raw.AddN(group))
    return parts[0] if len(parts) == 1 else raw.AddN(parts)


def concat_slices(terms: list[IndexedSlices]) -> IndexedSlices:
    indices = [t.indices for t in terms]
    if len({i.dtype for i in indices}) > 1:
        indices = [raw.Cast(i, DstT=int64) for i in indices]
    shape = next((t.dense_shape for t in terms if t.dense_shape is not None), None)
    return IndexedSlices(raw.ConcatV2([t.values for t in terms], 0), raw.ConcatV2(indices, 0), shape)
