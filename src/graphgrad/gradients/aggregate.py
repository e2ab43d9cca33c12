"""Summing the gradients that reach one tensor along several paths."""

from __future__ import annotations

from typing import Any

from ..ir.dtypes import int64
from ..ir.graph import Graph, Operation
from ..ir.opdef import raw
from ..ir.slices import IndexedSlices


class AggregationMethod:
    """How `gradients` sums several terms.

    `ADD_N` (the default) sums all terms by one `AddN`, when all are there.
    `EXPERIMENTAL_TREE` adds term by term, so that each can be freed once it is added.
    `EXPERIMENTAL_ACCUMULATE_N` sums all terms by one `AccumulateNV2`.
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def check_method(method: Any) -> int:
    """The method as a number; ValueError if it is none."""
    method = AggregationMethod.DEFAULT if method is None else method
    if method not in (0, 1, 2):
        raise ValueError(
            f"Invalid `aggregation_method` specified {method}. Accepted values are [0, 1, 2]. "
            "Fix: use an attribute of tf.AggregationMethod"
        )
    return int(method)


def aggregate(graph: Graph, terms: list[Any], method: int, op: Operation, scope: str) -> Any:
    """The sum of `terms`.

    Args:
      graph: the graph.
      terms: tensors or `IndexedSlices`, all gradients of one output of `op`.
      method: one of `AggregationMethod`.
      op: the operation whose output's gradients these are; names the partial sums.
      scope: the name scope of the gradient, for the sum's name.
    Returns: a tensor or `IndexedSlices`; the term itself if there is only one. A sum of
      `IndexedSlices` stays sparse, by concatenation.
    """
    if len(terms) == 1:
        return terms[0]
    saved = graph._scope, graph._colocated, graph._device, graph._devices, graph._original_op
    first = terms[0].op
    graph._scope = scope
    graph._colocated = tuple(g.decode() for g in first.colocation_groups())
    # The sum belongs beside its first term.
    graph._device, graph._devices = first.device, [first.device]
    graph._original_op = op
    try:
        if all(isinstance(t, IndexedSlices) for t in terms):
            return _concat_slices(terms)
        dense = [t._as_tensor() if isinstance(t, IndexedSlices) else t for t in terms]
        if method == AggregationMethod.ADD_N:
            return raw.AddN(dense)
        graph._scope = graph.unique_name(f"{op.name}_gradient_sum")
        if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N:
            return raw.AccumulateNV2(dense, shape=dense[0]._spec.shape)
        total = dense[0]
        for term in dense[1:]:
            total = raw.AddN([total, term])
        return total
    finally:
        graph._scope, graph._colocated, graph._device, graph._devices, graph._original_op = saved


def _concat_slices(terms: list[IndexedSlices]) -> IndexedSlices:
    indices = [t.indices for t in terms]
    if len({i.dtype for i in indices}) > 1:
        indices = [raw.Cast(i, DstT=int64) for i in indices]
    shape = next((t.dense_shape for t in terms if t.dense_shape is not None), None)
    return IndexedSlices(raw.ConcatV2([t.values for t in terms], 0), raw.ConcatV2(indices, 0), shape)
