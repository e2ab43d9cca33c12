"""`UnconnectedGradients`: what `gradients` gives for an x that the ys do not depend on."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from graphgrad.ir import dtypes
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined

from .custom import variable_behind


class UnconnectedGradients(enum.Enum):
    """What `gradients` gives for an x that the ys do not depend on.

    `NONE` ("none") gives None; `ZERO` ("zero") gives zeros of the x's shape and dtype.
    """

    NONE = "none"
    ZERO = "zero"


def policy(value: Any) -> UnconnectedGradients:
    """Returns the policy for `value`, a name or a member; raises ValueError for anything else."""
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}. Fix: use 'none' or 'zero'") from None


def zeros_of(x: Tensor) -> Any:
    """Returns zeros of the shape and dtype of `x`, or of the variable whose handle it is."""
    if x.dtype is not dtypes.resource:
        return raw.ZerosLike(x, name="zeros_like")
    eager = getattr(x, "_variable", None)  # a handle of eager mode
    variable = variable_behind(x.graph, x) if eager is None else eager
    if variable is None:
        raise ValueError(
            f"The shape of the variable behind {x} is not known, so there are no zeros for it.\n"
            f"  Built at {x.op.source}\n  Fix: pass the tf.Variable, or unconnected_gradients='none'"
        )
    shape = variable._shape
    if is_fully_defined(shape):  # needs no value, which the variable may not have yet
        return raw.Fill(np.asarray(shape, np.int32), np.zeros((), variable.dtype.np_dtype), name="zeros")
    return raw.ZerosLike(raw.ReadVariableOp(x, dtype=variable.dtype, shape=shape), name="zeros_like")
