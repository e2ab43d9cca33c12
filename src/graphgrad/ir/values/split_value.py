"""A value in host memory in the pieces that the devices of a mesh have: what checkpoints write and read.

Of a mesh over several processes, each has its own pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .mesh_layout import MeshLayout

Place = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # the whole's shape, where the piece begins, its shape


class SplitValue:
    """The pieces of a value; `np.asarray` joins them.

    Args:
      layout: how it is split.
      shape, dtype: of the whole.
      pieces: where a piece begins -> its content.
      own: over several processes, the pieces that this process is to write; None for a value of one process.
      whole: over several processes, returns all of it, which all processes must ask for.
    """

    def __init__(self, layout: MeshLayout, shape: tuple[int, ...], dtype: np.dtype[Any],
                 pieces: dict[tuple[int, ...], Any], own: frozenset[tuple[int, ...]] | None = None,
                 whole: Callable[[], Any] | None = None):
        self.layout = layout
        self.shape = shape
        self.dtype = dtype
        self.pieces = pieces
        self.own = own
        self._whole = whole

    @property
    def aval(self) -> SplitValue:
        """What has its shape and dtype."""
        return self

    def places(self) -> list[tuple[Place, Any]]:
        """Returns the pieces, of several processes' those to write, and where they belong, in order."""
        return [((self.shape, start, piece.shape), piece) for start, piece in sorted(self.pieces.items(), key=_start)
                if self.own is None or start in self.own]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self._whole is not None and sum(p.size for p in self.pieces.values()) < math.prod(self.shape):
            whole = self._whole()
        else:
            whole = np.empty(self.shape, self.dtype)
            for start, piece in self.pieces.items():
                whole[tuple(slice(s, s + n) for s, n in zip(start, piece.shape, strict=True))] = piece
        return whole if dtype is None else whole.astype(dtype)


def _start(item: tuple[tuple[int, ...], Any]) -> tuple[int, ...]:
    return item[0]
