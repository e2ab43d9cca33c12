"""`cond`, `while_loop`, and helpers to trace their sub-graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composites import all_tensors, component_specs, converted, put_together, tensors_of
from graphgrad.frontend.structure.structure_types import NestedT, OneTensor, TensorsT
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int64
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.funcgraph import FuncGraph, in_their_turn, unite_captures
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.tensor import TensorOperators
from graphgrad.ir.values.composite import Composite
from graphgrad.ir.values.indexed_slices import IndexedSlices

from .loop_memory import reverse
from .old_style import check_all_there, check_decides, is_old, layout_of_results
from .shape_invariants import generalised, invariant_leaves


def _trace(
    graph: Graph, name: str, function: Callable[..., Any], args: Sequence[Any] = (), likes: Sequence[Any] = (),
    start: Sequence[Any] = ()
) -> tuple[FuncGraph, Any, list[Any]]:
    """Traces `function` into a sub-graph; returns it, the result's structure and its flat leaves.

    Args:
      args: the structure of the arguments.
      likes: examples of its leaves; see `put_together`.
      start: the tensors that the leaves consist of at first.
    """
    body = FuncGraph(name, graph)
    if is_old(graph):
        body.old_control_flow = True  # which has no graphs of its own
        body._around.gradients = graph._around.gradients
    body.loop_start = list(start)
    with use(body):
        inner = [body.add_input(t.dtype, t._spec.shape, f"arg_{i}") for i, t in enumerate(start)]
        result = function(*nest.pack_sequence_as(list(args), put_together(likes, inner)))
    return body, result, nest.flatten(result)


def _settle_outputs(body: FuncGraph, leaves: Sequence[Any], dtypes: Sequence[Any] | None = None) -> None:
    with use(body):
        for leaf in leaves:
            if isinstance(leaf, Operation):  # true when it has run
                with body.control_dependencies([leaf]):
                    leaf = raw.Identity(np.bool_(True))
            for t in tensors_of(leaf):
                body.outputs.append(convert_to_tensor(t, dtypes[len(body.outputs)] if dtypes else None))


@overload
def cond_v1(pred: Any, true_fn: Callable[[], OneTensor], false_fn: Callable[[], object], strict: bool = False,
            name: str | None = None) -> AnyTensor: ...
@overload
def cond_v1(pred: Any, true_fn: Callable[[], TensorsT], false_fn: Callable[[], object], strict: bool = False,
            name: str | None = None) -> TensorsT: ...
@overload
def cond_v1(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
            strict: bool = False, name: str | None = None, fn1: Callable[[], Any] | None = None,
            fn2: Callable[[], Any] | None = None) -> Any: ...
def cond_v1(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
            strict: bool = False, name: str | None = None, fn1: Callable[[], Any] | None = None,
            fn2: Callable[[], Any] | None = None) -> Any:
    """Returns `true_fn()` if `pred` is true, else `false_fn()`; only one of them runs (1.x arguments).

    Args:
      pred: a boolean scalar.
      true_fn, false_fn: functions without arguments that return the same structure.
      strict: whether a list of one result stays a list.
      name: a name scope.
      fn1, fn2: older names of `true_fn` and `false_fn`.
    Returns: the structure of tensors that the chosen function gives.
    Raises: TypeError, ValueError if the two do not give the same structure and dtypes.
    Gradient: of the branch that ran; zeros for what only the other one uses.
    Reference: TensorFlow 2.21 If.

    >>> sess.run(tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0))
    np.float32(1.0)
    """
    true_fn = fn1 if true_fn is None else true_fn
    false_fn = fn2 if false_fn is None else false_fn
    if not callable(true_fn):
        raise TypeError("true_fn must be callable.")
    if not callable(false_fn):
        raise TypeError("false_fn must be callable.")
    if isinstance(pred, bool) and current_graph() is not None:
        raise TypeError("'pred' must not be a Python bool. Fix: use a plain `if`, or tf.constant(pred)")
    result = _cond(pred, true_fn, false_fn, name, ValueError)
    if not strict and isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result


@overload
def cond(pred: Any, true_fn: Callable[[], OneTensor], false_fn: Callable[[], object],
         name: str | None = None) -> AnyTensor: ...
@overload
def cond(pred: Any, true_fn: Callable[[], TensorsT], false_fn: Callable[[], object],
         name: str | None = None) -> TensorsT: ...
@overload
def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any: ...
def cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
         name: str | None = None) -> Any:
    """Returns `true_fn()` if `pred` is true, else `false_fn()`; only one of them runs.

    Args:
      pred: a boolean scalar.
      true_fn, false_fn: functions without arguments that return the same structure.
      name: a name scope.
    Returns: the structure of tensors that the chosen function gives.
    Raises: TypeError, ValueError if the two do not give the same structure and dtypes.
    Gradient: of the branch that ran; zeros for what only the other one uses.
    Reference: TensorFlow 2.21 If.

    >>> sess.run(tf.cond(tf.constant(False), lambda: 1.0, lambda: 2.0))
    np.float32(2.0)
    """
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("true_fn and false_fn must be callable.")
    return _cond(pred, true_fn, false_fn, name)


def _cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None,
          mismatch: type[Exception] = TypeError) -> Any:
    graph = current_graph()
    if graph is None:
        return true_fn() if bool(convert_to_tensor(pred)) else false_fn()
    with name_scope(name, "cond"):
        pred = convert_to_tensor(pred, name="pred")
        old = is_old(graph)
        check_decides(old, pred, "The condition of tf.cond")
        then_graph, structure, then_leaves = _trace(graph, "cond_true", true_fn)
        else_graph, other, else_leaves = _trace(graph, "cond_false", false_fn)
        try:
            nest.assert_same_structure(structure, other, check_types=False)
        except (TypeError, ValueError) as e:
            raise type(e)(
                f"true_fn and false_fn must return the same structure.\n  Built at {user_source(2)}\n{e}"
            ) from None
        for a, b in zip(then_leaves, else_leaves, strict=True):
            if (a is None) is not (b is None):
                raise ValueError(
                    "true_fn and false_fn must return the same structure: where one gives None, the other gives "
                    f"{a if b is None else b!r}.\n  Built at {user_source(2)}\n  Fix: give tensors in both, or None"
                )
        kept = [i for i, leaf in enumerate(then_leaves) if leaf is not None]
        check_all_there(old, then_leaves)
        likes = []
        for i in kept:
            then_leaves[i], else_leaves[i] = _matched(then_graph, then_leaves[i], else_graph, else_leaves[i])
            likes.append(_joined(then_leaves[i], else_leaves[i]))
        _settle_outputs(then_graph, [then_leaves[i] for i in kept])
        _settle_outputs(else_graph, [else_leaves[i] for i in kept])
        types = tuple(t.dtype for t in then_graph.outputs)
        if types != tuple(t.dtype for t in else_graph.outputs):
            received = [", ".join(t.dtype.name for t in g.outputs) for g in (then_graph, else_graph)]
            raise (ValueError if old else mismatch)(
                f"Outputs of 'true_fn' and 'false_fn' must have the same type(s). Received {received[0]} from "
                f"'true_fn' and {received[1]} from 'false_fn'.\n"
                f"  Built at {user_source(2)}\n  Fix: tf.cast the results of one branch"
            )
        results = _if(graph, pred, then_graph, else_graph)
        leaves: list[Any] = [None] * len(then_leaves)
        with graph._own_gradients():
            found = put_together(likes, [raw.Identity(t) for t in results])
        for i, leaf in zip(kept, found, strict=True):
            leaves[i] = leaf
        return nest.pack_sequence_as(structure, leaves)


def _matched(then_graph: FuncGraph, one: Any, else_graph: FuncGraph, other: Any) -> tuple[Any, Any]:
    """Matches the results of two branches; indices of slices that differ in dtype become int64."""
    if isinstance(one, IndexedSlices) and isinstance(other, IndexedSlices):
        if one.indices.dtype is not other.indices.dtype:
            return _with_long_indices(then_graph, one), _with_long_indices(else_graph, other)
    return one, other


def _with_long_indices(graph: FuncGraph, slices: IndexedSlices) -> IndexedSlices:
    with use(graph):
        return IndexedSlices(slices.values, raw.Cast(slices.indices, DstT=int64), slices.dense_shape)


def _joined(one: Any, other: Any) -> Any:
    """Joins the results of two branches: for composites, the spec of both."""
    specs: list[Any] = [leaf._whole_spec if isinstance(leaf, Composite) else None for leaf in (one, other)]
    if specs == [None, None]:
        return one
    joined = None if None in specs else specs[0].most_specific_common_supertype([specs[1]])
    if joined is None:
        raise TypeError(
            "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of "
            f"return values.\n\ntrue_fn output: {one}\nfalse_fn output: {other}\n  Built at {user_source(2)}\n"
            "  Fix: return the same kind of tensor in both"
        )
    return joined


def _if(graph: Graph, pred: Any, then_graph: FuncGraph, else_graph: FuncGraph) -> list[Any]:
    captured = unite_captures((then_graph, else_graph), 0)
    types = tuple(t.dtype for t in then_graph.outputs)
    with in_their_turn(graph, then_graph, else_graph):
        results: list[Any] = raw.If(pred, captured, then_branch=then_graph, else_branch=else_graph, Tout=types,
                                    name="If")
    return results


def trace_branch(graph: Graph, name: str, function: Callable[[], Any]) -> tuple[FuncGraph, Any]:
    """Traces one branch; returns its graph, without outputs so far, and the function's result."""
    body, result, _ = _trace(graph, name, function)
    return body, result


