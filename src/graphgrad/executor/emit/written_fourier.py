"""Fourier transforms for programs that are written without JAX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import Array
from .element_types import Unsupported, kind_of

_NAMES = ("fftn", "ifftn", "rfftn", "irfftn")
_MOST = 3  # axes that XLA transforms at once


class WrittenFourier:
    """The functions, by the names of jax.numpy.fft.

    Args:
      xp: the array module.
    """

    def __init__(self, xp: Any):
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        if name not in _NAMES:
            raise Unsupported(name)
        return lambda x, sizes, axes: self._transformed(name[:-1], self._xp.asarray(x), sizes, axes)

    def _transformed(self, kind: str, x: Array, sizes: Sequence[int], axes: Sequence[int]) -> Array:
        last = tuple(range(x.ndim - len(axes), x.ndim))
        sizes = [int(n) for n in sizes]
        if len(axes) > _MOST or 0 in (*sizes, *x.shape) or (kind_of(x.dtype) == "c") is (kind[0] == "r"):
            raise Unsupported("such a transform")
        moved = self._xp.moveaxis(x, axes, last)
        given = [*sizes[:-1], sizes[-1] // 2 + 1] if kind == "irfft" else sizes
        moved = moved[(..., *[slice(n) for n in given])]
        lacking = [(0, 0)] * (x.ndim - len(axes)) + [
            (0, n - m) for n, m in zip(given, moved.shape[x.ndim - len(axes) :], strict=True)]
        moved = self._xp.pad(moved, lacking)
        shape = [*moved.shape[: x.ndim - len(axes)], *sizes]
        dtype = x.dtype
        if kind[0] == "r":
            shape[-1] = shape[-1] // 2 + 1
            dtype = np.dtype(np.complex64 if dtype == np.float32 else np.complex128)
        elif kind == "irfft":
            dtype = np.empty(0, dtype).real.dtype
        made = moved.made(f"stablehlo.fft {moved.name}, type = {kind.upper()}, length = {sizes}", shape, dtype)
        found: Array = self._xp.moveaxis(made, last, axes)
        return found
