"""Sine and cosine on a device, for the trigonometric functions and for random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ops.common.lax_functions import lax_of

_MANY = 1024  # elements from which on it pays to look how large they are
_MODERATE = 1e6  # angles less than this are reduced by a multiple of pi/2 in two parts, exactly
_QUARTER = float.fromhex("0x1.921fb544p+0"), float.fromhex("0x1.0b4611a626331p-34")  # pi/2


def wave(xp: Any, x: Any, quarter: Any) -> Any:
    """Computes sin(x + quarter * pi / 2) with polynomials: XLA:CPU's sine is not vectorised, and ten times slower.

    XLA's are slow because they reduce angles of any size; they are used where some angle is large.
    """
    own = (xp.sin, xp.cos)[quarter]
    if x.dtype != np.float32 or (x.size < _MANY and hasattr(xp, "written_lax")):  # few, and no map over many rows
        return own(x)
    if x.size < _MANY:
        from jax.custom_batching import custom_vmap

        few = custom_vmap(own)

        @few.def_vmap
        def _rows(size, batched, rows):  # a map over many rows: all of them are many elements
            return wave(xp, rows, quarter), True

        return few(x)
    def moderate(x):
        angle = x.astype(np.float64)
        turns = xp.round(angle * (2 / np.pi))
        rest = (angle - turns * _QUARTER[0]) - turns * _QUARTER[1]
        return sine_of_reduced(xp, rest.astype(np.float32), (turns.astype(np.int32) + quarter).astype(np.uint32))

    return lax_of(xp).cond(xp.max(xp.abs(x)) < _MODERATE, moderate, own, x)


def sine_of_reduced(xp: Any, x: Any, quarter: Any) -> Any:
    """Computes sin(x + quarter * pi / 2) of x in [-pi/4, pi/4], float32, with the polynomials of Cephes."""
    f = xp.float32
    z = x * x
    sine = x + x * z * (f(-1.6666654611e-1) + z * (f(8.3321608736e-3) + z * f(-1.9515295891e-4)))
    cosine = f(1) - f(0.5) * z + z * z * (
        f(4.166664568298827e-2) + z * (f(-1.388731625493765e-3) + z * f(2.443315711809948e-5)))
    value = xp.where(quarter & xp.uint32(1) == 0, sine, cosine)
    return xp.where(quarter & xp.uint32(2) == 0, value, -value)