def branches(graph: Graph, pred: Any, then_graph: FuncGraph, then_leaves: Sequence[Any], else_graph: FuncGraph,
             else_leaves: Sequence[Any]) -> list[Any]:
    """Builds an `If` over traced branches; returns the chosen leaves."""
    with name_scope(None, "cond"):
        pred = convert_to_tensor(pred, name="pred")
        _settle_outputs(then_graph, then_leaves)
        _settle_outputs(else_graph, else_leaves)
        results = _if(graph, pred, then_graph, else_graph)
        likes = [_joined(*pair) for pair in zip(then_leaves, else_leaves, strict=True)]
        with graph._own_gradients():
            return put_together(likes, [raw.Identity(t) for t in results])


@overload
def smart_cond(pred: Any, true_fn: Callable[[], OneTensor], false_fn: Callable[[], object],
               name: str | None = None) -> AnyTensor: ...
@overload
def smart_cond(pred: Any, true_fn: Callable[[], TensorsT], false_fn: Callable[[], object],
               name: str | None = None) -> TensorsT: ...
@overload
def smart_cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any: ...
def smart_cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """Builds a `cond`, decided while building if the value of `pred` is known.

    Args:
      pred: a boolean scalar, also Python's.
      true_fn, false_fn: functions without arguments.
      name: a name scope.
    Returns: what the chosen function returns, or the outputs of the `cond`.
    Gradient: that of `cond`.
    Reference: TensorFlow 1.15 `tf.contrib.framework.smart_cond`.
    """
    if isinstance(pred, (bool, int)):
        return true_fn() if pred else false_fn()
    value = constant_value(convert_to_tensor(pred))
    return cond(pred, true_fn, false_fn, name) if value is None else true_fn() if value else false_fn()


