"""What the elementwise families share: shape rules and conjugation."""

from __future__ import annotations

from typing import Any

from ..ir.dtypes import FLOATING, INEXACT, NUMERIC, DType, int8, int16, int32, int64
from ..ir.opdef import raw
from ..ir.shape import Shape

SIGNED = INEXACT | {int8, int16, int32, int64}
REAL_SIGNED = FLOATING | {int8, int16, int32, int64}

__all__ = ["FLOATING", "INEXACT", "NUMERIC", "REAL_SIGNED", "SIGNED", "DType", "conj", "same"]


def same(x: Shape) -> Shape:
    """Shape rule of a unary elementwise op."""
    return x


def conj(x: Any) -> Any:
    """The conjugate of a complex tensor; a real one as it is."""
    return raw.Conj(x) if x.dtype.is_complex else x
