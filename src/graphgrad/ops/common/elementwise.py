"""Dtype sets and shape rules of elementwise ops, conjugation."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.dtypes import FLOATING, INEXACT, int8, int16, int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import merged

SIGNED = INEXACT | {int8, int16, int32, int64}
REAL_SIGNED = FLOATING | {int8, int16, int32, int64}


def same(x):
    """Returns the shape of the only input."""
    return x


def first(y, dy):
    """Returns the first shape: the rule of gradient ops, both of whose inputs have the result's shape."""
    return dy if y is None else y


def scalars_or_one_shape(*shapes):
    """Returns the result's shape for inputs each of which is a scalar or has that shape."""
    result = ()
    for shape in shapes:
        if shape is None:
            result = None if result == () else result
        elif shape:
            result = merged(None if result == () else result, shape)
    return result


def conj(x):
    """Returns the conjugate of a complex tensor; a real one unchanged."""
    return raw.Conj(x) if x.dtype.is_complex else x


def times_mask(xp, dy, mask):
    """Multiplies dy by a mask: an infinity or a NaN becomes NaN where the mask is False, as in TensorFlow.

    XLA would turn the product with a mask into a select, which loses them; it keeps the product with 0.
    """
    if xp is np:
        return np.multiply(dy, mask if dy.dtype.kind in "fiu" else mask.astype(dy.dtype))
    return xp.where(mask, dy, dy * xp.zeros((), dy.dtype))
