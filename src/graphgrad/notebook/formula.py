"""How a tensor is computed, in a line: what notebooks show of it."""

from __future__ import annotations

from html import escape

from graphgrad.ir.graph import Tensor


def formula(t: Tensor) -> str:
    """Returns how a tensor is computed, as HTML: its operation, and the names of what that reads.

    Args:
      t: the tensor.
    """
    text = f"{t.op.type}({', '.join(i.name for i in t.op.inputs)})"
    return f'<code style="white-space:pre-wrap">{escape(text)}</code>'
