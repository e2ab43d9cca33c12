"""What `gradients` gives for an x that the ys do not depend on."""

from __future__ import annotations

import enum
from typing import Any

from ..ir import dtypes
from ..ir.graph import Tensor
from ..ir.opdef import raw


class UnconnectedGradients(enum.Enum):
    """What `gradients` gives for an x that the ys do not depend on.

    `NONE` ("none") gives None; `ZERO` ("zero") gives zeros of the x's shape and dtype.
    """

    NONE = "none"
    ZERO = "zero"


def policy(value: Any) -> UnconnectedGradients:
    """The policy that `value`, a name or a member, stands for; ValueError if it is none."""
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}. Fix: use 'none' or 'zero'") from None


def zeros_of(x: Tensor) -> Any:
    """Zeros of the shape and dtype of `x`, or of the variable whose handle it is."""
    if x.dtype is dtypes.resource:
        x = raw.ReadVariableOp(x, dtype=x.op.get_attr("dtype"), shape=x.op.get_attr("shape"))
    return raw.ZerosLike(x, name="zeros_like")
