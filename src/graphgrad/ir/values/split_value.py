"""A value in host memory in the pieces that the devices of a mesh have: what checkpoints write and read."""

from __future__ import annotations

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
    """

    def __init__(self, layout: MeshLayout, shape: tuple[int, ...], dtype: np.dtype[Any],
                 pieces: dict[tuple[int, ...], Any]):
        self.layout = layout
        self.shape = shape
        self.dtype = dtype
        self.pieces = pieces

    @property
    def aval(self) -> SplitValue:
        """What has its shape and dtype."""
        return self

    def places(self) -> list[tuple[Place, Any]]:
        """Returns the pieces and where they belong, in order."""
        return [((self.shape, start, piece.shape), piece) for start, piece in sorted(self.pieces.items(), key=_start)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        whole = np.empty(self.shape, self.dtype)
        for (_, start, size), piece in self.places():
            whole[tuple(slice(s, s + n) for s, n in zip(start, size, strict=True))] = piece
        return whole if dtype is None else whole.astype(dtype)


def _start(item: tuple[tuple[int, ...], Any]) -> tuple[int, ...]:
    return item[0]
