"""`taylor` and `laplacian`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from graphgrad.gradients.core import strictness
from graphgrad.gradients.core.arguments import as_ys, graph_to_extend
from graphgrad.gradients.core.unconnected import UnconnectedGradients, policy, zeros_of
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.tensor import TensorOperators
from graphgrad.ir.values.function_hooks import derivative_of, is_function

from .batch_arguments import checked_order, columns, direction_of, one_of_each, value_dtype, zeros_beside
from .lanes import MOST, LaneSeries
from .propagation import coefficients, coefficients_by_lanes
from .samples import sampled_directions
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
    graph = graph_to_extend(y, x, "taylor")
    unconnected = policy(unconnected_gradients)
    order = checked_order(order)
    with graph.as_default(), graph.name_scope(name or "taylor"):
        outside, y_, x_ = one_of_each(graph, y, x, "taylor")
        v, stacked = direction_of(x_, direction)
        found: list[Any] = []
        if order:
            layout = SeriesLayout(order, stacked, v._spec.shape[0] if stacked else None)
            found = [c for (c,) in coefficients([y_], [x_], [v], layout, outside)]
        lost = all(c is None for c in found)
        if order:
            strictness.check([y_], [x_], [None if lost else y_], [], unconnected)
        if not lost or unconnected is UnconnectedGradients.ZERO:
            zeros = zeros_beside(y_, v if stacked else None) if any(c is None for c in found) else None
            found = [zeros if c is None else c for c in found]
        here: list[Any] = as_ys(graph, [y])
        return [*here, *found]


@overload
def laplacian(y: Callable[..., Any], x: None = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
              name: str = "laplacian", *, samples: Any = None, seed: int | None = None,
              argnums: int | None = None) -> Callable[..., Any]: ...
@overload
def laplacian(y: TensorOperators, x: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
              name: str = "laplacian", *, samples: Any = None, seed: int | None = None,
              argnums: int | None = None) -> AnyTensor | Any: ...
@overload
def laplacian(y: Any, x: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "laplacian", *,
              samples: Any = None, seed: int | None = None, argnums: int | None = None) -> Any: ...
def laplacian(y: Any, x: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "laplacian", *,
              samples: Any = None, seed: int | None = None, argnums: int | None = None) -> Any:
    """Computes the Laplacian of each example: the sum of the second derivatives of y by the columns of x.

    One pass carries the value, the d first derivatives and the sum of the second ones through the operations between
    x and y (the forward Laplacian), in place of d nested gradients.

    In the place of y may stand a Python function of x: `tf.laplacian(f)(x)`, in eager mode, too. x may then also be one
    point, (d,).

    Args:
      y: (b, *Y), a float tensor; each of its examples may depend on x's example of the same number only, as the
        results of a network without batch statistics do. Otherwise derivatives between examples are added. Or a
        function that returns it.
      x: (b, d), a float tensor.
      unconnected_gradients: 'none' or 'zero': the result if y does not depend on x.
      name: the name scope of the new operations.
      samples: for large d, how many random directions replace the d columns: the result is then an estimate, the mean
        of the second derivatives along them. Each run draws new ones, of +1 and -1, for each example. Its expectation
        is the Laplacian, its variance 2/m times the sum of squares of the Hessian beside the diagonal. Or directions
        that you have drawn, of mean 0 and covariance 1: (m, d), the same for all examples, or (m, b, d).
      seed: the seed of random directions; see `tf.set_random_seed`.
      argnums: of a function, the number of the argument to differentiate by, counted from 0; the first one by default.
    Returns: (b, *Y), of y's dtype, or None. For a function zeros in place of None; without `x`, a function of the same
      arguments.
    Raises: ValueError if x is not of rank 2 with a known number of columns, the batches differ, or `samples` is below 1
      or of another shape; TypeError for other
      dtypes; LookupError if an operation in between has no gradient; RuntimeError in eager mode.
    Gradient: of any order; the new operations are ordinary ones.
    Reference: Li et al., "Forward Laplacian" (2023); Dangel et al., "Collapsing Taylor Mode Automatic Differentiation"
      (2025); Hutchinson, "A stochastic estimator of the trace of the influence matrix" (1990).

    >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(tf.laplacian(x[:, :1] ** 3 + x[:, 1:] ** 2, x))
    array([[ 8.],
           [20.]], dtype=float32)
    >>> sess.run(tf.laplacian(tf.reduce_sum(x ** 3, 1), x, samples=1))  # exact: no mixed derivatives
    array([18., 42.], dtype=float32)
    >>> sess.run(tf.laplacian(lambda x: tf.reduce_sum(x ** 3))([1.0, 2.0]))
    np.float32(18.0)
    """
    if is_function(y):
        given = [] if x is None else [x]
        return derivative_of("laplacian", y, *given, samples=samples, seed=seed, argnums=argnums)
    graph = graph_to_extend(y, x, "laplacian")
    unconnected = policy(unconnected_gradients)
    with graph.as_default(), graph.name_scope(name or "laplacian"):
        outside, y_, x_ = one_of_each(graph, y, x, "laplacian")
        d = columns(x_, y_, "laplacian")
        lanes = _by_columns(y_, x_, d, outside) if samples is None and d <= MOST else None
        if lanes is not None:
            result = lanes.full_top(y_)
            lost = result is None and all(lanes.full(y_, i, 1) is None for i in range(d))
        else:
            if samples is None:
                directions, m = convert_to_tensor(np.eye(d, dtype=value_dtype(x_).np_dtype)[:, None, :]), d
            else:
                directions, m = sampled_directions(x_, d, samples, seed)
            layout = SeriesLayout(2, True, m, [2.0 if samples is None else 2.0 / m] * m)
            found = coefficients([y_], [x_], [directions], layout, outside)
            lost = all(c is None for (c,) in found)
            result = found[-1][0]
        strictness.check([y_], [x_], [None if lost else y_], [], unconnected)
        if result is None and (not lost or unconnected is UnconnectedGradients.ZERO):
            result = zeros_of(y_)
    return result


def _by_columns(y: Any, x: Any, d: int, outside: Any) -> LaneSeries | None:
    """Computes the first derivative by each column by itself, and the sum of the second ones."""
    if x.dtype is resource:
        return None
    rows = [convert_to_tensor(row[None]) for row in np.eye(d, dtype=x.dtype.np_dtype)]
    return coefficients_by_lanes([y], [x], [rows], [1] * d, [2.0] * d, outside)


__all__: Sequence[str] = ["laplacian", "taylor"]
