"""Dilated windows, by space to batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.array.space_to_batch import required_space_to_batch_paddings


def with_space_to_batch(input: TensorLike, dilation_rate: Any, padding: str, op: Callable[..., Any],
                        filter_shape: Any = None, spatial_dims: Any = None, data_format: str | None = None) -> Tensor:
    """Applies an operation to every n-th element of the spatial axes, through a larger batch.

    Args:
      input: (B, *S, ...); or according to `data_format`.
      dilation_rate: a vector of positive ints, one for each spatial axis.
      padding: 'VALID' or 'SAME'.
      op: a function of an input, the number of spatial axes and a padding.
      filter_shape: the shape of op's filter; needed for 'SAME'.
      spatial_dims: the spatial axes, increasing and from 1 on; the first ones after the batch by default.
      data_format: the layout; those that begin with 'NC' have channels before the spatial axes.
    Returns: the result of `op`, with the original batch and positions.
    Raises: ValueError for invalid rates, axes or paddings.
    Gradient: that of `op`.
    Reference: TensorFlow 2.21 `tf.nn.with_space_to_batch`.

    >>> def pool(x, axes, padding):
    ...     return tf.nn.max_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], padding)
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    >>> sess.run(tf.nn.with_space_to_batch(x, [2, 2], "VALID", pool))[0, :, :, 0]
    array([[10., 11.],
           [14., 15.]], dtype=float32)
    """
    x = convert_to_tensor(input, name="input")
    rate = constant_value(convert_to_tensor(dilation_rate, int32))
    if rate is None or rate.ndim != 1 or (rate < 1).any():
        raise ValueError(f"dilation_rate must be a known vector of positive numbers, not {dilation_rate}. Fix: [2, 2]")
    n, shape = len(rate), x._spec.shape
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = list(range(first, first + n)) if spatial_dims is None else sorted(int(a) for a in spatial_dims)
    if len(axes) != n or any(a < 1 for a in axes):
        raise ValueError(f"spatial_dims must be {n} numbers from 1 on, not {spatial_dims}. Fix: one for each rate")
    if shape is not None and len(shape) <= axes[-1]:
        raise ValueError(f"input must have rank {axes[-1] + 1} at least, not {len(shape)}. Fix: expand its dimensions")
    if (rate == 1).all():
        return op(x, n, padding)
    pads = np.zeros((n, 2), np.int32)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("filter_shape must be specified for SAME padding. Fix: filter_shape=filter.shape")
        sizes = constant_value(convert_to_tensor(filter_shape, int32))
        if sizes is None:
            raise ValueError("filter_shape must be known for SAME padding. Fix: give numbers")
        extra = rate * (sizes[:n] - 1)
        pads = np.stack([extra // 2, extra - extra // 2], 1).astype(np.int32)
    elif padding != "VALID":
        raise ValueError(f"Invalid padding method {padding!r}. Fix: 'SAME' or 'VALID'")
    # Axes from 1 to the last spatial one: those in between are blocks of one.
    wide, base = np.ones(axes[-1], np.int32), np.zeros((axes[-1], 2), np.int32)
    wide[np.asarray(axes) - 1], base[np.asarray(axes) - 1] = rate, pads
    known = shape is not None and None not in shape[1 : axes[-1] + 1]
    spatial = np.asarray(shape[1 : axes[-1] + 1], np.int32) if known else raw.Slice(raw.Shape(x), [1], [axes[-1]])
    paddings, crops = required_space_to_batch_paddings(spatial, wide, base)
    result = op(raw.SpaceToBatchND(x, wide, paddings), n, "VALID")
    return raw.BatchToSpaceND(result, wide, crops)
