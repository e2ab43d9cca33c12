"""Whether what a run gives an operation fits it: its shape rule once more, when shapes and sizes are known.

Compiled programs do not look at sizes that are fed, which are compiled in. The rule, which could not know them when the
operation was built, is asked again while it is lowered, once for each set of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import frozen
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import Spec

_LIMIT = 1024  # elements: larger arrays are not sizes


class _Given:
    """Stands for an input of which the run has told the shape, and perhaps the value."""

    __slots__ = ("dtype", "_spec", "_static")

    def __init__(self, tensor: Tensor, value: Any):
        self.dtype = tensor.dtype
        self._spec = Spec.of(tensor.dtype, tuple(map(int, value.shape)))
        known = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "iub" and value.size <= _LIMIT
        self._static = frozen(np.asarray(value)) if known else None


def unfit(op: Operation, values: Sequence[Any]) -> Complaint | None:
    """What the shape rule of an operation says against the inputs that it gets; None for nothing.

    Args:
      op: the operation.
      values: one for each input: an array, something else with a shape, or what only the operation itself knows.
    """
    if op.opdef.flags & _OPAQUE:
        return None
    inputs: list[Any] = [
        _Given(t, v) if t.dtype.kind != "o" and hasattr(v, "shape") else t
        for t, v in zip(op.inputs, values, strict=True)
    ]
    try:
        op.opdef._inferred(inputs, op.attrs)
    except Complaint as found:
        return found
    except Exception:  # a rule that wants more of its inputs than these have
        return None
    return None


_OPAQUE = frozenset({"functional", "python"})


def fitting(op: Operation, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that first asks the shape rule of its operation, and raises its Complaint.

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
