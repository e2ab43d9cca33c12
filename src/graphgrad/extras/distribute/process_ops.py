"""Operations over all processes: sums, and what one of them has; each process runs them in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.executor.backend import process_group as processes
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.values.indexed_slices import IndexedSlices

_FLAGS = ("stateful", "host")


def _same_shapes(input: Sequence[Any], **_: Any) -> Any:
    return list(input)


@op("ProcessesAllReduce", "input: list(T) -> output: list(T)", flags=_FLAGS)
def _all_reduce(xp: Any, input: Any, *, label: str = "") -> Any:
    """Computes the sum of tensors over all processes; what has one dtype travels together."""
    return processes.together(lambda group: group.all_reduce([np.asarray(a) for a in input], label))


_all_reduce.shape(_same_shapes)


@_all_reduce.grad
def _all_reduce_grad(op: Any, *dys: Any) -> Any:
    return list(raw.ProcessesAllReduce(list(dys), label=f"gradient of {op._attr('label')}"))


@op("ProcessesSize", "-> size: int64", flags=_FLAGS)
def _size(xp: Any) -> Any:
    """Gives the number of processes."""
    return np.int64(processes.group().who.size)


@_size.shape
def _size_shape() -> Any:
    return ()


_size.grad(NOT_DIFFERENTIABLE)


@op("ProcessesStack", "input: list(T) -> output: list(T)", flags=_FLAGS)
def _stack(xp: Any, input: Any, *, count: int = 1, label: str = "") -> Any:
    """Gives all processes the tensors of each, along a new first axis; zeros for those that are not there."""
    return processes.together(lambda group: group.stack([np.asarray(a) for a in input], count, label))


@_stack.shape
def _stack_shape(input: Sequence[Any], *, count: int = 1, **_: Any) -> Any:
    return [None if shape is None else (count, *shape) for shape in input]


@_stack.grad
def _stack_grad(op: Any, *dys: Any) -> Any:
    sums = raw.ProcessesAllReduce(list(dys), label=f"gradient of {op._attr('label')}")
    rank = processes.group().who.rank
    return [raw.StridedSlice(s, [rank], [rank + 1], [1], shrink_axis_mask=1) for s in sums]


@op("ProcessesBroadcast", "input: list(T) -> output: list(T)", flags=_FLAGS)
def _broadcast(xp: Any, input: Any, *, root: int = 0, label: str = "") -> Any:
    """Gives the tensors of one process to all."""
    return processes.together(lambda group: group.broadcast([np.asarray(a) for a in input], root, label))


_broadcast.shape(_same_shapes)


@_broadcast.grad
def _broadcast_grad(op: Any, *dys: Any) -> Any:
    sums = raw.ProcessesAllReduce(list(dys), label=f"gradient of {op._attr('label')}")
    if processes.group().who.rank == op._attr("root"):
        return list(sums)
    return [raw.ZerosLike(s) for s in sums]


@op("ProcessesAllGather", "input: list(T) -> output: list(T)", flags=_FLAGS)
def _all_gather(xp: Any, input: Any, *, label: str = "") -> Any:
    """Puts the tensors of all processes behind each other, along the first axis; they travel together."""
    return processes.together(lambda group: group.all_gather([np.asarray(a) for a in input], label))


@_all_gather.shape
def _all_gather_shape(input: Sequence[Any], **_: Any) -> Any:
    return [None if shape is None else (None, *shape[1:]) for shape in input]


@_all_gather.grad
def _all_gather_grad(op: Any, *dys: Any) -> Any:
    who, label = processes.group().who, op._attr("label")
    totals = raw.ProcessesAllReduce(list(dys), label=f"gradient of {label}")
    rows = [raw.StridedSlice(raw.Shape(x), [0], [1], [1]) for x in op.inputs]
    counts = raw.ProcessesAllGather(rows, label=f"rows of {label}")
    result = []
    for x, total, count in zip(op.inputs, totals, counts, strict=True):
        before = raw.Sum(raw.StridedSlice(count, [0], [who.rank], [1]), 0)
        begin = raw.Pack([before, *[convert_to_tensor(0)] * (x.shape.rank - 1)])
        result.append(raw.Slice(total, begin, raw.Shape(x)))
    return result


def gathered(slices: Sequence[IndexedSlices], label: str) -> list[IndexedSlices]:
    """Returns the rows of all processes, behind each other; all travel together.

    Args:
      slices: those of this process, in the same order in all processes.
      label: a name for errors.
    """
    if not slices:
        return []
    found = raw.ProcessesAllGather([t for s in slices for t in (s.values, s.indices)], label=label)
    return [IndexedSlices(found[2 * i], found[2 * i + 1], s.dense_shape) for i, s in enumerate(slices)]
