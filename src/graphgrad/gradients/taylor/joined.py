"""Applies a matrix product or a convolution to the coefficients of all orders at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import raw

from .direction_stacks import is_thin


def joined(series: Any, op: Operation, i: int) -> list[list[Any]]:
    """Computes the coefficients of an operation that is linear in its input `i`, the only one that moves.

    Args:
      series: the coefficients.
      op: the operation.
      i: the position of the input.
    Returns: for each order a list with the coefficient, which may be None.
    """
    layout, x = series.layout, series.inputs(op)[i]
    found: list[list[Any]] = []
    together: list[tuple[int, Any, int]] = []  # order, coefficient as a stack, its length
    for k in range(1, layout.order + 1):
        c, stacked = series.coefficient(x, k), layout.is_stack(k)
        length = layout.count if stacked else 1
        if c is not None and length is not None and not is_thin(c, x, stacked):
            together.append((k, c if stacked else raw.ExpandDims(c, np.int32(0)), length))
        found.append([c])
    parts = _of_all(op, i, [(c, n) for _, c, n in together]) if len(together) > 1 else None
    at = {k: part for (k, _, _), part in zip(together, parts or (), strict=False)}
    for k, entry in enumerate(found, 1):
        if k in at:
            entry[:] = [at[k] if layout.is_stack(k) else raw.Squeeze(at[k], squeeze_dims=[0])]
        elif entry[0] is not None:
            entry[:] = series.linear(op, [entry[0] if n == i else None for n in range(len(op.inputs))],
                                     layout.is_stack(k))
    return found


def _of_all(op: Operation, i: int, stacks: Sequence[tuple[Any, int]]) -> list[Any] | None:
    """Applies an operation to several stacks, given with their lengths, as one; None if it cannot be."""
    operands = list(op.inputs)
    operands[i] = raw.ConcatV2([c for c, _ in stacks], np.int32(0))
    rule = op.opdef.stacked_rule
    product = None if rule is None else rule(op, operands, [n == i for n in range(len(operands))])
    if product is None:
        return None
    return list(raw.SplitV(product, np.array([n for _, n in stacks], np.int64), np.int32(0), num_split=len(stacks)))
