"""Products of Jacobians and Hessians with vectors, as graph constructions.

**Jacobian-vector products** (forward mode) are Taylor coefficients of the first order: one pass over the operations in
between, each of which is applied to tangents as its record and its gradient rule say. Where something in between cannot
be built once more (a loop, a branch, a gradient of the user's, complex numbers), they are two reverse sweeps, see
`core/two_sweeps.py`. Separate forward rules would be a second table of derivatives to keep right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from graphgrad.gradients.core import strictness
from graphgrad.gradients.core.arguments import as_xs, as_ys, flatten, graph_to_extend
from graphgrad.gradients.core.backprop import gradients
from graphgrad.gradients.core.custom import repack
from graphgrad.gradients.core.outer_graphs import leave
from graphgrad.gradients.core.rules import carries_gradient
from graphgrad.gradients.core.two_sweeps import pushed_forward
from graphgrad.gradients.core.unconnected import UnconnectedGradients, policy, zeros_of
from graphgrad.gradients.core.value_shapes import value_shape
from graphgrad.gradients.taylor.propagation import coefficients, goes_forward
from graphgrad.gradients.taylor.series import SeriesLayout
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.shape import is_fully_defined, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.tensor import TensorOperators
from graphgrad.ir.values.function_hooks import derivative_of, is_function
from graphgrad.ir.values.indexed_slices import dense


@overload
def jvp(ys: Callable[..., Any], xs: None = None, tangents: None = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "jvp") -> Callable[..., Any]: ...
@overload
def jvp(ys: TensorOperators, xs: Any = None, tangents: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "jvp") -> AnyTensor | Any: ...
@overload
def jvp(ys: Any, xs: Any = None, tangents: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
        name: str = "jvp") -> Any: ...
def jvp(ys: Any, xs: Any = None, tangents: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
        name: str = "jvp") -> Any:
    """Computes Jacobian-vector products: the derivative of ys along a direction in the space of the xs.

    In the place of ys may stand a Python function of the xs, in eager mode, too: `tf.jvp(f, x, v)`.

    Args:
      ys: a tensor or a nested structure of them; or a function that returns it.
      xs: a tensor or variable, or a list of them. Of a function, its argument, or a list or tuple of all of them.
      tangents: for each x the direction, of its shape and dtype.
      unconnected_gradients: 'none' or 'zero': the result for a y that does not depend on the xs.
      name: the name scope of the new operations.
    Returns: the structure of `ys`, with a tensor of y's shape and dtype, or None, for each. For a function a pair: what
      it returns, and the derivatives, with zeros in place of None; without `xs` and `tangents`, a function of these.
    Raises: ValueError if the tangents differ from the xs in number or shapes; LookupError if an op between has no
      gradient, or its gradient has none.
    Gradient: of any order; `jvp` of `jvp` is the second derivative along two directions.
    Reference: Griewank and Walther, "Evaluating Derivatives" (2008), section 3; TensorFlow's counterpart is
      `tf.autodiff.ForwardAccumulator`.

    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run(tf.jvp(x**3, x, tf.constant([1.0, 10.0])))
    array([  3., 120.], dtype=float32)
    >>> sess.run(tf.jvp(lambda x: x**3, 2.0, 10.0))
    (np.float32(8.0), np.float32(120.0))
    """
    if is_function(ys):
        return derivative_of("jvp", ys, *given_arguments("jvp", xs, tangents))
    graph = graph_to_extend(ys, xs, "jvp")
    unconnected = policy(unconnected_gradients)
    with graph.as_default(), graph.name_scope(name or "jvp"):
        y_list, x_list = as_ys(graph, ys), as_xs(graph, xs)
        found = _along(graph, y_list, x_list, _tangents(x_list, tangents, xs), xs)
        for y, g in zip(y_list, found, strict=True):
            strictness.check([y], x_list, [g] * len(x_list), [], unconnected)
        if unconnected is UnconnectedGradients.ZERO:
            found = [zeros_of(y) if g is None else g for y, g in zip(y_list, found, strict=True)]
    return repack(ys, iter(found))


@overload
def vjp(ys: Callable[..., Any], xs: None = None, cotangents: None = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "vjp") -> Callable[..., Any]: ...
@overload
def vjp(ys: TensorOperators, xs: TensorOperators, cotangents: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "vjp") -> AnyTensor | Any: ...
@overload
def vjp(ys: Any, xs: Any = None, cotangents: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
        name: str = "vjp") -> Any: ...
def vjp(ys: Any, xs: Any = None, cotangents: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
        name: str = "vjp") -> Any:
    """Computes vector-Jacobian products: the gradients of the ys' elements, weighted and summed.

    In the place of ys may stand a Python function of the xs, in eager mode, too: `tf.vjp(f, x, u)`.

    Args:
      ys: a tensor or a nested structure of them; or a function that returns it.
      xs: a tensor or variable, or a nested structure of them. Of a function, its argument, or a list or tuple of all
        of them.
      cotangents: for each y its weights, of its shape and dtype, in the structure of `ys`.
      unconnected_gradients: 'none' or 'zero': the result for an x that the ys do not depend on.
      name: the name scope of the new operations.
    Returns: the structure of `xs`, with a tensor of x's shape and dtype, or None, for each. For a function a pair: what
      it returns, and the products, with zeros in place of None; without `xs` and `cotangents`, a function of these.
    Raises: ValueError if the cotangents differ from the ys in number; LookupError if an op between has no gradient.
    Gradient: of any order.
    Reference: `tf.gradients` with `grad_ys`; jax.vjp.

    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run(tf.vjp(x**3, x, tf.constant([1.0, 10.0])))
    array([  3., 120.], dtype=float32)
    >>> sess.run(tf.vjp(lambda x, y: x * y, [2.0, 3.0], 10.0))
    (np.float32(6.0), [np.float32(30.0), np.float32(20.0)])
    """
    if is_function(ys):
        return derivative_of("vjp", ys, *given_arguments("vjp", xs, cotangents))
    graph = graph_to_extend(ys, xs, "vjp")
    with graph.as_default():
        found = gradients(ys, flatten(xs), cotangents, name or "vjp", unconnected_gradients=unconnected_gradients)
        return repack(xs, iter([None if g is None else dense(g) for g in found]))


def _along(graph: Graph, ys: list[Tensor], xs: list[Tensor], tangents: list[Any], given: Any) -> list[Any]:
    """Returns the derivative of each y along the tangents, or None."""
    outside, (ys_, xs_) = leave(graph, flatten(given), ys, xs)
    floating = [i for i, y in enumerate(ys_) if carries_gradient(y)]
    if not xs or len(set(map(id, xs_))) < len(xs_) or not goes_forward([ys_[i] for i in floating], xs_, outside):
        return pushed_forward(ys, xs, tangents)
    found: list[Any] = [None] * len(ys)
    layout = SeriesLayout(1, False)
    (first,) = coefficients([ys_[i] for i in floating], xs_, tangents, layout, outside)
    for i, c in zip(floating, first, strict=True):
        found[i] = c
    return found


def given_arguments(what: str, xs: Any, vectors: Any) -> list[Any]:
    """Returns the arguments of a product with a function's Jacobian: none, or both."""
    if (xs is None) != (vectors is None):
        raise TypeError(f"tf.{what} of a function takes its arguments and the vectors, but one of the two is missing.\n"
                        f"  Asked for at {user_source(2)}\n  Fix: tf.{what}(f, x, v), or tf.{what}(f)(x, v)")
    return [] if xs is None else [xs, vectors]


