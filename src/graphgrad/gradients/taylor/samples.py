"""Random directions, along which second derivatives have the Laplacian as their mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.gradients.core.value_shapes import value_shape
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import compatible, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.state.seeding import seed_attrs

from .batch_arguments import value_dtype


def sampled_directions(x: Tensor, d: int, samples: Any, seed: int | None) -> tuple[Any, int]:
    """Returns directions as a stack, and how many there are.

    Args:
      x: (b, d), the points.
      d: the number of columns.
      samples: their number, or directions: (m, d), the same ones for all examples, or (m, b, d).
      seed: the seed of drawn ones.
    Returns: (m, 1, d) or (m, b, d), and m.
    Raises: ValueError for a number below 1, or directions of another shape.
    """
    if isinstance(samples, (int, np.integer)) and not isinstance(samples, bool):
        if samples < 1:
            raise ValueError(f"samples must be at least 1, not {samples}.\n  Asked for at {user_source(2)}\n"
                             "  Fix: give the number of random directions, or leave it out for the exact Laplacian")
        return _signs(x, d, int(samples), seed), int(samples)
    v = convert_to_tensor(samples, value_dtype(x))
    shape, batch = v._spec.shape, _batch(x)
    wanted = {2: (None, d), 3: (None, batch, d)}.get(0 if shape is None else len(shape))
    if shape is None or wanted is None or shape[0] in (None, 0) or not (
            compatible(shape, wanted) or (len(shape) == 3 and compatible(shape, (None, 1, d)))):
        raise ValueError(f"samples has shape {shape_str(shape)}, but x has shape {shape_str(value_shape(x))}.\n"
                         f"  Asked for at {user_source(2)}\n"
                         f"  Fix: give their number, or directions of shape (m, {d}) or (m, b, {d}) with a known m")
    return raw.ExpandDims(v, np.int32(1)) if len(shape) == 2 else v, shape[0]


def _signs(x: Tensor, d: int, count: int, seed: int | None) -> Any:
    """Draws directions of +1 and -1, others for each example."""
    batch = _batch(x)
    size: Any = np.array([count, 0 if batch is None else batch, d], np.int32)
    if batch is None:
        size = raw.ConcatV2([size[:1], raw.StridedSlice(raw.Shape(x), [0], [1], [1]), size[2:]], np.int32(0))
    draw = raw.RandomUniform  # before its seeds: looking it up declares what makes them
    dtype = value_dtype(x)
    half, one = (np.asarray(n, dtype.np_dtype) for n in (0.5, 1.0))
    coins = raw.Floor(raw.AddV2(draw(size, dtype=dtype, **seed_attrs(seed)), half))
    return raw.Sub(raw.AddV2(coins, coins), one)


def _batch(x: Tensor) -> int | None:
    shape = value_shape(x)
    assert shape is not None  # `batch_arguments.columns`
    return shape[0]
