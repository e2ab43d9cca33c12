"""How a tensor is computed: what notebooks show of it."""

from __future__ import annotations

from html import escape

from graphgrad.ir.graph import Tensor

_OPERATIONS = 100  # what is computed by more is not written as a formula
_LETTERS = 2000  # nor is what takes more


def computed_by(t: Tensor) -> str:
    """Returns the formula of a tensor as HTML; where that is long, its operation, and the names of what that reads.

    Args:
      t: the tensor.
    """
    text = _formula(t) or f"{t.op.type}({', '.join(i.name for i in t.op.inputs)})"
    return f'<code style="white-space:pre-wrap">{escape(text)}</code>'


def _formula(t: Tensor) -> str | None:
    from graphgrad.viz.formula.formula import formula

    found, waiting = {t.op}, [t.op]
    while waiting:
        more = {i.op for i in waiting.pop().inputs} - found
        found |= more
        waiting += more
        if len(found) > _OPERATIONS:
            return None
    try:
        text = str(formula(t))
    except Exception:  # what shows a tensor must not fail
        return None
    return text if len(text) <= _LETTERS else None
