"""Grey-scale morphology: dilation and erosion, with gradients of any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import REAL
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Cost
from graphgrad.ops.common.empty import zeros_for_empty
from graphgrad.ops.common.synonyms import either

from .window_geometry import cells, pad_spatial, seen_by, spatial, spread, window


def _window_for(x, kernel, strides, rates, padding):
    return window(x[1:3], kernel[:2], spatial(strides, "NHWC", 2), spatial(rates, "NHWC", 2), padding, (), "NHWC")


def _lowest(dtype):
    return -np.inf if dtype.kind not in "iu" else np.iinfo(dtype).min


def _dilate(xp, x, kernel, w):
    """Returns the maximum of each window, and the number of the first cell that attains it."""
    padded = pad_spatial(xp, x, w, value=_lowest(x.dtype))
    inside = pad_spatial(np, np.ones((1, *x.shape[1:3], 1), bool), w)
    best, index = None, None
    for number, cell in enumerate(cells(w)):
        seen = seen_by(xp, padded, w, cell) + kernel[cell]
        if x.dtype.kind in "iu":  # sums of elements outside would overflow
            seen = xp.where(xp.asarray(seen_by(np, inside, w, cell)), seen, xp.asarray(_lowest(x.dtype), x.dtype))
        if best is None:
            best, index = seen, xp.zeros(seen.shape, np.int32)
        else:
            larger = seen > best
            best = xp.where(larger, seen, best)
            index = xp.where(larger, np.int32(number), index)
    return best.astype(x.dtype), index


def _shape(x, kernel, strides, rates, padding):
    x = with_rank(x, 4, "input")
    kernel = with_rank(kernel, 3, "filter")
    if x[3] is not None and kernel[2] is not None and x[3] != kernel[2]:
        raise Complaint(f"input has {x[3]} channels but the filter is for {kernel[2]}",
                        "give filters of shape (height, width, channels)")
    w = _window_for(x, kernel, strides, rates, padding)
    return (x[0], *w.out, kernel[2] if x[3] is None else x[3])


def _attrs(op):
    return {k: op._attr(k) for k in ("strides", "rates", "padding")}


@op("Dilation2D", "input: T, filter: T -> output: T", T=REAL, shape=_shape, cost=Cost.HEAVY)
def dilation_op(xp, x, kernel, *, strides, rates, padding):
    """Computes the largest sum of input and filter in each window."""
    return _dilate(xp, x, kernel, _window_for(x.shape, kernel.shape, strides, rates, padding))[0]


@dilation_op.grad
def _dilation_grad(op, dy):
    x, kernel = op.inputs
    return (raw.Dilation2DBackpropInput(x, kernel, dy, **_attrs(op)),
            raw.Dilation2DBackpropFilter(x, kernel, dy, **_attrs(op)))


# -- first gradients: each window's gradient goes to its maximum -------------------------


def _of_input(x, kernel, dy):
    with_rank(dy, 4, "out_backprop")
    return with_rank(x, 4, "input")


@op("Dilation2DBackpropInput", "input: T, filter: T, out_backprop: T -> in_backprop: T", T=REAL, shape=_of_input,
    cost=Cost.HEAVY)
def dilation_backprop_input(xp, x, kernel, dy, *, strides, rates, padding):
    """Computes the gradient of Dilation2D for its input."""
    w = _window_for(x.shape, kernel.shape, strides, rates, padding)
    _, index = _dilate(xp, x, kernel, w)
    zero = xp.zeros((), dy.dtype)

    def contribution(cell):
        return xp.where(index == np.ravel_multi_index(cell, w.kernel), dy, zero)

    return spread(xp, contribution, w, x.shape[1:3])


def _of_filter(x, kernel, dy):
    with_rank(dy, 4, "out_backprop")
    return with_rank(kernel, 3, "filter")


@op("Dilation2DBackpropFilter", "input: T, filter: T, out_backprop: T -> filter_backprop: T", T=REAL,
    shape=_of_filter, cost=Cost.HEAVY)
def dilation_backprop_filter(xp, x, kernel, dy, *, strides, rates, padding):
    """Computes the gradient of Dilation2D for its filter."""
    w = _window_for(x.shape, kernel.shape, strides, rates, padding)
    _, index = _dilate(xp, x, kernel, w)
    zero = xp.zeros((), dy.dtype)
    sums = [xp.sum(xp.where(index == number, dy, zero), axis=(0, 1, 2), dtype=dy.dtype)
            for number in range(kernel.shape[0] * kernel.shape[1])]
    return xp.stack(sums).reshape(kernel.shape)


# -- second gradients: gathered at the positions of the maxima ----------------------------


def _picked_shape(x, kernel, u, strides, rates, padding):
    return _shape(x, kernel, strides, rates, padding)


@op("Dilation2DBackpropInputGrad", "input: T, filter: T, grad: T -> output: T", T=REAL, shape=_picked_shape,
    cost=Cost.HEAVY)
def dilation_pick_input(xp, x, kernel, u, *, strides, rates, padding):
    """Picks, for each window, the element of `grad` at the position of its maximum."""
    w = _window_for(x.shape, kernel.shape, strides, rates, padding)
    _, index = _dilate(xp, x, kernel, w)
    padded = pad_spatial(xp, u, w)
    result = xp.zeros(index.shape, u.dtype)
    for number, cell in enumerate(cells(w)):
        result = xp.where(index == number, seen_by(xp, padded, w, cell), result)
    return result


@op("Dilation2DBackpropFilterGrad", "input: T, filter: T, grad: T -> output: T", T=REAL, shape=_picked_shape,
    cost=Cost.HEAVY)
def dilation_pick_filter(xp, x, kernel, u, *, strides, rates, padding):
    """Picks, for each window, the element of `grad` at the cell of its maximum."""
    w = _window_for(x.shape, kernel.shape, strides, rates, padding)
    _, index = _dilate(xp, x, kernel, w)
    result = xp.zeros(index.shape, u.dtype)
    for number, cell in enumerate(cells(w)):
        result = xp.where(index == number, u[cell], result)
    return result


def _linear(other):
    def rule(op, u):
        x, kernel, _ = op.inputs
        return raw.ZerosLike(x), raw.ZerosLike(kernel), getattr(raw, other)(x, kernel, u, **_attrs(op))

    return rule


dilation_backprop_input.grad(_linear("Dilation2DBackpropInputGrad"))
dilation_backprop_filter.grad(_linear("Dilation2DBackpropFilterGrad"))
dilation_pick_input.grad(_linear("Dilation2DBackpropInput"))
dilation_pick_filter.grad(_linear("Dilation2DBackpropFilter"))


# -- public functions --------------------------------------------------------------------


def _nhwc(data_format):
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported. Received: data_format="
                         f"{data_format}. Fix: transpose the input")


def dilation2d(input: TensorLike, filters: TensorLike, strides: Sequence[Any], padding: str, data_format: str,
               dilations: Sequence[Any], name: str | None = None) -> Tensor:
    """Computes grey-scale dilation: the largest sum of input and filter in each window.

    Args:
      input: (N, H, W, C), real.
      filters: (h, w, C).
      strides: the window's step: [1, sh, sw, 1].
      padding: "SAME" or "VALID".
      data_format: "NHWC".
      dilations: its dilations: [1, dh, dw, 1].
      name: a name for the operation.
    Returns: (N, H', W', C).
    Raises: ValueError for another data format, or if the window is larger than the input.
    Gradient: dy goes to the position of each maximum, in the input and in the filter.
    Reference: TensorFlow 2.21 Dilation2D.

    >>> x, k = np.arange(4.0).reshape(1, 2, 2, 1), np.zeros((2, 2, 1))
    >>> sess.run(dilation2d(x, k, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1])).ravel()
    array([3.])
    """
    _nhwc(data_format)
    return raw.Dilation2D(input, filters, strides=tuple(strides), rates=tuple(dilations), padding=padding, name=name)


def dilation2d_v1(input: TensorLike, filter: TensorLike = None, strides: Any = None, rates: Any = None,
                  padding: Any = None, name: str | None = None, filters: TensorLike = None,
                  dilations: Any = None) -> Tensor:
    """Computes grey-scale dilation, with TensorFlow 1's arguments.

    Args:
      input: (N, H, W, C), real.
      filter, filters: (h, w, C).
      strides: the window's step: [1, sh, sw, 1].
      rates, dilations: its dilations: [1, dh, dw, 1].
      padding: "SAME" or "VALID".
      name: a name for the operation.
    Returns: (N, H', W', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: dy goes to the position of each maximum, in the input and in the filter.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.dilation2d`.
    """
    kernel = either("filters", filters, "filter", filter)
    rates = either("dilations", dilations, "rates", rates)
    return raw.Dilation2D(input, kernel, strides=tuple(strides), rates=tuple(rates), padding=padding, name=name)


def erosion2d(value: TensorLike, filters: TensorLike, strides: Sequence[Any], padding: str, data_format: str,
              dilations: Sequence[Any], name: str | None = None) -> Tensor:
    """Computes grey-scale erosion: the smallest difference of input and mirrored filter in each window.

    Args:
      value: (N, H, W, C), real.
      filters: (h, w, C).
      strides: the window's step: [1, sh, sw, 1].
      padding: "SAME" or "VALID".
      data_format: "NHWC".
      dilations: its dilations: [1, dh, dw, 1].
      name: a name for the operation.
    Returns: (N, H', W', C).
    Raises: ValueError for another data format, or if the window is larger than the input.
    Gradient: that of Dilation2D.
    Reference: TensorFlow 2.21 `tf.nn.erosion2d`.

    >>> x, k = np.arange(1.0, 5.0).reshape(1, 2, 2, 1), np.zeros((2, 2, 1))
    >>> sess.run(erosion2d(x, k, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1])).ravel()
    array([1.])
    """
    _nhwc(data_format)
    return erosion2d_v1(value, filters, strides, dilations, padding, name)


def erosion2d_v1(value: TensorLike, kernel: TensorLike, strides: Sequence[Any], rates: Sequence[Any], padding: str,
                 name: str | None = None) -> Tensor:
    """Computes grey-scale erosion, with TensorFlow 1's arguments.

    Args:
      value: (N, H, W, C), real.
      kernel: (h, w, C).
      strides: the window's step: [1, sh, sw, 1].
      rates: its dilations: [1, dh, dw, 1].
      padding: "SAME" or "VALID".
      name: a name for the operations.
    Returns: (N, H', W', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: that of Dilation2D.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.erosion2d`.
    """
    with name_scope(name, "erosion2d") as scope:
        value = convert_to_tensor(value, name="value")
        mirrored = raw.ReverseV2(convert_to_tensor(kernel, value.dtype, name="kernel"), np.asarray([0, 1], np.int32))
        return raw.Neg(raw.Dilation2D(raw.Neg(value), mirrored, strides=tuple(strides), rates=tuple(rates),
                                      padding=padding), name=scope)


zeros_for_empty("Dilation2D Dilation2DBackpropFilter Dilation2DBackpropInput")
