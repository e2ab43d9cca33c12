"""The coefficients of operations that no rule of `series` covers: by derivatives of derivatives.

`nested` does it for one operation. It is built once more, on the series of its inputs at s, and what that gives is
differentiated by s, again and again, by two reverse sweeps each time (`higher.jvp`). The cost grows exponentially with
the order, but for this operation alone. `along_lines` does it for a whole graph, nothing of which is built again: for
what has effects, draws random numbers, holds sub-graphs, or passes on lists or complex numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.gradients.core.two_sweeps import pushed_forward
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw

from .direction_stacks import full, mapped, rebuilt


def nested(series: Any, op: Operation, order: int) -> list[list[Any]]:
    """Computes the coefficients of an operation's outputs.

    Args:
      series: the coefficients of its inputs.
      op: the operation.
      order: the highest order.
    Returns: for each order a list with a coefficient, or None, for each output.
    """
    layout, inputs = series.layout, series.inputs(op)
    collapses = layout.stacked and not layout.is_stack(order)
    moving = [(i, k) for k in range(1, order + 1 - collapses) for i, t in enumerate(inputs)
              if series.coefficient(t, k) is not None]
    given = [full(series.coefficient(inputs[i], k), op.inputs[i], layout.is_stack(k)) for i, k in moving]

    def build(operands: Sequence[Any]) -> list[Any]:
        here, coefficients = operands[:len(op.inputs)], dict(zip(moving, operands[len(op.inputs):], strict=True))
        return [t for found in differentiated(op, here, coefficients, order) for t in found]

    flat: list[Any] = [None] * (order * len(op.outputs))
    if moving:
        operands = [*op.inputs, *given]
        stacked = [False] * len(op.inputs) + [layout.stacked] * len(given)
        flat = mapped(operands, stacked, build) if layout.stacked else build(operands)
    found = [flat[k * len(op.outputs) : (k + 1) * len(op.outputs)] for k in range(order)]
    if collapses:
        tops = {i: full(c, op.inputs[i], False) for i, t in enumerate(inputs)
                if (c := series.coefficient(t, order)) is not None}
        linear = along_tangents(op, op.inputs, tops) if tops else [None] * len(op.outputs)
        found[-1] = [_sum(None if c is None else layout.collapse(c), d) for c, d in zip(found[-1], linear, strict=True)]
    return found


def along_lines(ys: list[Tensor], xs: list[Tensor], directions: Sequence[Any], order: int,
                stacked: bool) -> list[list[Any]]:
    """Computes the coefficients of ys along directions of xs.

    Args:
      ys, xs: tensors.
      directions: for each x a tensor; a stack of them if `stacked`.
      order: the highest order.
      stacked: whether there are several directions.
    Returns: for each order a list with a coefficient, or None, for each y.
    """
    def build(given: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        factor, here = 1.0, list[Any](ys)
        for k in range(1, order + 1):
            factor /= k
            present = [i for i, y in enumerate(here) if y is not None]
            with none_allowed():
                slopes = pushed_forward([here[i] for i in present], xs, list(given)) if present else []
            here = [None] * len(ys)
            for i, slope in zip(present, slopes, strict=True):
                here[i] = slope
            found += [None if y is None else raw.Mul(y, np.asarray(factor, y.dtype.np_dtype)) for y in here]
        return found

    flat = mapped(directions, [True] * len(xs), build) if stacked else build(directions)
    return [flat[k * len(ys) : (k + 1) * len(ys)] for k in range(order)]


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else raw.AddV2(a, b)


def differentiated(op: Operation, inputs: Sequence[Any], coefficients: dict[tuple[int, int], Any],
                    order: int) -> list[list[Any]]:
    """Builds an operation on series of one parameter, and differentiates it.

    Args:
      op: the operation.
      inputs: what stands for its inputs.
      coefficients: by position of an input and order; at least one.
      order: the highest order.
    Returns: as `nested`.
    """
    first = next(iter(coefficients.values()))
    s = raw.PlaceholderWithDefault(np.zeros((), first.dtype.np_dtype), shape=())
    operands = []
    for i, t in enumerate(inputs):
        higher = None
        for k in range(order, 0, -1):  # Horner's scheme
            c = coefficients.get((i, k))
            higher = None if higher is None else raw.Mul(higher, s)
            higher = c if higher is None else higher if c is None else raw.AddV2(higher, c)
        operands.append(t if higher is None else raw.AddV2(t, raw.Mul(higher, s)))
    found: list[list[Any]] = []
    ys: list[Any] = _again(op, operands)
    one = raw.OnesLike(s)
    for k in range(1, order + 1):
        present = [i for i, y in enumerate(ys) if y is not None]
        with none_allowed():
            slopes = pushed_forward([ys[i] for i in present], [s], [one]) if present else []
        ys = [None] * len(ys)
        for i, slope in zip(present, slopes, strict=True):
            ys[i] = slope
        found.append([None if y is None else raw.Mul(y, np.asarray(1 / math.factorial(k), y.dtype.np_dtype))
                      for y in ys])
    return found


def along_tangents(op: Operation, inputs: Sequence[Any], tangents: dict[int, Any]) -> list[Any]:
    """Returns the derivatives of an operation's outputs along tangents of some of its inputs."""
    with none_allowed():
        places = {i: raw.Identity(inputs[i]) for i in tangents}
        ys = _again(op, [places.get(i, t) for i, t in enumerate(inputs)])
        return pushed_forward(ys, list(places.values()), list(tangents.values()))


def _again(op: Operation, operands: Sequence[Any]) -> list[Any]:
    """Builds an operation once more, with the same gradient rule."""
    outputs = rebuilt(op, operands)
    outputs[0].op._gradient = op._gradient
    return outputs
