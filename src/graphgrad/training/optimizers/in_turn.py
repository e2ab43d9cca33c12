"""Gradients of all workers of a cluster: their mean for one update, or each of them in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.frontend.control_flow.cond_while import cond
from graphgrad.frontend.variables import clusters
from graphgrad.ir import dtypes
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ops.control.group import group, no_op
from graphgrad.system.log import Log

_log = Log("tensorflow")
_Pairs = Sequence[tuple[Any, Any]]
_said: list[bool] = []


def sums(pairs: _Pairs) -> list[tuple[Any, Any]]:
    """Returns pairs with the sums of the gradients of all workers; rows are put behind each other.

    Args:
      pairs: gradients and variables, in the same order in all processes; None for a gradient stays.
    """
    given = [(_given(g), v) for g, v in pairs]
    if clusters.current() is None:
        return given
    dense = [i for i, (g, _) in enumerate(given) if g is not None and not isinstance(g, IndexedSlices)]
    totals = raw.ProcessesAllReduce([given[i][0] for i in dense], label="gradients") if dense else []
    found = dict(zip(dense, totals, strict=True))
    sparse = [i for i, (g, _) in enumerate(given) if isinstance(g, IndexedSlices)]
    parts = [t for i in sparse for t in (given[i][0].values, given[i][0].indices)]
    rows = raw.ProcessesAllGather(parts, label="rows of gradients") if parts else []
    for n, i in enumerate(sparse):
        found[i] = IndexedSlices(rows[2 * n], rows[2 * n + 1], given[i][0].dense_shape)
    return [(found.get(i, g), v) for i, (g, v) in enumerate(given)]


def means(pairs: _Pairs) -> list[tuple[Any, Any]]:
    """Returns pairs with the means of the gradients of all workers.

    A row that several of them have is the mean of those that have it, as in TensorFlow.

    Args:
      pairs: as for `sums`.
    """
    if clusters.current() is None:
        return list(pairs)
    result = []
    pairs = [(_distinct(g) if isinstance(g, IndexedSlices) else g, v) for g, v in pairs]
    for (g, v), (own, _) in zip(sums(pairs), pairs, strict=True):
        if isinstance(g, IndexedSlices):
            g = _mean_of_rows(g)
        elif own is not None:
            with get_default_graph().control_dependencies([g]):  # one that has ended is not counted
                count = raw.ProcessesSize()
            g = raw.RealDiv(g, raw.Cast(count, DstT=g.dtype))
        result.append((g, v))
    return result


def _distinct(rows: IndexedSlices) -> IndexedSlices:
    unique, places = raw.Unique(rows.indices)
    count = raw.StridedSlice(raw.Shape(unique), [0], [1], [1], shrink_axis_mask=1)
    return IndexedSlices(raw.UnsortedSegmentSum(rows.values, places, count), unique, rows.dense_shape)


def _mean_of_rows(rows: IndexedSlices) -> IndexedSlices:
    unique, places = raw.Unique(rows.indices)
    count = raw.StridedSlice(raw.Shape(unique), [0], [1], [1], shrink_axis_mask=1)
    total = raw.UnsortedSegmentSum(rows.values, places, count)
    ones = raw.Fill(raw.Shape(rows.indices), raw.Cast(1, DstT=rows.values.dtype))
    times = raw.UnsortedSegmentSum(ones, places, count)
    for _ in range(1, rows.values.shape.rank):
        times = raw.ExpandDims(times, -1)
    return IndexedSlices(raw.RealDiv(total, times), unique, rows.dense_shape)


def apply(optimizer: Any, pairs: _Pairs, global_step: Any, name: str | None) -> Any:
    """Builds the update that asynchronous workers make together: each one's gradients are applied, one after another.

    All gradients belong to the values that the variables have before. That is what asynchronous workers do if all read
    before the first of them writes. The global step is raised once for each worker.

    Args:
      optimizer, pairs, global_step, name: those of `Optimizer.apply_gradients`.
    """
    from .gradient_descent import GradientDescentOptimizer

    # Silenced by the caller: there is a cluster.
    workers = len(clusters.current().workers)  # type: ignore[union-attr]
    if not _said:
        _said.append(True)
        _log.warning("Asynchronous training: the %d workers compute in step here, and the gradients of all are applied "
                     "in turn. Each step counts %d.", workers, workers)
    shared = [(g, v) for g, v in pairs if g is not None and clusters.is_shared(v)]
    own = [(g, v) for g, v in pairs if g is not None and not clusters.is_shared(v)]
    steps = global_step is not None and clusters.is_shared(global_step)
    with clusters.as_given():
        if type(optimizer) is GradientDescentOptimizer and all(v.constraint is None for _, v in shared):
            applied = optimizer.apply_gradients([*sums(shared), *own], None if steps else global_step, name)
            if not steps:
                return applied
            with get_default_graph().control_dependencies([applied]):
                count = raw.Cast(raw.ProcessesSize(), DstT=global_step.dtype.base_dtype)
                return global_step.assign_add(count, read_value=False)
        optimizer._make_slots([v for _, v in shared])
        turns = _each(shared, workers)
        applied = optimizer.apply_gradients([*turns[0], *own], global_step, name)
        for i, turn in enumerate(turns[1:], 1):
            with get_default_graph().control_dependencies([applied]):
                applied = _if_there(i, optimizer, turn, global_step if steps else None, name)
        return applied


def _if_there(i: int, optimizer: Any, turn: _Pairs, step: Any, name: str | None) -> Any:
    """Applies a worker's gradients, if it is still there."""
    there = raw.Less(raw.Cast(i, DstT=dtypes.int64), raw.ProcessesSize())
    found = cond(there, lambda: group(optimizer.apply_gradients(turn, step, name)), no_op)
    return getattr(found, "op", found)


