"""Forward mode by two reverse sweeps, for every operation that has a gradient.

The gradient of y with respect to x, weighted by a dummy u, is linear in u; its gradient with respect to u, weighted by
v, is the derivative of y along v. So every op that has a gradient takes part, user-defined ones included, at any order;
the first sweep's result is not fetched and therefore never computed.
"""

from __future__ import annotations

from typing import Any

from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.indexed_slices import dense

from . import strictness
from .backprop import gradients
from .rules import carries_gradient


def pushed_forward(ys: list[Tensor], xs: list[Tensor], tangents: list[Any]) -> list[Any]:
    """Returns the derivative of each y along the tangents, or None: the second of two reverse sweeps."""
    # Not zeros: some rules treat a zero gradient specially.
    duals = {i: raw.PlaceholderWithDefault(raw.OnesLike(y), shape=y._spec.shape)
             for i, y in enumerate(ys) if carries_gradient(y)}
    found: list[Any] = [None] * len(ys)
    if duals and xs:
        weights = list(duals.values())
        with strictness.none_allowed():
            pulled = gradients([ys[i] for i in duals], xs, weights)
            pairs = [(dense(g), v) for g, v in zip(pulled, tangents, strict=True) if g is not None]
            pushed = gradients([g for g, _ in pairs], weights, [v for _, v in pairs]) if pairs else [None] * len(duals)
        for i, g in zip(duals, pushed, strict=True):
            found[i] = dense(g)
    return found
