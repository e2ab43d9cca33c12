"""Gradient rules by composition: an op inherits the gradient of an expression in other ops.

The derivatives of some gradient ops, such as those of an LSTM's backward pass, are too long to write by hand. Their
rules express the op by other ops, and `vjp` differentiates that expression: first and second derivatives use fast
dedicated ops, higher ones the composition, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .context import current_graph
from .eager import EagerTensor

# How to differentiate: set by `gradients` (in a graph) and by the tape (in eager mode).
differentiate: dict[bool, Callable[..., list[Any]]] = {}


def vjp(function: Callable[..., Any], xs: Sequence[Any], dys: Sequence[Any]) -> list[Any]:
    """Computes the gradients of a composition of ops.

    Args:
      function: takes one tensor for each x and returns a list of tensors, computed by ops that have gradients.
      xs: tensors.
      dys: for each result of `function` its cotangent, or None.
    Returns: one gradient, or None, for each x.
    """
    return differentiate[current_graph() is None](function, xs, dys)


def pullback(function: Callable[..., Any], xs: Sequence[Any], dys: Sequence[Any], wanted: Sequence[int]) -> list[Any]:
    """Computes `vjp` for some of the xs, zeros for those that no result depends on.

    Args:
      function, xs, dys: as in `vjp`.
      wanted: the positions of the xs.
    Returns: one gradient for each of `wanted`.
    """
    from .opdef import raw

    found = vjp(function, xs, dys)
    return [raw.ZerosLike(xs[i]) if found[i] is None else found[i] for i in wanted]


def is_zero(t: Any) -> bool:
    """Returns whether a cotangent is known to be zero, as a sweep passes it for an unused output."""
    if t is None:
        return True
    if isinstance(t, EagerTensor):
        return not np.any(t.numpy())
    return bool(t.op.opdef.fill == 0)