@overload
def while_loop_v1(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[AnyTensor] | AnyTensor,
                  shape_invariants: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
                  swap_memory: bool = False, name: str | None = None, maximum_iterations: Any = None,
                  return_same_structure: Literal[False] = False) -> AnyTensor | Any: ...
@overload
def while_loop_v1(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: NestedT, shape_invariants: Any = None,
                  parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
                  name: str | None = None, maximum_iterations: Any = None, *,
                  return_same_structure: Literal[True]) -> NestedT: ...
@overload
def while_loop_v1(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
                  parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
                  name: str | None = None, maximum_iterations: Any = None,
                  return_same_structure: bool = False) -> Any: ...
def while_loop_v1(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
                  parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
                  name: str | None = None, maximum_iterations: Any = None, return_same_structure: bool = False) -> Any:
    """Runs `body` on the loop variables as long as `cond` of them is true (1.x arguments).

    Args:
      cond: takes the loop variables, returns a boolean scalar.
      body: takes the loop variables, returns the next ones.
      loop_vars: a list or tuple of tensors, also nested.
      shape_invariants: for each loop variable a shape, where it changes between iterations.
      parallel_iterations, swap_memory: accepted as TensorFlow does.
      back_prop: whether it can be differentiated.
      name: a name scope.
      maximum_iterations: a bound on the number of iterations, or None.
      return_same_structure: whether a single loop variable comes back in its list.
    Returns: the loop variables after the last iteration, nested as they were; in the old control flow, as what `body`
      returned.
    Raises: ValueError if `body` returns another structure or another shape; TypeError if
      `cond` or `body` are no functions.
    Gradient: with respect to loop variables and everything that `body` uses.
    Reference: TensorFlow 2.21 While.

    >>> sess.run(tf.while_loop(lambda i: i < 10, lambda i: i + 3, [tf.constant(0)]))
    np.int32(12)
    """
    _check_parallel(parallel_iterations)
    result = _while(cond, body, loop_vars, shape_invariants, back_prop, name, maximum_iterations)
    unpacks = not return_same_structure and current_graph() is not None
    if unpacks and isinstance(result, (list, tuple)) and len(nest.flatten(result)) == len(result) == 1:
        return result[0]
    return result


