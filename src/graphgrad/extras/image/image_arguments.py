"""Arguments of functions of images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import TensorLike
from graphgrad.ops.common.shape_values import is_tensor
from graphgrad.ops.random.random import random_uniform
from graphgrad.ops.random.stateless import stateless_uniform


def as_image(image: TensorLike, what: str = "image") -> Any:
    """Converts to a tensor of rank 3 or more."""
    x = convert_to_tensor(image, name=what)
    if x._spec.shape is not None and len(x._spec.shape) < 3:
        raise ValueError(f"'{what}' (shape {x.shape}) must be at least three-dimensional. Fix: use tf.expand_dims")
    return x


def as_images(image: TensorLike) -> Any:
    """Converts to a tensor of rank 3 or 4."""
    x = as_image(image)
    if x._spec.shape is not None and len(x._spec.shape) not in (3, 4):
        raise ValueError(f"'image' (shape {x.shape}) must have either 3 or 4 dimensions. Fix: use tf.reshape")
    return x


def batched(image: TensorLike) -> tuple[Any, bool]:
    """Adds a batch dimension if necessary; returns the tensor and whether it was added."""
    x = as_images(image)
    if x._spec.shape is None:
        raise ValueError(f"'image' (shape {x.shape}) must have either 3 or 4 dimensions. Fix: use set_shape")
    if len(x._spec.shape) == 3:
        return raw.ExpandDims(x, 0), True
    return x, False


def unbatched(x: Any, added: bool) -> Any:
    """Removes the batch dimension that `batched` added."""
    return raw.Squeeze(x, squeeze_dims=(0,)) if added else x


def size_along(x: Any, axis: int) -> Any:
    """Returns the size of an axis: an int, or a tensor if it is not known."""
    d = x._spec.shape[axis]
    return d if d is not None else raw.StridedSlice(raw.Shape(x), [axis], [axis + 1], [1], shrink_axis_mask=1)


def vector_of(values: Sequence[Any]) -> Any:
    """Makes an integer vector of ints and tensors."""
    if any(is_tensor(v) for v in values):
        return raw.Pack([convert_to_tensor(v, int32) for v in values], axis=0)
    return np.asarray(values, np.int32)


def stateful(seed: int | None, low: TensorLike = 0, high: TensorLike = 1.0) -> Callable[[Any], Any]:
    """Returns a function of a shape that draws numbers from [low, high), new ones each time."""

    def uniform(shape: Any) -> Any:
        return random_uniform(shape, low, high, seed=seed)

    return uniform


def keyed(seed: TensorLike, low: TensorLike = 0, high: TensorLike = 1.0) -> Callable[[Any], Any]:
    """Returns a function of a shape that draws numbers from [low, high), as a function of the seed."""

    def uniform(shape: Any) -> Any:
        return stateless_uniform(shape, seed, low, high)

    return uniform


def check_bounds(lower: Any, upper: Any) -> None:
    """Raises ValueError unless 0 <= lower < upper."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
