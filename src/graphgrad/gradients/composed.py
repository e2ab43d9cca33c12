"""Rules by composition, in a graph: the sweep over what `ir.composed` is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir import composed
from ..ir.graph import Tensor
from ..ir.opdef import raw
from .backprop import gradients
from .strict import strict_gradients
from .subgraphs import dense


def _vjp(function: Callable[..., Any], xs: Sequence[Tensor], dys: Sequence[Any]) -> list[Any]:
    inputs = [raw.Identity(x) for x in xs]  # the sweep ends here
    ys = function(*inputs)
    pairs = [(y, dy) for y, dy in zip(ys, dys, strict=True) if dy is not None]
    differentiable = [x for x in inputs if x.dtype.is_differentiable]
    if not pairs:
        return [None] * len(inputs)
    with strict_gradients(False):
        found = gradients([y for y, _ in pairs], differentiable, [dy for _, dy in pairs], name="composed")
    by_input = {id(x): g for x, g in zip(differentiable, found, strict=True)}
    return [None if by_input.get(id(x)) is None else dense(by_input[id(x)]) for x in inputs]


composed.differentiate[False] = _vjp
