"""Jacobians and Hessians of each example of a batch."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from graphgrad.gradients.control_flow.vectorized_map_gradient import MapBody, map_rows
from graphgrad.gradients.core import strictness
from graphgrad.gradients.core.arguments import as_xs, as_ys, graph_to_extend
from graphgrad.gradients.core.backprop import gradients
from graphgrad.gradients.core.outer_graphs import leave
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.gradients.core.unconnected import UnconnectedGradients, policy, zeros_of
from graphgrad.gradients.core.value_shapes import check_batches, value_shape
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.tensor import TensorOperators
from graphgrad.ir.values.function_hooks import derivative_of, is_function
from graphgrad.ir.values.indexed_slices import dense

from .higher import checked_chunk, count_of, dims_from, pulled_back
from .sparse_results import is_sparse, no_entries_of_batch, sparse_batch


@overload
def batch_jacobian(output: TensorOperators, inp: TensorOperators, use_pfor: bool = True,
                   parallel_iterations: int | None = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
                   name: str = "batch_jacobian", *, sparse: Literal[False] = False) -> AnyTensor | Any: ...
@overload
def batch_jacobian(output: Any, inp: Any, use_pfor: bool = True, parallel_iterations: int | None = None,
                   unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "batch_jacobian", *,
                   sparse: Any = False) -> Any: ...
def batch_jacobian(output: Any, inp: Any, use_pfor: bool = True, parallel_iterations: int | None = None,
                   unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "batch_jacobian", *,
                   sparse: Any = False) -> Any:
    """Computes the Jacobian of each example of a batch: of `output[i]` with respect to `inp[i]`.

    It computes as many rows as one example has elements. `output[i]` must depend on no other example than `inp[i]`; if
    it does, the result is summed over the examples of `output`. With `sparse=True` that is an error.

    Args:
      output: y, (b, *Y); or a function of x, in eager mode, too.
      inp: x, (b, *X).
      use_pfor, parallel_iterations: as in `jacobian`.
      unconnected_gradients: 'none' or 'zero': the result if y does not depend on x.
      name: the name scope of the new operations.
      sparse: whether the result is a `SparseTensor` of the elements that `tf.sparsity(per_example=True)` finds, the
        same ones for each example, computed by as many products with vectors as the pattern of one example needs
        colours; or such a pattern, or a mask (*Y, *X), which is taken as it is. b need not be known.
    Returns: (b, *Y, *X), or None.
    Raises: ValueError for scalars, and if the batches differ in size; with `sparse=True` if an example depends on
      another one, or b is not known and that cannot be excluded; else as `jacobian`.
    Gradient: of any order.
    Reference: TensorFlow 2.21 `tensorflow.python.ops.parallel_for.gradients.batch_jacobian`.

    >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(tf.batch_jacobian(tf.reduce_prod(x, 1, keepdims=True), x))
    array([[[2., 1.]],
    <BLANKLINE>
           [[4., 3.]]], dtype=float32)
    >>> sess.run(tf.batch_jacobian(x * x, x, sparse=True)).values
    array([2., 4., 6., 8.], dtype=float32)
    """
    if is_function(output):
        return derivative_of("batch_jacobian", output, inp, use_pfor=use_pfor, parallel_iterations=parallel_iterations,
                             sparse=sparse)
    graph = graph_to_extend(output, inp, "batch_jacobian")
    unconnected = policy(unconnected_gradients)
    with graph.as_default(), graph.name_scope(name or "batch_jacobian"):
        outside, ((y,), (x,)) = leave(graph, [inp], as_ys(graph, [output]), as_xs(graph, [inp]))
        check_batches(y._spec.shape, value_shape(x))
        if is_sparse(sparse):
            found = sparse_batch(y, x, outside, sparse, "batch_jacobian")
            strictness.check([y], [x], [found], [], unconnected)
            return no_entries_of_batch(y, x) if found is None and unconnected is UnconnectedGradients.ZERO else found
        body, (found,) = pulled_back(y, [x], outside, batched=True)
        strictness.check([y], [x], [found], [], unconnected)
        if found is None:
            return zero_batch_jacobian(y, x) if unconnected is UnconnectedGradients.ZERO else None
        body.outputs = [body.own(found)]
        return finish_batch_jacobian(y, x, body, checked_chunk(use_pfor, parallel_iterations))


@overload
def batch_hessian(y: TensorOperators, x: TensorOperators, unconnected_gradients: Any = UnconnectedGradients.NONE,
                  name: str = "batch_hessian", *, sparse: Literal[False] = False) -> AnyTensor | Any: ...
@overload
def batch_hessian(y: Any, x: Any, unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "batch_hessian",
                  *, sparse: Any = False) -> Any: ...
def batch_hessian(y: Any, x: Any, unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "batch_hessian",
                  *, sparse: Any = False) -> Any:
    """Computes the second derivatives of each example of a batch: of the sum of `y[i]` with respect to `x[i]`.

    `y[i]` must depend on no other example than `x[i]`, as in `tf.batch_jacobian`.

    Args:
      y: (b, *Y), a float tensor; or a function of x, in eager mode, too.
      x: (b, *X), a float tensor.
      unconnected_gradients: 'none' or 'zero': the result if y does not depend on x, or depends linearly.
      name: the name scope of the new operations.
      sparse: as in `tf.batch_jacobian`, with a mask (*X, *X); of an element and its mirror image one product is enough.
        "substitution" as in `tf.hessians`.
    Returns: (b, *X, *X), or None.
    Raises: as `tf.batch_jacobian`.
    Gradient: of any order.
    Reference: jax.vmap(jax.hessian(f)).

    >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(tf.batch_hessian(x[:, 0] ** 3 * x[:, 1], x))
    array([[[12.,  3.],
            [ 3.,  0.]],
    <BLANKLINE>
           [[72., 27.],
            [27.,  0.]]], dtype=float32)
    >>> sess.run(tf.batch_hessian(tf.reduce_sum(x ** 3, 1), x, sparse=True)).values
    array([ 6., 12., 18., 24.], dtype=float32)
    """
    if is_function(y):
        return derivative_of("batch_hessian", y, x, sparse=sparse)
    graph = graph_to_extend(y, x, "batch_hessian")
    unconnected = policy(unconnected_gradients)
    zero = unconnected is UnconnectedGradients.ZERO
    with graph.as_default(), graph.name_scope(name or "batch_hessian"):
        (y_,), (x_,) = as_ys(graph, [y]), as_xs(graph, [x])
        shape = value_shape(x_)
        check_batches(y_._spec.shape if y_._spec.shape is None or len(y_._spec.shape) != 1 else (*y_._spec.shape, 1),
                      shape)
        with none_allowed():
            (slope,) = gradients(y_, [x])
        found = None
        if slope is None:
            slope = zeros_of(x_)
        elif is_sparse(sparse):
            outside, ((slope_, y_), (x_,)) = leave(graph, [x], [dense(slope), y_], [x_])
            found = sparse_batch(slope_, x_, outside, sparse, "batch_hessian", y_)
        else:
            slope = dense(slope)
            found = batch_jacobian(slope, x, name="second")
        strictness.check([y_], [x_], [found], [], unconnected)
        if found is None and zero:
            return (no_entries_of_batch if is_sparse(sparse) else zero_batch_jacobian)(slope, x_)
        return found


def finish_batch_jacobian(y: Any, x: Any, body: MapBody, chunk: int | None) -> Any:
    """Maps a body that gives one column of every example's Jacobian, (b, *X), and puts the batch in front."""
    shape, x_shape = y._spec.shape, value_shape(x)
    assert x_shape is not None  # the batches have been checked
    rest = shape[1:]
    n: Any = count_of(rest) if is_fully_defined(rest) else raw.Prod(dims_from(y, 1), np.int32(0))
    (columns,) = map_rows(body, [raw.Range(np.int32(0), n, np.int32(1))], chunk, draws=False)  # (n, b, *X)
    columns = raw.Transpose(columns, np.array([1, 0, *range(2, len(x_shape) + 1)], np.int32))
    full = (*shape, *x_shape[1:])
    if sum(d is None for d in full) <= 1:
        return raw.Reshape(columns, np.array([-1 if d is None else d for d in full], np.int32))
    result = raw.Reshape(columns, raw.ConcatV2([raw.Shape(y), dims_from(columns, 2)], np.int32(0)))
    result.set_shape(full)
    return result


def zero_batch_jacobian(y: Any, x: Any) -> Any:
    """Returns zeros (b, *Y, *X)."""
    dims = raw.ConcatV2([raw.Shape(y), dims_from(zeros_of(x), 1)], np.int32(0))
    return raw.Fill(dims, np.zeros((), y.dtype.np_dtype))


__all__ = ["batch_hessian", "batch_jacobian"]