@overload
def hessian_vector_product(ys: TensorOperators, xs: Any, tangents: Any,
                           name: str = "hessian_vector_product") -> list[AnyTensor | Any]: ...
@overload
def hessian_vector_product(ys: Any, xs: Any, tangents: Any, name: str = "hessian_vector_product") -> Any: ...
def hessian_vector_product(ys: Any, xs: Any, tangents: Any, name: str = "hessian_vector_product") -> Any:
    """Multiplies the Hessian of the sum of ys by a vector, without the Hessian, at about twice a gradient's cost.

    Args:
      ys: a tensor or a list of tensors; or a function of the xs, in eager mode, too.
      xs: a tensor or variable, or a list of them; mixed second derivatives between them are included.
      tangents: for each x the vector, of its shape and dtype.
      name: the name scope of the new operations.
    Returns: a list with a tensor of its shape and dtype for each x, or None where the gradient does not depend on it.
      For a function the structure of `xs`, with zeros in place of None.
    Raises: ValueError if the tangents differ from the xs in number or shapes; else as `gradients`.
    Gradient: of any order.
    Reference: Pearlmutter, "Fast exact multiplication by the Hessian" (1994).

    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run(tf.hessian_vector_product(tf.reduce_prod(x) ** 2, x, tf.constant([1.0, 0.0])))
    [array([8., 8.], dtype=float32)]
    """
    if is_function(ys):
        return derivative_of("hessian_vector_product", ys, xs, tangents)
    graph = graph_to_extend(ys, xs, "hessian_vector_product")
    with graph.as_default(), graph.name_scope(name or "hessian_vector_product"):
        x_list = as_xs(graph, xs)
        v_list = _tangents(x_list, tangents, xs)
        with strictness.none_allowed():
            slopes = gradients(ys, x_list)
        pairs = [(dense(g), v) for g, v in zip(slopes, v_list, strict=True) if g is not None]
        if not pairs:
            strictness.check(as_ys(graph, ys), x_list, slopes, [], UnconnectedGradients.NONE)
            return slopes
        return gradients([g for g, _ in pairs], x_list, [v for _, v in pairs])


_hessian_vector_product = hessian_vector_product  # its name in tensorflow.python.ops.gradients_impl


def _tangents(xs: list[Tensor], tangents: Any, given: Any) -> list[Any]:
    values = list(tangents) if isinstance(given, (list, tuple)) else [tangents]
    if len(values) != len(xs):
        raise ValueError(
            f"{len(values)} tangents for {len(xs)} xs.\n  Asked for at {user_source(2)}\n"
            "  Fix: give for each x a tensor of its shape and dtype"
        )
    found = []
    for i, (x, v) in enumerate(zip(xs, values, strict=True)):
        dtype = x.op._attr("dtype") if x.dtype is resource and "dtype" in x.op.attrs else x.dtype
        v = convert_to_tensor(v, None if dtype is resource else dtype)
        shape, wanted = v._spec.shape, value_shape(x)
        if is_fully_defined(shape) and is_fully_defined(wanted) and shape != wanted:
            raise ValueError(
                f"tangents[{i}] has shape {shape_str(shape)}, but xs[{i}] has shape {shape_str(wanted)}.\n"
                f"  Asked for at {user_source(2)}\n  Fix: give a tensor of x's shape, e.g. tf.ones_like(x)"
            )
        found.append(v)
    return found


__all__ = ["hessian_vector_product", "jvp", "vjp"]
