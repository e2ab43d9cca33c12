"""Functions of `tf.experimental.numpy` that other modules have under no name of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike


def finfo(dtype: DTypeLike) -> ml_dtypes.finfo:
    """Returns the limits of a type of floating-point numbers.

    Args:
      dtype: the type.
    Returns: an object with `eps`, `max`, `min`, `tiny` and others, as NumPy's.
    Reference: TensorFlow 2.21 `tf.experimental.numpy.finfo`.

    >>> import graphgrad as tf
    >>> float(tf.experimental.numpy.finfo(tf.float32).eps) == 2.0**-23
    True
    """
    return ml_dtypes.finfo(as_dtype(dtype).np_dtype)


def select(condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0) -> Tensor:
    """Returns elements of the first choice whose condition holds.

    Args:
      condlist: bool tensors.
      choicelist: as many tensors; all broadcast to one shape.
      default: what there is where no condition holds.
    Returns: the common shape; the dtype that NumPy gives for the choices and the default.
    Raises: ValueError if the lists differ in length, or are empty.
    Gradient: dy where its choice was taken, 0 elsewhere.
    Reference: TensorFlow 2.21 `tf.experimental.numpy.select`.

    >>> x = tf.constant([1, 2, 3])
    >>> from graphgrad.ops.common.numpy_functions import select
    >>> sess.run(select([x < 2, x > 2], [-x, 10 * x]))
    array([-1,  0, 30], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(f"there are {len(condlist)} conditions and {len(choicelist)} choices. "
                         "Fix: give one choice for each condition")
    choices = [convert_to_tensor(c) for c in choicelist]
    kinds = [c.dtype.np_dtype for c in choices]
    plain = isinstance(default, (int, float))  # has no type of its own
    if not plain:
        kinds.append(convert_to_tensor(default).dtype.np_dtype)
    dtype = as_dtype(np.result_type(*kinds))
    found: Any = raw.Cast(convert_to_tensor(default, dtype if plain else None), DstT=dtype)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        found = raw.SelectV2(condition, raw.Cast(choice, DstT=dtype), found)
    return found
