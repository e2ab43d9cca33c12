"""Arguments of what computes coefficients: one y, one x, directions, batches of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.gradients.core.arguments import as_xs, as_ys, flatten
from graphgrad.gradients.core.outer_graphs import Outside, leave
from graphgrad.gradients.core.unconnected import zeros_of
from graphgrad.gradients.core.value_shapes import value_shape
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import compatible, shape_str
from graphgrad.ir.source import user_source


def one_of_each(graph: Graph, y: Any, x: Any, what: str) -> tuple[Outside, Tensor, Tensor]:
    """Returns y and x as tensors, where they are computed, and the tensors behind placeholders."""
    y_list, x_list = as_ys(graph, [y]), as_xs(graph, [x])
    if len(y_list) != 1 or len(x_list) != 1:
        raise TypeError(f"tf.{what} takes one y and one x, not lists of them.\n  Asked for at {user_source(2)}\n"
                        "  Fix: call it for each, or concatenate them")
    for t, given, which in ((y_list[0], y, "y"), (x_list[0], x, "x")):
        dtype = given.dtype if t.dtype is resource else t.dtype
        if dtype.kind != "f":
            raise TypeError(f"{which} is {dtype.name}, but tf.{what} is for real floating tensors.\n"
                            f"  Asked for at {user_source(2)}\n  Fix: tf.cast what y is computed from")
    outside, ((y_,), (x_,)) = leave(graph, flatten([x]), y_list, x_list)
    return outside, y_, x_


def checked_order(order: Any) -> int:
    """Returns an order; raises ValueError for what is not one."""
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 0:
        raise ValueError(f"order must be an integer of at least 0, not {order!r}.\n  Asked for at {user_source(2)}\n"
                         "  Fix: give the highest order of the coefficients")
    return int(order)


def value_dtype(x: Tensor) -> Any:
    """Returns the dtype of a tensor's value, of a variable's where it is a handle."""
    return x.op._attr("dtype") if x.dtype is resource and "dtype" in x.op.attrs else x.dtype


def direction_of(x: Tensor, direction: Any) -> tuple[Any, bool]:
    """Returns the direction as a tensor, and whether it is a stack of several."""
    dtype = value_dtype(x)
    v = convert_to_tensor(direction, None if dtype is resource else dtype)
    own, shape = v._spec.shape, value_shape(x)
    if own is None or shape is None:
        return v, own is not None and shape is not None
    stacked = len(own) == len(shape) + 1
    if (not stacked and len(own) != len(shape)) or not compatible(own[1:] if stacked else own, shape):
        raise ValueError(
            f"The direction has shape {shape_str(own)}, but x has shape {shape_str(shape)}.\n"
            f"  Asked for at {user_source(2)}\n"
            "  Fix: give a tensor of x's shape, e.g. tf.ones_like(x), or a stack of several with one more dimension"
        )
    return v, stacked


def zeros_beside(y: Tensor, stack: Any) -> Any:
    """Returns zeros of y's shape, as many as `stack` has slices; of y's shape alone if it is None."""
    if stack is None:
        return zeros_of(y)
    count = raw.StridedSlice(raw.Shape(stack), [0], [1], [1])
    return raw.Fill(raw.ConcatV2([count, raw.Shape(y)], np.int32(0)), np.zeros((), y.dtype.np_dtype))


def columns(x: Tensor, y: Tensor, what: str) -> int:
    """Returns the number of columns of x; raises ValueError unless x and y are batches that fit."""
    shape, other = value_shape(x), y._spec.shape
    if shape is None or len(shape) != 2 or shape[1] is None:
        raise ValueError(f"x has shape {shape_str(shape)}, but tf.{what} needs a batch of points, (b, d) with a known "
                         f"d.\n  Asked for at {user_source(2)}\n  Fix: tf.reshape or tf.expand_dims, or x.set_shape")
    if other is None or not other or (None not in (other[0], shape[0]) and other[0] != shape[0]):
        raise ValueError(f"y has shape {shape_str(other)}, but x has shape {shape_str(shape)}: their first dimensions "
                         f"are the examples and must match.\n  Asked for at {user_source(2)}\n"
                         "  Fix: give the y that is computed from each row of x")
    return shape[1]
