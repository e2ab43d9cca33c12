"""Tensors that others of the same value replace: nested derivatives, and what was computed from them."""

from __future__ import annotations

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.graph import Tensor


def replaced(t: Tensor) -> Tensor:
    """Returns the tensor that is computed where `t` is fetched."""
    found = t.graph._notes.replaced.get(id(t))
    return t if found is None else found[1]


def fed_too(t: Tensor) -> list[Tensor]:
    """Returns the tensors that get the value that is fed for `t`, besides itself.

    Raises: InvalidArgumentError for a tensor within a derivative that was replaced: it would have no effect.
    """
    notes = t.graph._notes
    found = notes.replaced.get(id(t))
    if found is not None:
        return [found[1]]
    if any(start <= t.op.index < end for start, end in notes.superseded):
        raise InvalidArgumentError(
            t.op.node_def, t.op,
            f"Tensor '{t.name}' is fed, but the derivative that it is part of was replaced (optimize_derivatives).\n"
            f"  Built at {t.op.source}\n  Fix: build the graph without optimize_derivatives, or feed the derivative")
    return []
