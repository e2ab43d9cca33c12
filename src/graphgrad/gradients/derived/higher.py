"""Jacobians and Hessians, as graph constructions.

The sweep runs once, into the sub-graph of a `VectorizedMap` over the rows of the identity. One gradient graph serves
all rows, XLA computes them together, and a `chunk` of rows at a time bounds the memory. As a map has a gradient, so do
Jacobians and Hessians, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from graphgrad.gradients.control_flow.vectorized_map_gradient import MapBody, map_rows
from graphgrad.gradients.core import strictness
from graphgrad.gradients.core.aggregate import check_method
from graphgrad.gradients.core.arguments import as_xs, as_ys, flatten, graph_to_extend
from graphgrad.gradients.core.backprop import gradients
from graphgrad.gradients.core.custom import repack
from graphgrad.gradients.core.loop_zeros import zeros_of_loops
from graphgrad.gradients.core.outer_graphs import Outside, leave
from graphgrad.gradients.core.rules import Call, carries_gradient
from graphgrad.gradients.core.sweep import sweep
from graphgrad.gradients.core.unconnected import UnconnectedGradients, policy, zeros_of
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32, resource
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import Shape, is_fully_defined, num_elements, shape_str
from graphgrad.ir.source import source_of_operation, user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.tensor import TensorOperators
from graphgrad.ir.values.function_hooks import derivative_of, is_function
from graphgrad.ir.values.indexed_slices import dense
from graphgrad.system.garbage_collector import collector_paused

from .sparse_results import is_sparse, no_entries, sparse_jacobians


@overload
def jacobian(output: Callable[..., Any], inputs: None = None, use_pfor: bool = True,
             parallel_iterations: int | None = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
             name: str = "jacobian", *, sparse: Any = False,
             argnums: int | Sequence[int] | None = None) -> Callable[..., Any]: ...
@overload
def jacobian(output: TensorOperators, inputs: TensorOperators, use_pfor: bool = True,
             parallel_iterations: int | None = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
             name: str = "jacobian", *, sparse: Literal[False] = False,
             argnums: int | Sequence[int] | None = None) -> AnyTensor | Any: ...
@overload
def jacobian(output: Any, inputs: Any = None, use_pfor: bool = True, parallel_iterations: int | None = None,
             unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "jacobian", *, sparse: Any = False,
             argnums: int | Sequence[int] | None = None) -> Any: ...
def jacobian(output: Any, inputs: Any = None, use_pfor: bool = True, parallel_iterations: int | None = None,
             unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "jacobian", *,
             sparse: Any = False, argnums: int | Sequence[int] | None = None) -> Any:
    """Computes the derivative of each element of a tensor with respect to each element of others.

    In the place of y may stand a Python function of x: `tf.jacobian(f)(x)`, in eager mode, too. x may then be a NumPy
    array or a number.

    Args:
      output: y, (*Y); or a function that returns it, or a structure of tensors.
      inputs: x, (*X), a tensor or variable or a nested structure of them. Of a function, its argument, or a list or
        tuple of all of them; without it, the result is a function of the same arguments.
      use_pfor: whether all rows are computed together; if not, one after another.
      parallel_iterations: the number of rows computed at a time, which bounds the memory; all by default.
      unconnected_gradients: 'none' or 'zero': the result for an x that y does not depend on.
      name: the name scope of the new operations.
      sparse: whether the results are `SparseTensor`s of the elements that `tf.sparsity` finds, computed by as many
        products with vectors as their pattern needs colours; or such a pattern, or a mask (*Y, *X), for a single x.
        Shapes must be known.
      argnums: of a function, the number of the argument to differentiate by, counted from 0, or several; the first one
        by default.
    Returns: the structure of `inputs`, with a tensor (*Y, *X) of y's dtype, or None, for each. For a function, the
      structure of what it returns, with that of the argument in each place (with several `argnums`, a tuple), and zeros
      in place of None.
    Raises: LookupError if an op between has no gradient; RuntimeError in eager mode; ValueError for a
      `parallel_iterations` below 1, or a sparse pattern of another shape or with too many entries; TypeError for
      arguments of a function that are not floating.
    Gradient: of any order.
    Reference: TensorFlow 2.21 `tensorflow.python.ops.parallel_for.gradients.jacobian`; jax.jacobian.

    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run(tf.jacobian(x * x, x))
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    >>> sess.run(tf.jacobian(x * x, x, sparse=True)).values
    array([2., 4.], dtype=float32)
    >>> sess.run(tf.jacobian(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0))
    (np.float32(3.0), np.float32(2.0))
    """
    if is_function(output):
        given = [] if inputs is None else [inputs]
        return derivative_of("jacobian", output, *given, argnums=argnums, use_pfor=use_pfor, sparse=sparse,
                             parallel_iterations=parallel_iterations)
    graph = graph_to_extend(output, inputs, "jacobian")
    unconnected = policy(unconnected_gradients)
    with graph.as_default(), graph.name_scope(name or "jacobian"):
        outside, ((y,), xs) = leave(graph, flatten(inputs), as_ys(graph, [output]), as_xs(graph, inputs))
        chunk = checked_chunk(use_pfor, parallel_iterations)
        if is_sparse(sparse):
            found = sparse_jacobians(y, xs, outside, sparse, "jacobian")
        else:
            found = _rows(y, xs, outside, chunk)
        strictness.check([y], xs, found, [], unconnected)
        if unconnected is UnconnectedGradients.ZERO:
            nothing = no_entries if is_sparse(sparse) else zero_jacobian
            found = [nothing(y, x) if j is None else j for j, x in zip(found, xs, strict=True)]
    return repack(inputs, iter(found))


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    *,
    sparse: Any = False,
) -> list[Any]:
    """Computes the second derivative of the sum of ys with respect to each x.

    Args:
      ys: a tensor or a list of tensors; the sum of all their elements is differentiated. Or a function of the xs, in
        eager mode, too.
      xs: a tensor or variable, or a list of them.
      name: the name scope of the new operations.
      colocate_gradients_with_ops, gate_gradients, aggregation_method: as in `gradients`.
      sparse: as in `jacobian`; the pattern is that of the first derivative, and of an entry and its mirror image one
        product is enough. "substitution" takes fewer products where an entry may be a difference of products: rounding
        is then in proportion to the largest of a few entries, not to each.
    Returns: a list with a tensor (*X, *X) for each x of shape (*X).
    Raises: ValueError for an x that the first derivative does not depend on; else as `gradients`.
    Gradient: of any order.
    Reference: TensorFlow 2.21 `tf.compat.v1.hessians`.

    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run(tf.hessians(tf.reduce_sum(x**3), x))
    [array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)]
    """
    if is_function(ys):
        return list(derivative_of("hessians", ys, xs, sparse=sparse))
    graph = graph_to_extend(ys, xs, "hessians")
    x_list = flatten(xs)
    with graph.as_default(), graph.name_scope(name or "hessians"):
        slopes = gradients(ys, x_list, None, "gradients", colocate_gradients_with_ops, gate_gradients,
                           aggregation_method)
        results = []
        for i, (slope, x) in enumerate(zip(slopes, as_xs(graph, x_list), strict=True)):
            second = None
            if slope is not None:
                outside, ((slope,), (x,)) = leave(graph, [x_list[i]], [dense(slope)], [x])
                method = check_method(aggregation_method)
                if is_sparse(sparse):
                    (second,) = sparse_jacobians(slope, [x], outside, sparse, "hessians", as_ys(graph, ys))
                else:
                    (second,) = _rows(slope, [x], outside, None, method)
            if second is None:
                which = "the ys do not depend on it" if slope is None else "its gradient does not depend on it"
                raise ValueError(
                    f"None values not supported: xs[{i}], {x_list[i]!r}, has no Hessian, since {which}.\n"
                    f"  Asked for at {user_source(2)}\n  Fix: leave it out; its Hessian is zero"
                )
            results.append(second)
    return results


def hessians_v2(ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None,
                name: str = "hessians", *, sparse: Any = False) -> list[Any]:
    """Computes `hessians`, with the arguments of TensorFlow 2: ops are always colocated with their forward ops.

    Args:
      ys, xs, gate_gradients, aggregation_method, name, sparse: as in `tf.compat.v1.hessians`.
    Returns: a list with a tensor (*X, *X) for each x of shape (*X).
    Raises: as `tf.compat.v1.hessians`.
    Gradient: of any order.
    Reference: TensorFlow 2.21 `tf.hessians`.

    >>> x = tf.constant(2.0)
    >>> sess.run(tf.hessians(x**3, x))
    [np.float32(12.0)]
    """
    return hessians(ys, xs, name, True, gate_gradients, aggregation_method, sparse=sparse)


@overload
def hessian(y: Callable[..., Any], x: None = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
            name: str = "hessian", *, sparse: Any = False,
            argnums: int | Sequence[int] | None = None) -> Callable[..., Any]: ...
@overload
def hessian(y: TensorOperators, x: TensorOperators, unconnected_gradients: Any = UnconnectedGradients.NONE,
            name: str = "hessian", *, sparse: Literal[False] = False,
            argnums: int | Sequence[int] | None = None) -> AnyTensor | Any: ...
@overload
def hessian(y: Any, x: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "hessian", *,
            sparse: Any = False, argnums: int | Sequence[int] | None = None) -> Any: ...
def hessian(y: Any, x: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE, name: str = "hessian", *,
            sparse: Any = False, argnums: int | Sequence[int] | None = None) -> Any:
    """Computes the second derivatives of each element of y with respect to each pair of elements of x.

    In the place of y may stand a Python function of x: `tf.hessian(f)(x)`, in eager mode, too.

    Args:
      y: a tensor, (*Y), of one element as a rule; or a function that returns it.
      x: a tensor or variable, (*X), or a nested structure of them; of a function, as in `jacobian`.
      unconnected_gradients: 'none' or 'zero': the result where y does not depend on an x, or depends linearly.
      name: the name scope of the new operations.
      sparse: as in `jacobian`, for a y of one element and a single x.
      argnums: as in `jacobian`.
    Returns: (*Y, *X, *X) of y's dtype. If x is a structure, that structure with itself in each place, so that mixed
      derivatives are there. For a function as in `jacobian`.
    Raises: as `jacobian`.
    Gradient: of any order.
    Reference: jax.hessian.

    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run(tf.hessian(tf.reduce_prod(x) ** 2, x))
    array([[8., 8.],
           [8., 2.]], dtype=float32)
    >>> sess.run(tf.hessian(lambda x: x ** 3)(2.0))
    np.float32(12.0)
    """
    if is_function(y):
        return derivative_of("hessian", y, *([] if x is None else [x]), argnums=argnums, sparse=sparse)
    graph = graph_to_extend(y, x, "hessian")
    if is_sparse(sparse):
        return _sparse_hessian(graph, y, x, sparse, unconnected_gradients, name)
    with graph.as_default(), graph.name_scope(name or "hessian"):
        with strictness.none_allowed():
            scalar = isinstance(y, Tensor) and y._spec.shape == ()
            first = list(map(dense, gradients(y, flatten(x)))) if scalar else flatten(jacobian(y, x))
            second = [None if j is None else flatten(jacobian(j, x)) for j in first]
        found: list[Any] = []
        for given, row in zip(as_xs(graph, x), second, strict=True):
            row = [None] * len(first) if row is None else row
            found.append(repack(x, iter(_filled(y, given, row, x, unconnected_gradients))))
    return repack(x, iter(found))


def _sparse_hessian(graph: Graph, y: Any, x: Any, sparse: Any, unconnected: Any, name: str) -> Any:
    """Computes the sparse Hessian of a y of one element."""
    (y_,) = as_ys(graph, [y])
    if num_elements(y_._spec.shape) != 1 or len(flatten(x)) != 1 or isinstance(x, (list, tuple, dict)):
        raise ValueError(f"tf.hessian(sparse=...) is for a y of one element and a single x, not for y of shape "
                         f"{shape_str(y_._spec.shape)} and x={x!r}.\n  Asked for at {user_source(2)}\n"
                         "  Fix: tf.reduce_sum, or tf.hessian for each x; or sparse=False")
    (found,) = hessians(y, x, name, sparse=sparse)
    return found


def _filled(y: Any, x: Any, row: list[Any], xs: Any, unconnected: Any) -> list[Any]:
    """Returns second derivatives, with zeros in the place of None where these are wanted."""
    if policy(unconnected) is not UnconnectedGradients.ZERO:
        strictness.check([y], [x] * len(row), row, [], policy(unconnected))
        return row
    first = zero_jacobian(y, x) if any(j is None for j in row) else None
    return [zero_jacobian(first, other) if j is None else j for j, other in zip(row, flatten(xs), strict=True)]


def get_dependent_variables(input_ops: Any, output_ops: Any) -> list[Any]:
    """Finds the variables between inputs and outputs: those that outputs read without going through the inputs.

    Args:
      input_ops: tensors at which the search stops.
      output_ops: tensors whose computation is searched.
    Returns: the variables, in the order in which the graph reads them.
    Reference: TensorFlow 2.21 `tensorflow.python.ops.custom_gradient`, `_get_dependent_variables`.

    >>> from graphgrad.gradients.derived.higher import get_dependent_variables
    >>> x, v = tf.constant(2.0), tf.Variable(3.0, name="rate")
    >>> [found.name for found in get_dependent_variables([x], [x * v])]
    ['rate:0']
    """
    stops = {id(t) for t in flatten(input_ops)}
    seen: set[int] = set()
    reads: dict[int, Operation] = {}
    stack = [convert_to_tensor(t) for t in flatten(output_ops)]
    while stack:
        t = stack.pop()
        if id(t) in stops or t.op.index in seen or not carries_gradient(t):
            continue
        seen.add(t.op.index)
        if any(i.dtype is resource for i in t.op.inputs):
            reads[t.op.index] = t.op
        stack.extend(t.op.inputs)
    variables: dict[int, Any] = {}
    for index in sorted(reads):
        for handle in reads[index].inputs:
            variable = getattr(handle, "_variable", None)
            if variable is not None:
                variables[id(variable)] = variable
    return list(variables.values())


# -- Jacobians: the sweep inside of a map --------------------------------------------------


def _rows(y: Tensor, xs: list[Tensor], outside: Outside, chunk: int | None, method: int = 0) -> list[Any]:
    """Returns the Jacobian of y with respect to each x, (*Y, *X), or None."""
    if y._spec.shape == ():
        return _only_row(y, xs, outside, method)
    body, found = pulled_back(y, xs, outside, method=method)
    return finish_jacobian(y, body, found, chunk)


def _only_row(y: Tensor, xs: list[Tensor], outside: Outside, method: int) -> list[Any]:
    """Returns the gradient of a y without dimensions, which needs no map."""
    graph = current_graph()
    assert graph is not None
    with collector_paused(), graph.name_scope("gradients") as scope:
        call = Call(graph, "gradients", False, False, method, source_of_operation(3))
        call.scope, call.outside = scope[:-1], outside
        seed = raw.OnesLike(y)
        return [None if g is None else dense(g)
                for g in zeros_of_loops(call, [y], xs, sweep(call, [y], [seed], xs, ()), ())]


def pulled_back(y: Tensor, xs: list[Tensor], outside: Outside, batched: bool = False,
                 method: int = 0) -> tuple[MapBody, list[Any]]:
    """Builds the body of a map over the index of an element of y, and in it the gradients of that element.

    The sweep visits the operations of the graphs around the body, and its rules add operations to the body.
    """
    body = MapBody("jacobian_row", current_graph())
    with collector_paused(), use(body):
        seed = one_hot_like(body, y, batched)
        with body.name_scope("gradients") as scope:
            call = Call(body, "gradients", False, False, method, source_of_operation(3))
            call.scope, call.outside = scope[:-1], outside
            return body, zeros_of_loops(call, [y], xs, sweep(call, [y], [seed], xs, ()), ())


def one_hot_like(body: MapBody, y: Any, batched: bool = False) -> Any:
    """Returns a tensor of y's shape with a one at the index that the body gets, with `batched` in each example."""
    index = body.add_input(int32, (), "row")
    shape = y._spec.shape
    one, zero = (np.array(v, y.dtype.np_dtype) for v in (1, 0))
    if shape is not None and is_fully_defined(shape[1:] if batched else shape):
        size: Any = count_of(shape[1:] if batched else shape)
    else:
        size = raw.Prod(dims_from(y, 1) if batched else raw.Shape(y), np.int32(0))
    hot = raw.OneHot(index, size, one, zero)
    if not batched:
        return raw.Reshape(hot, _shape_of(y))
    example = np.array(shape[1:], np.int32) if shape is not None and is_fully_defined(shape[1:]) else dims_from(y, 1)
    seed = raw.BroadcastTo(raw.Reshape(hot, example), _shape_of(y))
    return seed


