"""Applies operations to stacks: tensors with one more dimension in front, one slice for each direction.

A stack may be *thin*: of size 1 where the tensor that it belongs to has more, for values that do not vary there, such
as the directions themselves, which are the same for all examples of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.control_flow.vectorized_map_gradient import MapBody, map_rows
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined


def rank_of(t: Any) -> int | None:
    """Returns the rank of a tensor; None if it is not known."""
    shape = t._spec.shape
    return None if shape is None else len(shape)


def is_thin(c: Any, t: Any, stacked: bool) -> bool:
    """Returns whether `c`, a stack or not, has fewer elements for each slice than `t`."""
    own, shape = c._spec.shape, t._spec.shape
    if own is None or shape is None:
        return False
    own = own[1:] if stacked else own
    return len(own) < len(shape) or any(a == 1 != b for a, b in zip(own, shape, strict=True))


def full(c: Any, t: Any, stacked: bool) -> Any:
    """Repeats the elements of a thin `c`, so that each slice has the shape of `t`."""
    if not is_thin(c, t, stacked):
        return c
    shape = t._spec.shape
    if not stacked:
        return raw.BroadcastTo(c, _dims(t))
    own = c._spec.shape
    if own[0] is not None and is_fully_defined(shape):
        return raw.BroadcastTo(aligned(c, t), np.array((own[0], *shape), np.int32))
    count = raw.StridedSlice(raw.Shape(c), [0], [1], [1])
    return raw.BroadcastTo(aligned(c, t), raw.ConcatV2([count, _dims(t)], np.int32(0)))


def _dims(t: Any) -> Any:
    shape = t._spec.shape
    return np.array(shape, np.int32) if is_fully_defined(shape) else raw.Shape(t)


def aligned(c: Any, t: Any) -> Any:
    """Inserts dimensions of 1 behind the first one of a stack, so that its slices broadcast beside `t`."""
    own, rank = rank_of(c), rank_of(t)
    assert own is not None and rank is not None  # `can_align`
    for _ in range(rank + 1 - own):
        c = raw.ExpandDims(c, np.int32(1))
    return c


def can_align(op: Operation) -> bool:
    """Returns whether stacks of an elementwise operation's inputs can be made to broadcast."""
    return all(rank_of(t) is not None for t in (*op.inputs, *op.outputs))


def rebuilt(op: Operation, operands: Sequence[Any]) -> list[Any]:
    """Builds an operation like another one, on other operands; returns its outputs."""
    record = op.opdef
    attrs = {k: v for k, v in op.attrs.items() if k not in record._derived and not k.startswith("_")}
    result = record(*record.pack(list(operands), op.attrs), **attrs)
    outputs: list[Any] = list(_first(result).op.outputs)
    return outputs


def _first(result: Any) -> Any:
    while isinstance(result, (list, tuple)):
        result = result[0]
    return result


def apply(op: Operation, operands: Sequence[Any], stacked: Sequence[bool]) -> list[Any]:
    """Applies an operation to other operands, some of which are stacks.

    Args:
      op: the operation.
      operands: a tensor for each of its inputs; those that are stacks, or that replace an input, may be thin.
      stacked: which of them are stacks.
    Returns: a stack, which may be thin, for each of its outputs; ordinary tensors if no operand is a stack.
    """
    record = op.opdef
    if record.elementwise and can_align(op):
        (z,) = op.outputs
        return rebuilt(op, [aligned(c, z) if s else c for c, s in zip(operands, stacked, strict=True)])
    if not any(stacked) and _by_one_row(op, operands):
        return rebuilt(op, operands)
    whole = [full(c, t, s) for c, t, s in zip(operands, op.inputs, stacked, strict=True)]
    if any(stacked) and record.stacked_rule is not None:
        for given in (operands, whole):
            result = record.stacked_rule(op, given, list(stacked))
            if result is not None:
                return [result]
    return mapped(whole, stacked, lambda inner: rebuilt(op, inner)) if any(stacked) else rebuilt(op, whole)


def is_row(c: Any, t: Any) -> bool:
    """Returns whether `c` has one row in the place of all those that `t` has."""
    own, shape = c._spec.shape, t._spec.shape
    if not own or not shape:
        return False
    return bool(own[0] == 1 != shape[0] and own[1:] == shape[1:])


def _by_one_row(op: Operation, operands: Sequence[Any]) -> bool:
    """Returns whether an operation does with one row, the same for all examples, what it does with all of them."""
    replaced = [c is not t for c, t in zip(operands, op.inputs, strict=True)]
    rule = op.opdef.rows_rule
    if rule is None or not all(is_row(c, t) for c, t, r in zip(operands, op.inputs, replaced, strict=True) if r):
        return False
    for t, r in zip(op.inputs, replaced, strict=True):  # a shape may hold the number of examples
        if not r and t.dtype.kind in "iu":
            known = t.op.attrs["value"] if t.op.type == "Const" else None
            sizes = [(i._spec.shape or ())[0] for i, is_new in zip(op.inputs, replaced, strict=True) if is_new]
            if known is None or any(n is not None and n in np.ravel(known) for n in sizes):
                return False
            if None in sizes and any(y._spec.shape is None or y._spec.shape[:1] != (None,) for y in op.outputs):
                return False
    return any(replaced) and rule(op, replaced)


def mapped(operands: Sequence[Any], stacked: Sequence[bool], build: Any) -> list[Any]:
    """Applies a function to each slice of stacks, by a map.

    Args:
      operands: tensors, of which some are stacks.
      stacked: which are.
      build: takes a slice of each stack, and all of the others; returns a list of tensors and None.
    Returns: a stack of its results, or None, for each.
    """
    body = MapBody("taylor_slice", current_graph())
    rows = [c for c, s in zip(operands, stacked, strict=True) if s]
    with use(body):
        slices = iter([body.add_row(c, "slice") for c in rows])  # before what is captured
        found = build([next(slices) if s else body.own(c) for c, s in zip(operands, stacked, strict=True)])
        body.outputs = [body.own(t) for t in found if t is not None]
    if not body.outputs:
        return [None] * len(found)
    results = iter(map_rows(body, rows, draws=False))
    return [None if t is None else next(results) for t in found]
