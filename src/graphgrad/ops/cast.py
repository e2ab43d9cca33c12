"""Conversion between dtypes, and complex numbers and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.dtypes import COMPLEX, FLOATING, REAL, NUMERIC, DType, as_dtype, bool_
from ..ir.opdef import op, raw
from .elementwise import conj, same


@op("Cast", "x: SrcT -> y: DstT", shape=same)
def _cast(xp, x, *, DstT, Truncate=False):
    """The values converted to another dtype."""
    if x.dtype.kind == "c" and DstT.kind not in "cb":
        x = xp.real(x)
    return xp.asarray(x).astype(DstT.np_dtype)


@_cast.grad
def _cast_grad(op, dy):
    source = op.inputs[0].dtype
    if source.is_differentiable and dy.dtype.is_differentiable:
        return raw.Cast(dy, DstT=source)
    return None


@op("Conj", "input: T -> output: T", T=COMPLEX, shape=same)
def _conj(xp, x):
    """The complex conjugate."""
    return xp.conj(x)


@_conj.grad
def _conj_grad(op, dy):
    return raw.Conj(dy)
