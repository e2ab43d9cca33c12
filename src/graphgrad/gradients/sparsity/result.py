"""`Sparsity`: the pattern of a Jacobian."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any  # an array of integers
_DRAWN = 200  # rows or columns of a picture, at most
_WRITTEN = 40


class Sparsity:
    """Which elements of y depend on which elements of x.

    Args:
      rows, columns: of each entry: the number of an element of y, and of one of x.
      y_shape, x_shape: the shapes.
      connected: whether a gradient flows from y to x at all.
      dense: operations that were taken to make all depend on all, with a reason.

    Attributes:
      rows, columns, y_shape, x_shape, dense: as given; entries are in the order of rows.

    >>> x = tf.constant([1.0, 2.0, 3.0])
    >>> tf.sparsity(x * x, x).to_scipy().nnz
    3
    """

    def __init__(self, rows: Array, columns: Array, y_shape: Sequence[int], x_shape: Sequence[int],
                 connected: bool = True, dense: Sequence[Any] = ()):
        self.rows, self.columns = rows, columns
        self.y_shape, self.x_shape = tuple(y_shape), tuple(x_shape)
        self.connected = connected
        self.dense = tuple(dense)

    @classmethod
    def of(cls, mask: Any, y_shape: Sequence[int], x_shape: Sequence[int]) -> Sparsity:
        """Makes a pattern from a mask: an array (*Y, *X), or a SciPy matrix.

        Raises: ValueError for another shape.
        """
        height, width = math.prod(y_shape), math.prod(x_shape)
        if hasattr(mask, "tocoo"):
            given = mask.tocoo()
            shapes: list[tuple[int, ...]] = [(height, width)]
            shape = given.shape
            rows, columns = given.row.astype(np.int64), given.col.astype(np.int64)
        else:
            given = np.asarray(mask)
            shape, shapes = given.shape, [(height, width), (*y_shape, *x_shape)]
            rows, columns = (np.nonzero(given.reshape(height, width)) if shape in shapes
                             else (np.zeros(0, np.int64),) * 2)
        if shape not in shapes:
            raise ValueError(f"sparse= is a pattern of shape {shape}, but the Jacobian is {(*y_shape, *x_shape)}.\n"
                             "  Fix: give True, tf.sparsity(y, x), or a mask of that shape")
        keys = np.unique(rows * max(width, 1) + columns)
        return cls(*np.divmod(keys, max(width, 1)), y_shape, x_shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the Jacobian, (*Y, *X)."""
        return (*self.y_shape, *self.x_shape)

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """The numbers of elements of y and of x."""
        return math.prod(self.y_shape), math.prod(self.x_shape)

    def __len__(self) -> int:
        """Returns the number of entries."""
        return len(self.rows)

    @property
    def indices(self) -> Array:
        """The places of the entries, (n, rank), int64."""
        parts: list[Any] = []
        for numbers, shape in ((self.rows, self.y_shape), (self.columns, self.x_shape)):
            parts += np.unravel_index(numbers, shape) if shape else []
        return np.stack(parts, 1).astype(np.int64) if parts else np.zeros((len(self.rows), 0), np.int64)

    def to_scipy(self) -> Any:
        """Returns a `scipy.sparse.csr_matrix` of booleans, with a row for each element of y."""
        from scipy.sparse import csr_matrix

        return csr_matrix((np.ones(len(self), bool), (self.rows, self.columns)), self.matrix_shape)

    def to_dense(self) -> Array:
        """Returns an array of booleans, (*Y, *X)."""
        mask = np.zeros(self.matrix_shape, bool)
        mask[self.rows, self.columns] = True
        return mask.reshape(self.shape)

    def __repr__(self) -> str:
        return f"Sparsity of shape {self.shape}, {len(self):,} entries of {math.prod(self.matrix_shape):,}"

    def __str__(self) -> str:
        """Returns the pattern as text, a character for each element where it is small."""
        height, width = self.matrix_shape
        if max(height, width) > _WRITTEN:
            return repr(self)
        mask = self.to_dense().reshape(height, width)
        return "\n".join([repr(self), *["".join(".x"[int(v)] for v in row) for row in mask]])

    def svg(self, size: int = 400) -> str:
        """Draws the pattern.

        Args:
          size: the length of the longer side.
        Returns: a picture as SVG text, in which a large pattern is drawn in blocks, darker where they have more
          entries.
        """
        height, width = self.matrix_shape
        step = max(1, math.ceil(max(height, width) / _DRAWN))
        down, across = max(1, math.ceil(height / step)), max(1, math.ceil(width / step))
        counts = np.bincount(self.rows // step * across + self.columns // step, minlength=down * across)
        unit = size / max(down, across)
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{across * unit:.6g}" height="{down * unit:.6g}" '
                 f'viewBox="0 0 {across} {down}" shape-rendering="crispEdges">',
                 f"<title>{self!r}</title>", f'<rect width="{across}" height="{down}" fill="#f4f4f4"/>']
        for place in np.flatnonzero(counts).tolist():
            y, x = divmod(place, across)
            shade = min(1.0, 0.35 + 0.65 * counts[place] / step)
            parts.append(f'<rect x="{x}" y="{y}" width="1" height="1" fill="#1f4e8c" fill-opacity="{shade:.2g}"/>')
        return "".join([*parts, "</svg>"])

    _repr_svg_ = svg  # what notebooks show