@overload
def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: NestedT, shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               maximum_iterations: Any = None, name: str | None = None) -> NestedT: ...
@overload
def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: tuple[Any, ...],
               shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               maximum_iterations: Any = None, name: str | None = None) -> tuple[Any, ...]: ...
@overload
def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: list[Any], shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               maximum_iterations: Any = None, name: str | None = None) -> list[Any]: ...
@overload
def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: TensorOperators | complex,
               shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               maximum_iterations: Any = None, name: str | None = None) -> list[AnyTensor]: ...
def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               maximum_iterations: Any = None, name: str | None = None) -> Any:
    """Runs `body` on the loop variables as long as `cond` of them is true.

    Args:
      cond: takes the loop variables, returns a boolean scalar.
      body: takes the loop variables, returns the next ones.
      loop_vars: a list or tuple of tensors, also nested.
      shape_invariants: for each loop variable a shape, where it changes between iterations.
      parallel_iterations, swap_memory: accepted as TensorFlow does.
      back_prop: whether it can be differentiated.
      maximum_iterations: a bound on the number of iterations, or None.
      name: a name scope.
    Returns: the loop variables after the last iteration, nested as they were.
    Raises: ValueError if `body` returns another structure or another shape; TypeError if
      `cond` or `body` are no functions.
    Gradient: with respect to loop variables and everything that `body` uses.
    Reference: TensorFlow 2.21 While.

    >>> sess.run(tf.while_loop(lambda i: i < 10, lambda i: [i + 3], [tf.constant(0)]))
    np.int32(12)
    """
    _check_parallel(parallel_iterations)
    return _while(cond, body, loop_vars, shape_invariants, back_prop, name, maximum_iterations)


def _check_parallel(parallel_iterations: Any) -> None:
    if isinstance(parallel_iterations, int) and parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer, "
                        f"not {parallel_iterations}. Fix: leave it out")


