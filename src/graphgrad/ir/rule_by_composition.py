"""Gradient rules by composition: an op inherits the gradient of an expression in other ops.

Some gradient ops have derivatives that nobody wants to write by hand, such as those of an LSTM's backward
pass. Their rules say what the op is composed of, and `vjp` differentiates that: first and second derivatives
come from fast ops of their own, higher ones from the composition, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .context import current_graph
from .eager import EagerTensor

# How to differentiate: put here by `gradients` (in a graph) and by the tape (in eager mode).
differentiate: dict[bool, Callable[..., list[Any]]] = {}


def vjp(function: Callable[..., Any], xs: Sequence[Any], dys: Sequence[Any]) -> list[Any]:
    """The gradients of a composition of ops.

    Args:
      function: takes one tensor for each x and returns a list of tensors, made by ops that have gradients.
      xs: tensors.
      dys: for each result of `function` its cotangent, or None.
    Returns: one gradient, or None, for each x.
    """
    return differentiate[current_graph() is None](function, xs, dys)


def pullback(function: Callable[..., Any], xs: Sequence[Any], dys: Sequence[Any], wanted: Sequence[int]) -> list[Any]:
    """`vjp` for some of the xs, zeros for those that nothing depends on.

    Args:
      function, xs, dys: as in `vjp`.
      wanted: the positions of the xs.
    Returns: one gradient for each of `wanted`.
    """
    from .opdef import raw

    found = vjp(function, xs, dys)
    return [raw.ZerosLike(xs[i]) if found[i] is None else found[i] for i in wanted]


def is_zero(t: Any) -> bool:
    """Whether a cotangent is known to be zero: what a sweep hands to a rule for an output that nobody asked for."""
    if t is None:
        return True
    if isinstance(t, EagerTensor):
        return not np.any(t.numpy())
    return bool(t.op.type == "ZerosLike")
