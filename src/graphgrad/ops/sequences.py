"""Number sequences."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import INTEGER, FLOATING
from ..ir.opdef import NOT_DIFFERENTIABLE, op


@op("Range", "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx", Tidx=INTEGER | FLOATING,
    host=("start", "limit", "delta"))  # fmt: skip
def range_op(xp, start, limit, delta):
    """start, start + delta, ... up to, not including, limit."""
    n = _range_shape(start.item(), limit.item(), delta.item())[0]
    return (start + np.arange(n).astype(start.dtype) * delta).astype(start.dtype)


@range_op.shape
def _range_shape(start, limit, delta):
    if start is None or limit is None or delta is None:
        return (None,)
    if any(isinstance(v, tuple) for v in (start, limit, delta)):
        raise Complaint("start, limit and delta must be scalars", "give one number each")
    if delta == 0:
        raise Complaint("Requires delta != 0", "give another delta")
    if (limit - start) * delta < 0:
        sign, relation = ("delta > 0", "<=") if delta > 0 else ("delta < 0", ">=")
        raise Complaint(f"Requires start {relation} limit when {sign}: {start}, {limit}",
                        "change the sign of delta, or swap start and limit")
    return (math.ceil(abs((limit - start) / delta)) if isinstance(start, float) else len(range(start, limit, delta)),)


range_op.grad(NOT_DIFFERENTIABLE)
