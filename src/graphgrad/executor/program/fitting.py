"""Repeats the shape rule of an operation when the run knows shapes and sizes.

Compiled programs do not check fed sizes, which are compiled in. The shape rule, which could not know them when the
operation was built, is called again while it is lowered, once for each set of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import Known
from graphgrad.ir.graph import Operation
from graphgrad.ir.inference import inferred


def unfit(op: Operation, values: Sequence[Any]) -> Complaint | None:
    """Returns the objection of an operation's shape rule to its actual inputs; None if there is none.

    Args:
      op: the operation.
      values: one for each input: an array, something else with a shape, or an object that only the operation
        understands.
    """
    if op.opdef.flags & _OPAQUE:
        return None
    inputs: list[Any] = [
        Known.of(t, v) if t.dtype.kind != "o" and hasattr(v, "shape") else t
        for t, v in zip(op.inputs, values, strict=True)
    ]
    try:
        inferred(op.opdef, inputs, op.attrs)
    except Complaint as found:
        return found
    except Exception:  # the rule needs more than these inputs offer
        return None
    return None


_OPAQUE = frozenset({"functional", "python"})


def fitting(op: Operation, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a kernel so that it first calls the shape rule of its operation, and raises its Complaint.

    Args:
      op: the operation.
      kernel: its kernel, for NumPy or jax.numpy.
    """

    def checked(xp: Any, *inputs: Any, **attrs: Any) -> Any:
        flat = [v for i in inputs for v in (i if isinstance(i, list) else (i,))]
        if (found := unfit(op, flat)) is not None:
            raise found
        return kernel(xp, *inputs, **attrs)

    return checked
