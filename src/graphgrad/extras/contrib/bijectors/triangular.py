"""Triangular matrices.

Reference: TensorFlow 1.15 `tf.contrib.distributions`.
"""

from __future__ import annotations

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.linalg.diag_functions import matrix_band_part


def fill_triangular(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """Fills triangular matrices with vectors.

    Args:
      x: (..., n (n + 1) / 2), of known size.
      upper: whether the triangle above the diagonal is filled, not that below.
      name: a name for the operations.
    Returns: (..., n, n).
    Raises: ValueError for another size.
    Reference: TensorFlow 1.15 `tf.contrib.distributions.fill_triangular`.

    >>> sess.run(fill_triangular([1, 2, 3, 4, 5, 6]))
    array([[4, 0, 0],
           [6, 5, 0],
           [3, 2, 1]], dtype=int32)
    """
    with name_scope(name, "fill_triangular"):
        x = convert_to_tensor(x)
        m = x.shape.as_list()[-1]
        n = int((np.sqrt(1 + 8 * m) - 1) / 2)
        if n * (n + 1) // 2 != m:
            raise ValueError(f"Input right-most shape ({m}) does not correspond to a triangular matrix.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: give n (n + 1) / 2 numbers")
        last = np.array([-1], np.int32)
        parts = [x, raw.ReverseV2(x[..., n:], last)] if upper else [x[..., n:], raw.ReverseV2(x, last)]
        batch = raw.StridedSlice(shape(x), [0], [-1], [1], begin_mask=1)
        square = raw.Reshape(raw.ConcatV2(parts, np.int32(-1)), raw.ConcatV2([batch, np.array([n, n], np.int32)], 0))
        square.set_shape(x.shape[:-1].concatenate([n, n]))
        return matrix_band_part(square, *((0, -1) if upper else (-1, 0)))