def _while(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any, back_prop: bool,
           name: str | None, maximum_iterations: Any, at_once: Any = None) -> Any:
    """Builds a loop, unless `at_once`, given the traced body and its results, can do without one."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if not isinstance(loop_vars, (list, tuple)):
        loop_vars = [loop_vars]
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    graph = current_graph()
    if graph is None:
        return _while_eagerly(cond, body, loop_vars, maximum_iterations)
    limit = None
    if maximum_iterations is not None:
        most = convert_to_tensor(maximum_iterations)
        known = constant_value(most)
        if known is None:
            return _while_counted(cond, body, loop_vars, shape_invariants, back_prop, name, most)
        limit = int(known)
    with name_scope(name, "while"):
        given = list(map(converted, nest.flatten(loop_vars)))
        likes, start = generalised(given, shape_invariants)
        cond_graph, _, cond_leaves = _trace(graph, "while_cond", cond, loop_vars, likes, start)
        if len(cond_leaves) != 1:
            raise ValueError(f"'cond' must return one boolean scalar, but it returns {len(cond_leaves)} values.\n"
                             f"  Built at {user_source(2)}\n  Fix: tf.logical_and(...)")
        _settle_outputs(cond_graph, cond_leaves)
        check_decides(cond_graph.old_control_flow, cond_graph.outputs[0], "The result of 'cond'")
        body_graph, result, leaves = _trace(graph, "while_body", body, loop_vars, likes, start)
        _check_structure(result, loop_vars, leaves, likes)
        for t, leaf in zip(start, all_tensors(leaves), strict=True):
            dtype = getattr(leaf, "dtype", t.dtype)
            if dtype is not t.dtype and isinstance(leaf, (Tensor, EagerTensor)):
                raise TypeError(
                    f"Loop var {t.name} enters the loop with type {t.dtype!r} but has type {dtype!r} after 1 "
                    f"iteration. {t.name} type should remain constant.\n  Built at {user_source(2)}\n  Fix: tf.cast it"
                )
        _settle_outputs(body_graph, leaves, [t.dtype for t in start])
        _check_invariants(start, body_graph)
        with in_their_turn(graph, cond_graph, body_graph):
            if at_once is not None and (found := at_once(body_graph, leaves)) is not None:
                return found
            captured = unite_captures((cond_graph, body_graph), len(start))
            results = raw.While([*start, *captured], cond=cond_graph, body=body_graph,
                                Tout=tuple(t.dtype for t in start), output_shapes=tuple(t._spec.shape for t in start),
                                maximum_iterations=limit, memory=reverse.memory, name="While")
        if not back_prop:
            results = [raw.StopGradient(t) for t in results]
        with graph._own_gradients():
            leaves = put_together(likes, [raw.Identity(t) for t in results])
        return nest.pack_sequence_as(layout_of_results(loop_vars, result, body_graph.old_control_flow), leaves)


def _check_structure(result: Any, loop_vars: Any, leaves: Sequence[Any], likes: Sequence[Any]) -> None:
    """Raises an error unless a body returns values like its arguments: the same number, nesting and kinds."""
    returned = result if nest.is_nested(result) or len(loop_vars) != 1 else [result]
    problem = ""
    if len(leaves) != len(likes):
        problem = f"body returns {len(leaves)} values for {len(likes)} loop variables"
    elif len(loop_vars) > 1:
        try:
            nest.assert_same_structure(returned, loop_vars, check_types=False)
        except ValueError:
            problem = f"body returns {returned} for the loop variables {loop_vars}"
    kinds = [] if problem else zip(leaves, likes, strict=True)
    for leaf, like in kinds:
        spec = like if isinstance(like, TypeSpec) else None
        if (spec is not None) is not isinstance(leaf, Composite) or (spec is not None and not _fits(leaf, spec)):
            problem = f"body returns {leaf} for a loop variable that is {like}"
    if problem:
        raise ValueError(f"The two structures don't have the same nested structure: {problem}.\n"
                         f"  Built at {user_source(2)}\n  Fix: return one value for each loop variable, of its kind")


def _fits(leaf: Any, spec: TypeSpec) -> bool:
    own = leaf._whole_spec
    return type(own) is type(spec) and len(component_specs(own)) == len(component_specs(spec))


def _while_counted(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any,
                   back_prop: bool, name: str | None, most: Any) -> Any:
    """Builds a loop whose maximum number of iterations is known only at run time: it counts them itself."""

    def goes_on(step: Any, *variables: Any) -> Any:
        return raw.LogicalAnd(raw.Less(step, most), convert_to_tensor(cond(*variables)))

    returned = []

    def iterate(step: Any, *variables: Any) -> Any:
        result = body(*variables)
        returned.append(result)
        return [raw.AddV2(step, 1), *(result if isinstance(result, (list, tuple)) else [result])]

    if shape_invariants is not None:
        shape_invariants = [TensorShape([]), *invariant_leaves(shape_invariants)]
    start = [convert_to_tensor(0, most.dtype), *loop_vars]
    results = _while(goes_on, iterate, start, shape_invariants, back_prop, name, None)[1:]
    layout = layout_of_results(loop_vars, returned[-1], is_old(current_graph()))
    return nest.pack_sequence_as(layout, nest.flatten(results))


def _while_eagerly(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, limit: Any) -> Any:
    step, first = 0, loop_vars
    while bool(cond(*loop_vars)) and (limit is None or step < int(limit)):  # asked at the limit, too
        result = body(*loop_vars)
        if not isinstance(result, (list, tuple)):
            if len(first) != 1:
                raise TypeError(f"body returns {result!r} for {len(first)} loop variables.\n  Run at {user_source(2)}\n"
                                "  Fix: return a list of as many values")
            result = [result]
        loop_vars = result
        try:
            nest.assert_same_structure(list(loop_vars), list(first), check_types=False)
        except ValueError as e:
            raise ValueError(f"{e}\n  Run at {user_source(2)}\n  Fix: return one value for each loop variable, nested "
                             "as they are") from None
        step += 1
    return nest.map_structure(converted, loop_vars)


def _check_invariants(start: Sequence[Tensor], body: FuncGraph) -> None:
    for t, after in zip(start, body.outputs, strict=True):
        if not TensorShape(after._spec.shape).is_subtype_of(t._spec.shape):
            raise ValueError(
                f"Input tensor '{t.name}' enters the loop with shape {shape_str(t._spec.shape)}, but has shape "
                f"{shape_str(after._spec.shape)} after one iteration. To allow the shape to vary across iterations, "
                f"use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.\n"
                f"  Built at {user_source(2)}")
