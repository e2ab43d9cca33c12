"""Differentiates an expression of inputs by composition: a sweep over its operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.gradients.core.backprop import gradients
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.ir import rule_by_composition
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.indexed_slices import dense


def _vjp(function: Callable[..., Any], xs: Sequence[Tensor], dys: Sequence[Any]) -> list[Any]:
    inputs = [raw.Identity(x) for x in xs]  # the sweep ends here
    ys = function(*inputs)
    pairs = [(y, dy) for y, dy in zip(ys, dys, strict=True) if dy is not None]
    differentiable = [x for x in inputs if x.dtype.is_differentiable]
    if not pairs:
        return [None] * len(inputs)
    with none_allowed():
        found = gradients([y for y, _ in pairs], differentiable, [dy for _, dy in pairs], name="composed")
    by_input = {id(x): g for x, g in zip(differentiable, found, strict=True)}
    return [None if by_input.get(id(x)) is None else dense(by_input[id(x)]) for x in inputs]


rule_by_composition.differentiate[False] = _vjp