def _given(gradient: Any) -> Any:
    return gradient if gradient is None or isinstance(gradient, IndexedSlices) else convert_to_tensor(gradient)


def _each(pairs: _Pairs, workers: int) -> list[list[tuple[Any, Any]]]:
    """Returns the pairs of each worker, in all of them; of one that is not there any more, zeros or no rows."""
    result: list[list[tuple[Any, Any]]] = [[] for _ in range(workers)]
    dense = [i for i, (g, _) in enumerate(pairs) if not isinstance(g, IndexedSlices)]
    gradients = [_given(pairs[i][0]) for i in dense]
    stacks = raw.ProcessesStack(gradients, count=workers, label="gradients") if dense else []
    places = dict(zip(dense, stacks, strict=True))
    for i, (g, v) in enumerate(pairs):
        rows = places[i] if i in places else _rows_of_each(g, v, workers)
        for n, turn in enumerate(result):
            turn.append((rows[n] if i not in places else raw.StridedSlice(rows, [n], [n + 1], [1], shrink_axis_mask=1),
                         v))
    return result


def _rows_of_each(rows: IndexedSlices, variable: Any, workers: int) -> list[IndexedSlices]:
    values, indices = raw.ProcessesAllGather([rows.values, rows.indices], label=f"rows of {variable.name}")
    mine = raw.StridedSlice(raw.Shape(rows.indices), [0], [1], [1], shrink_axis_mask=1)
    (counts,) = raw.ProcessesStack([mine], count=workers, label=f"numbers of rows of {variable.name}")
    ends = raw.Cumsum(counts, 0)
    result = []
    for n in range(workers):
        end, size = (raw.StridedSlice(t, [n], [n + 1], [1], shrink_axis_mask=1) for t in (ends, counts))
        begin, stop = raw.Pack([raw.Sub(end, size)]), raw.Pack([end])
        result.append(IndexedSlices(raw.StridedSlice(values, begin, stop, [1]),
                                    raw.StridedSlice(indices, begin, stop, [1]), rows.dense_shape))
    return result
