"""Where calls of `gradients` are shown to what rewrites nested derivatives (`gradients.rewriting`), if that is on."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw

from .arguments import align_grad_ys, flatten
from .rules import Call


class CallObserver(Protocol):
    """What is shown the calls of `gradients` of the user's program."""

    def before(self, call: Call, ys: list[Tensor], xs: list[Any]) -> list[Tensor]:
        """Returns what is differentiated in the place of ys: tensors of the same values."""

    def after(self, call: Call, ys: list[Tensor], xs: list[Any], results: Sequence[Any], hindrance: str,
              start: int) -> None:
        """Notes what a call returned; `hindrance` says which of its arguments are in the way of replacing it."""


class Observed:
    """One call of `gradients`, as it is shown to what rewrites derivatives.

    Attributes:
      ys: what to differentiate: the ys, or tensors of the same values.
    """

    def __init__(self, call: Call, ys: Any, xs: Any, grad_ys: Any, stop_gradients: Any):
        self.ys = ys
        self._call, self._hindrance = call, _hindrance(call, ys, grad_ys, stop_gradients)
        self._given = list(flatten(ys))
        self._xs = list(flatten(xs))
        self._rewriter: CallObserver | None = None
        self._start = len(call.graph._operations)
        if all(isinstance(y, Tensor) for y in self._given):
            self._rewriter = importlib.import_module("graphgrad.gradients.rewriting.calls")
            if not flatten(stop_gradients):
                replaced = self._rewriter.before(call, self._given, self._xs)
                if any(a is not b for a, b in zip(replaced, self._given, strict=True)):
                    self.ys = replaced
            self._start = len(call.graph._operations)

    def returned(self, results: Sequence[Any]) -> None:
        """Notes what the call returns."""
        if self._rewriter is not None:
            self._rewriter.after(self._call, self._given, self._xs, results, self._hindrance, self._start)


def _hindrance(call: Call, ys: Any, grad_ys: Any, stop_gradients: Any) -> str:
    """Returns which argument changes what a derivative is, "" for none."""
    if flatten(stop_gradients):
        return "stop_gradients"
    if call.gate:
        return "gate_gradients"
    given = align_grad_ys(ys, grad_ys, len(flatten(ys)))
    return "" if all(g is None or _is_one(g) for g in given) else "grad_ys"


def _is_one(g: Any) -> bool:
    """Returns whether all elements are known to be 1, as `ones_like` makes them."""
    if isinstance(g, Tensor):
        number = constant_value(g.op.inputs[1]) if g.op.opdef is raw.Fill else None
        return g.op.opdef.fill == 1 or (number is not None and number == 1)
    return False
