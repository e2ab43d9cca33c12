"""`taylor` and `laplacian`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.core import strictness
from graphgrad.gradients.core.arguments import as_xs, as_ys, flatten, graph_to_extend
from graphgrad.gradients.core.outer_graphs import Outside, leave
from graphgrad.gradients.core.unconnected import UnconnectedGradients, policy, zeros_of
from graphgrad.gradients.derived.value_shapes import value_shape
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import compatible, shape_str
from graphgrad.ir.source import user_source

from .propagation import coefficients
from .series import SeriesLayout


def taylor(y: Any, x: Any, direction: Any, order: int, unconnected_gradients: Any = UnconnectedGradients.NONE,
           name: str = "taylor") -> list[Any]:
    """Computes the Taylor coefficients of y along a direction of x: y(x + s v) = c_0 + c_1 s + c_2 s^2 + ...

    The k-th derivative along the direction is k! c_k. All orders are computed in one pass over the operations between
    x and y; their number grows with the order times the number of operations, or its square, where nested `gradients`
    grow exponentially.

    Args:
      y: a float tensor.
      x: a float tensor or variable.
      direction: v, a tensor of x's shape and dtype; or (m, *X), m directions at once.
      order: the highest order, at least 0.
      unconnected_gradients: 'none' or 'zero': what c_1, c_2 and so on are if y does not depend on x.
      name: the name scope of the new operations.
    Returns: a list of the order + 1 coefficients. The first one is y; the others have its shape, for m directions
      (m, *Y).
    Raises: ValueError for a direction of another shape, or an order below 0; TypeError for other dtypes; LookupError if
      an operation in between has no gradient; RuntimeError in eager mode.
    Gradient: of any order; the new operations are ordinary ones.
    Reference: Griewank and Walther, "Evaluating Derivatives" (2008), chapter 13; `jax.experimental.jet`, which gives
      k! c_k.

    >>> x = tf.constant(0.0)
    >>> sess.run(tf.taylor(tf.exp(2.0 * x), x, 1.0, 3))
    [np.float32(1.0), np.float32(2.0), np.float32(2.0), np.float32(1.3333334)]
    """
    graph = _graph(y, x, "taylor")
    unconnected = policy(unconnected_gradients)
    order = _checked_order(order)
    with graph.as_default(), graph.name_scope(name or "taylor"):
        outside, y_, x_ = _one_of_each(graph, y, x, "taylor")
        v, stacked = _direction(x_, direction)
        found: list[Any] = []
        if order:
            layout = SeriesLayout(order, stacked, v._spec.shape[0] if stacked else None)
            found = [c for (c,) in coefficients([y_], [x_], [v], layout, outside)]
        lost = all(c is None for c in found)
        if order:
            strictness.check([y_], [x_], [None if lost else y_], [], unconnected)
        if not lost or unconnected is UnconnectedGradients.ZERO:
            zeros = _zeros(y_, v if stacked else None) if any(c is None for c in found) else None
            found = [zeros if c is None else c for c in found]
        here: list[Any] = as_ys(graph, [y])
        return [*here, *found]


def laplacian(y: Any, x: Any, unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "laplacian") -> Any:
    """Computes the Laplacian of each example: the sum of the second derivatives of y by the columns of x.

    One pass carries the value, the d first derivatives and the sum of the second ones through the operations between
    x and y (the forward Laplacian), in place of d nested gradients.

    Args:
      y: (b, *Y), a float tensor; each of its examples may depend on x's example of the same number only, as the
        results of a network without batch statistics do. Otherwise derivatives between examples are added.
      x: (b, d), a float tensor.
      unconnected_gradients: 'none' or 'zero': the result if y does not depend on x.
      name: the name scope of the new operations.
    Returns: (b, *Y), of y's dtype, or None.
    Raises: ValueError if x is not of rank 2 with a known number of columns, or the batches differ; TypeError for other
      dtypes; LookupError if an operation in between has no gradient; RuntimeError in eager mode.
    Gradient: of any order; the new operations are ordinary ones.
    Reference: Li et al., "Forward Laplacian" (2023); Dangel et al., "Collapsing Taylor Mode Automatic Differentiation"
      (2025).

    >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(tf.laplacian(x[:, :1] ** 3 + x[:, 1:] ** 2, x))
    array([[ 8.],
           [20.]], dtype=float32)
    """
    graph = _graph(y, x, "laplacian")
    unconnected = policy(unconnected_gradients)
    with graph.as_default(), graph.name_scope(name or "laplacian"):
        outside, y_, x_ = _one_of_each(graph, y, x, "laplacian")
        d = columns(x_, y_, "laplacian")
        seeds = np.eye(d, dtype=x_.dtype.np_dtype)[:, None, :]
        layout = SeriesLayout(2, True, d, [2.0] * d)
        found = coefficients([y_], [x_], [convert_to_tensor(seeds)], layout, outside)
        lost = all(c is None for (c,) in found)
        result = found[-1][0]
        strictness.check([y_], [x_], [None if lost else y_], [], unconnected)
        if result is None and (not lost or unconnected is UnconnectedGradients.ZERO):
            result = zeros_of(y_)
    return result


# -- arguments ---------------------------------------------------------------------------


def _graph(y: Any, x: Any, what: str) -> Graph:
    try:
        return graph_to_extend(y, x)
    except RuntimeError:
        raise RuntimeError(
            f"tf.{what} is not supported when eager execution is enabled: eager values do not know how they were "
            f"computed.\n  Asked for at {user_source(2)}\n"
            "  Fix: call it inside a tf.function or `with graph.as_default():`"
        ) from None


def _one_of_each(graph: Graph, y: Any, x: Any, what: str) -> tuple[Outside, Tensor, Tensor]:
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


def _checked_order(order: Any) -> int:
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 0:
        raise ValueError(f"order must be an integer of at least 0, not {order!r}.\n  Asked for at {user_source(2)}\n"
                         "  Fix: give the highest order of the coefficients")
    return int(order)


def _direction(x: Tensor, direction: Any) -> tuple[Any, bool]:
    """Returns the direction as a tensor, and whether it is a stack of several."""
    dtype = x.op._attr("dtype") if x.dtype is resource and "dtype" in x.op.attrs else x.dtype
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


def _zeros(y: Tensor, stack: Any) -> Any:
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


__all__: Sequence[str] = ["laplacian", "taylor"]
