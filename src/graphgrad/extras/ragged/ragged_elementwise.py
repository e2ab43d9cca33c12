"""Elementwise functions of ragged tensors: of their flat values, where all operands have the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ops.control.assertions import after_check

from .ragged_tensor import RaggedTensor
from .row_partitions import _before, _rowids


def positions(splits: Any) -> tuple[Any, Any]:
    """Returns, for each value, the number of its row and its position within the row."""
    rows = _rowids(splits)
    places = raw.Cast(raw.Range(0, raw.Size(rows), 1), DstT=splits.dtype)
    return rows, raw.Sub(places, raw.GatherV2(_before(splits), rows, 0))


def coordinates(t: RaggedTensor) -> list[Any]:
    """Returns, for each of the flat values, its position along the first axis and along each ragged one."""
    found: list[Any] = []
    for splits in t.nested_row_splits:
        rows, places = positions(splits)
        found = [raw.GatherV2(c, rows, 0) for c in found] + [places] if found else [rows, places]
    return found


def _same_rows(one: RaggedTensor, other: RaggedTensor) -> Any:
    """Returns the flat values of `other`, after a check that its rows are those of `one`."""
    if one.ragged_rank != other.ragged_rank:
        raise ValueError(f"elementwise functions of ragged tensors with {one.ragged_rank} and {other.ragged_rank} "
                         "ragged axes are not offered. Fix: give tensors with the same rows")
    flat = other.flat_values
    for a, b in zip(one.nested_row_splits, other.nested_row_splits, strict=True):
        if a is b:
            continue
        known_a, known_b = constant_value(a), constant_value(b)
        if known_a is not None and known_b is not None and np.array_equal(known_a, known_b):
            continue
        b = raw.Cast(b, DstT=a.dtype)
        same: Any = raw.Equal(raw.Size(a), raw.Size(b))
        count = raw.Minimum(raw.Size(a), raw.Size(b))
        equal = raw.Equal(raw.Slice(a, [0], raw.Pack([count])), raw.Slice(b, [0], raw.Pack([count])))
        same = raw.LogicalAnd(same, raw.All(equal, [0]))
        flat = after_check(flat, same, ["Inputs must have identical ragged splits", a, b], 100)
    return flat


def _spread(dense: Any, like: RaggedTensor) -> Any:
    """Broadcasts a dense operand to one value, or none, for each of the flat values of a ragged one."""
    rank, inner = dense.shape.rank, len(like.flat_values.shape.as_list()) - 1
    if rank is None:
        raise ValueError("a dense operand beside a ragged one must have a known rank. Fix: use set_shape")
    axes = rank - inner  # of those that go with rows
    if axes <= 0:
        return dense
    if axes > like.ragged_rank + 1:
        raise ValueError(f"a dense operand of rank {rank} cannot be broadcast to the shape {like.shape} of a ragged "
                         "one. Fix: give it at most as many axes")
    sizes = dense.shape.as_list()[:axes]
    if all(n == 1 for n in sizes):
        return raw.Reshape(dense, raw.ConcatV2([[1], raw.Slice(raw.Shape(dense), [axes], [-1])], 0))
    shape = raw.Shape(dense, out_type=like.row_splits.dtype)
    at = coordinates(like)[-axes:]
    first = like.ragged_rank + 1 - axes
    index = []
    for i, (size, place) in enumerate(zip(sizes, at, strict=True)):
        index.append(raw.ZerosLike(place) if size == 1 else raw.Minimum(place, raw.Sub(shape[i], 1)))
        if first + i and size != 1:  # along a ragged axis: rows must be as long
            splits = like.nested_row_splits[first + i - 1]
            lengths = raw.Sub(splits[1:], splits[:-1])
            fits = raw.LogicalOr(raw.Equal(shape[i], 1), raw.All(raw.Equal(lengths, shape[i]), [0]))
            dense = after_check(dense, fits, ["Unable to broadcast: rows have lengths", lengths, "not", shape[i]], 100)
    return raw.GatherNd(dense, raw.Pack(index, axis=1))


def apply(f: Callable[..., Any], operands: Sequence[Any], rest: Callable[..., Any]) -> Any:
    """Applies an elementwise function.

    Args:
      f: the function.
      operands: its operands; at least one is ragged.
      rest: called with the operands in their new form: `f` with its other arguments.
    Returns: a `RaggedTensor`.
    """
    like = max((o for o in operands if isinstance(o, RaggedTensor)), key=_ragged_rank)
    flat = []
    for o in operands:
        if o is like:
            flat.append(o.flat_values)
        elif isinstance(o, RaggedTensor):
            flat.append(_same_rows(like, o))
        elif isinstance(o, (int, float, complex, str, bytes, bool)) or o is None:
            flat.append(o)
        else:
            dense = o if hasattr(o, "dtype") and hasattr(o, "shape") else convert_to_tensor(o)
            flat.append(_spread(convert_to_tensor(dense), like))
    return like.with_flat_values(rest(*flat))


def _ragged_rank(t: RaggedTensor) -> int:
    return t.ragged_rank