def finish_jacobian(y: Any, body: MapBody, found: Sequence[Any], chunk: int | None) -> list[Any]:
    """Maps a body that gives one row of each Jacobian over all rows; None stays None."""
    body.outputs = [body.own(g) for g in found if g is not None]
    if not body.outputs:
        return [None] * len(found)
    shape = y._spec.shape
    n: Any = count_of(shape) if is_fully_defined(shape) else raw.Size(y)
    rows = iter(map_rows(body, [raw.Range(np.int32(0), n, np.int32(1))], chunk, draws=False))
    return [None if g is None else _reshaped(next(rows), y) for g in found]


def checked_chunk(use_pfor: bool, parallel_iterations: int | None) -> int | None:
    """Returns the number of rows computed at a time, None for all; ValueError below 1."""
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError(
            f"parallel_iterations must be a positive integer, not {parallel_iterations}.\n"
            f"  Asked for at {user_source(2)}\n  Fix: give the number of rows to compute at a time, or None for all"
        )
    return parallel_iterations if use_pfor or parallel_iterations else 1


def count_of(shape: Shape) -> Any:
    return np.int32(num_elements(shape) or 0)


def _shape_of(y: Any) -> Any:
    shape = y._spec.shape
    return np.array(shape, np.int32) if is_fully_defined(shape) else raw.Shape(y)


def dims_from(t: Any, first: int) -> Any:
    """Returns the dimensions of a tensor from index `first` on, at run time."""
    return raw.StridedSlice(raw.Shape(t), [first], [0], [1], end_mask=1)


def _reshaped(rows: Any, y: Any) -> Any:
    """Reshapes rows (n, *X) to (*Y, *X)."""
    shape, row = y._spec.shape, rows._spec.shape
    if shape is not None and row is not None:
        full = (*shape, *row[1:])
        if sum(d is None for d in full) <= 1 and 0 not in full:
            return raw.Reshape(rows, np.array([-1 if d is None else d for d in full], np.int32))
    result = raw.Reshape(rows, raw.ConcatV2([raw.Shape(y), dims_from(rows, 1)], np.int32(0)))
    if shape is not None and row is not None:
        result.set_shape(full)
    return result


def zero_jacobian(y: Any, x: Any) -> Any:
    """Returns zeros (*Y, *X)."""
    dims = raw.ConcatV2([raw.Shape(y), raw.Shape(zeros_of(x))], np.int32(0))
    return raw.Fill(dims, np.zeros((), y.dtype.np_dtype))


__all__ = ["get_dependent_variables", "hessian", "hessians", "hessians_v2", "jacobian"]
