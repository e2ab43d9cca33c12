"""Marks of a live picture: where a gradient ends, and where a run failed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from graphgrad.gradients.diagnose.explanation import GradientExplanation
from graphgrad.viz.nesting import Nesting

_MANY = 200  # cuts


def explained(nesting: Nesting, explanation: GradientExplanation) -> dict[str, Any]:
    """Returns the paths and cuts of an explanation: pairs (nearer to y, nearer to x) of operations by number."""
    at = {id(op): i for i, op in enumerate(nesting.ops)}
    way, beyond = _pairs(at, explanation.path), []
    marks: dict[int, str] = {}
    for cut in explanation.cuts[:_MANY]:
        middle = cut.path.index(cut.op) if cut.op in cut.path else 0
        way += _pairs(at, cut.path[: middle + 1])
        beyond += _pairs(at, cut.path[middle:])
        if id(cut.op) in at:
            told = f"The gradient ends here: {cut.why}.\nFix: {cut.fix}"
            known = marks.get(at[id(cut.op)])
            marks[at[id(cut.op)]] = f"{known}\n{told}" if known else told
    return {"text": str(explanation), "way": way, "beyond": beyond, "marks": marks}


def failed(nesting: Nesting, error: BaseException) -> dict[str, Any] | None:
    """Returns the operation at which a run failed, with the message, and those whose gradient it is; None without."""
    at = {id(op): i for i, op in enumerate(nesting.ops)}
    op: Any = getattr(error, "op", None)
    marks: dict[int, str] = {}
    if id(op) in at:
        marks[at[id(op)]] = str(error)
        forward = op._original_op
        while id(forward) in at:
            marks[at[id(forward)]] = f"The run failed in its gradient, at '{op.name}'."
            forward = forward._original_op
    return {"text": str(error), "way": [], "beyond": [], "marks": marks} if marks else None


def _pairs(at: dict[int, int], path: Iterable[Any]) -> list[list[int]]:
    known = [at[id(op)] for op in path if id(op) in at]
    return [[a, b] for a, b in itertools.pairwise(known)]
