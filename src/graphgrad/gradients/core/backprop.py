"""`gradients`: reverse-mode differentiation of a dataflow graph, by adding operations to it.

The algorithm, in four steps, each a loop over operations, so cost is linear and nothing recurses:

1. **reach**: which operations lie between xs and ys.
2. **seed**: the gradient of the sum of ys with respect to each y: its grad_y, or ones.
3. **sweep**: from ys towards xs, each operation after all of its consumers: sum the gradients of each output, pass the
   sums to the op's gradient rule, and send its results to the inputs.
4. **collect**: the gradients that have arrived at the xs.

Its parts: `arguments` (which tensors are meant), `outer_graphs` (nested graphs), `seed`, `rules` (calling one op's
rule), `aggregate` (sums), `registry` (which rule), `missing` (errors), `unconnected` (None or zeros), `loop_zeros`
(where loops give zeros), `strict` (errors instead of None), `memo` (identical calls).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from typing import Any

from graphgrad.ir.context import current_graph, use
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE
from graphgrad.ir.source import user_source
from graphgrad.ir.values.composite import gradient_parts, is_of_parts, parts_of_gradient, with_gradient_parts
from graphgrad.system.garbage_collector import collector_paused

from . import strictness
from .aggregate import add_early, aggregate, check_method
from .arguments import align_grad_ys, as_xs, as_ys, flatten, graph_to_extend
from .forward_values import expose
from .inside_loop import refuse_initial_values
from .loop_zeros import Trial, is_trial, may_hold_loops, zero, zeros_for_loops
from .memo import Memory
from .missing import no_gradient
from .outer_graphs import leave, open_entrances, order_of
from .registry import gradient_function
from .rules import Call, apply_rule, beside, carries_gradient, checked_in_grad, fill_in
from .seed import seed
from .unconnected import UnconnectedGradients, policy, zeros_of


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """Adds the operations that compute the derivative of the sum of ys with respect to each x.

    Args:
      ys: a tensor or a (nested) list of tensors to differentiate.
      xs: a tensor or variable, or a list of them, to differentiate with respect to.
      grad_ys: for each y None or a tensor of y's shape and dtype that the derivative of y is
        multiplied by; ones by default.
      name: the name scope of the new operations.
      colocate_gradients_with_ops: whether an op's gradient is placed on the op's device and in its group.
      gate_gradients: whether the gradients of an op wait for each other.
      aggregation_method: how several terms are summed, one of `AggregationMethod`.
      stop_gradients: a tensor or a list of tensors not to differentiate through.
      unconnected_gradients: 'none' or 'zero' (or an `UnconnectedGradients`): the result for an x that the ys do not
        depend on.
    Returns: a list with, for each x, a tensor of its shape and dtype, an `IndexedSlices`
      (if it is only gathered from), or None.
    Raises:
      LookupError: if an op between xs and ys has no gradient.
      ValueError: for inconsistent arguments, or tensors of another graph.
      TypeError: for xs that are not tensors, and complex ys without grad_ys.
      RuntimeError: in eager mode.
    Gradient: of any order; the new operations are ordinary ones.
    Reference: TensorFlow 2.21 `tf.compat.v1.gradients`.

    >>> a = tf.constant(0.0)
    >>> b = 2 * a
    >>> sess.run(tf.gradients(a + b, [a, b]))
    [np.float32(3.0), np.float32(1.0)]
    >>> sess.run(tf.gradients(a + b, [a, b], stop_gradients=[a, b]))
    [np.float32(1.0), np.float32(1.0)]
    """
    if any(map(is_of_parts, flatten([xs, ys]))):
        return _gradients_of_parts(ys, xs, grad_ys, name, colocate_gradients_with_ops, gate_gradients,
                                   aggregation_method, stop_gradients, unconnected_gradients)
    graph = graph_to_extend(ys, xs)
    method = check_method(aggregation_method)
    unconnected = policy(unconnected_gradients)
    call = Call(graph, name, colocate_gradients_with_ops, gate_gradients, method, user_source(2))
    with Memory(call, ys, xs, grad_ys, stop_gradients, unconnected) as memory:
        if memory.results is None:
            memory.results = _add_gradients(call, ys, xs, grad_ys, stop_gradients, unconnected)
        return list(memory.results)


def _gradients_of_parts(ys: Any, xs: Any, grad_ys: Any, *options: Any) -> list[Any]:
    """Computes `gradients` of composites, or with respect to them: of their `gradient_parts`."""
    sources = [x if is_of_parts(x) else None for x in flatten(xs)]
    targets = [y if is_of_parts(y) else None for y in flatten(ys)]
    given = align_grad_ys(ys, grad_ys, len(targets))
    y_parts = [t for y in flatten(ys) for t in (gradient_parts(y) if is_of_parts(y) else [y])]
    x_parts = [t for x in flatten(xs) for t in (gradient_parts(x) if is_of_parts(x) else [x])]
    seeds = [t for y, g in zip(targets, given, strict=True) for t in parts_of_gradient(y, g)]
    return with_gradient_parts(sources, gradients(y_parts, x_parts, seeds, *options))


def gradients_inside(ys: Sequence[Tensor], xs: Sequence[Tensor], grad_ys: Sequence[Any],
                     colocate: bool = True) -> list[Any]:
    """Computes gradients within one sub-graph, for rules: they end at placeholders, captures included.

    Args:
      ys, xs: tensors of the current graph.
      grad_ys: the gradient of each y.
      colocate: whether an op's gradient is placed on the op's device and in its group.
    Returns: a tensor, `IndexedSlices` or None for each x.
    """
    graph = current_graph()
    assert graph is not None
    call = Call(graph, "gradients", colocate, False, check_method(None), user_source(2))
    return _add_gradients(call, ys, xs, grad_ys, None, UnconnectedGradients.NONE, False)


def _add_gradients(call: Call, ys: Any, xs: Any, grad_ys: Any, stop_gradients: Any,
                   unconnected: UnconnectedGradients, leaving: bool = True) -> list[Any]:
    graph, name = call.graph, call.name
    with (collector_paused(), graph.as_default(), graph.name_scope("gradients" if name is None else name) as scope,
          graph._building_gradient_of(None, call.source)):
        call.scope = scope[:-1]
        y_tensors = as_ys(graph, ys)
        x_tensors = as_xs(graph, xs)
        stops = as_xs(graph, stop_gradients, "stop_gradients")
        grad_ys = align_grad_ys(ys, grad_ys, len(y_tensors))
        if leaving:
            call.outside, (y_tensors, x_tensors, stops) = leave(graph, flatten(xs), y_tensors, x_tensors, stops)
        else:
            call.zeros = is_trial(graph)
        stopped = {t.op for t in stops}
        if leaving:
            stopped |= open_entrances
        results = sweep(call, y_tensors, seed(call, y_tensors, grad_ys), x_tensors, stopped)
        if leaving and unconnected is UnconnectedGradients.NONE:
            results = zeros_of_loops(call, y_tensors, x_tensors, results, stopped)
            refuse_initial_values(call, y_tensors, x_tensors, results)
    strictness.check(y_tensors, x_tensors, results, stops, unconnected)
    if unconnected is UnconnectedGradients.ZERO:
        with graph.as_default():
            results = [zeros_of(x) if g is None else g for x, g in zip(x_tensors, results, strict=True)]
    return results


def gradients_v2(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """Computes `gradients`, with the arguments of TensorFlow 2: ops are always colocated with their forward ops.

    Args:
      ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients,
        unconnected_gradients: as in `tf.compat.v1.gradients`.
    Returns: a list with a tensor, `IndexedSlices` or None for each x.
    Raises: as `tf.compat.v1.gradients`.
    Gradient: of any order.
    Reference: TensorFlow 2.21 `tf.gradients`.

    >>> x = tf.constant(3.0)
    >>> sess.run(tf.gradients(x * x, x))
    [np.float32(6.0)]
    """
    return gradients(ys, xs, grad_ys, name, True, gate_gradients, aggregation_method, stop_gradients,
                     unconnected_gradients)


# For each operation and output: the list of gradients that have arrived.
_Arrived = dict[Operation, list[list[Any]]]


def sweep(call: Call, ys: list[Tensor], seeds: list[Any], xs: list[Tensor],
          stopped: Collection[Operation]) -> list[Any]:
    """Reaches, sweeps and collects; see above.

    Args:
      call: the call; its operations go to its graph, which may be one within that of ys and xs.
      ys: the tensors to differentiate.
      seeds: the gradient of each of them.
      xs: the tensors with respect to which.
      stopped: operations through which no gradient passes.
    Returns: a tensor, `IndexedSlices` or None for each x.
    """
    between = _reach(call, ys, xs)
    arrived: _Arrived = {}
    for y, grad_y in zip(ys, seeds, strict=True):
        _send(call, arrived, y, grad_y)
    _sweep(call, ys, between, arrived, {x.op for x in xs}, stopped)
    return [_collect(call, arrived, x) for x in xs]


def zeros_of_loops(call: Call, ys: list[Tensor], xs: list[Tensor], results: list[Any],
                   stopped: Collection[Operation]) -> list[Any]:
    """Replaces None by zeros in the results of a sweep where TensorFlow's loops give zeros."""
    missing = [x for x, g in zip(xs, results, strict=True) if g is None and carries_gradient(x)]
    zeros = zero_by_loops(call, ys, missing, stopped) if missing else ()
    return [zero(x) if g is None and id(x) in zeros else g for x, g in zip(xs, results, strict=True)]


def zero_by_loops(call: Call, ys: list[Tensor], xs: list[Tensor], stopped: Collection[Operation]) -> set[int]:
    """Returns the ids of xs for which TensorFlow's loops give zeros, if no gradient arrives at any of them."""
    if not may_hold_loops(ys, call.outside):
        return set()
    graph = Trial(call.graph)
    trial = Call(graph, "trial", False, False, 0, call.source)
    trial.scope, trial.fresh, trial.zeros, trial.outside = "trial", False, True, call.outside
    with use(graph), graph._building_gradient_of(None, call.source):
        arriving = [graph._placeholder(y.dtype, y._spec.shape, "dy") for y in ys]
        try:
            found = sweep(trial, ys, arriving, xs, stopped)
        except LookupError:  # of an operation off every gradient path
            return set()
    return {id(x) for x, g in zip(xs, found, strict=True) if g is not None}


def _reach(call: Call, ys: list[Tensor], xs: list[Tensor]) -> dict[Operation, int]:
    """Returns the operations between xs and ys.

    An operation is between them if a y depends on it and it depends on an x through tensors
    that carry gradients.

    Returns: operation -> how many inputs of other operations between xs and ys it feeds.
    """
    outside = call.outside
    replaced = bool(outside) or call.zeros
    # Backward from ys; operations older than the first x cannot depend on any.
    first = 0 if replaced else min((x.op.index for x in xs), default=0)
    upstream: set[Operation] = set()
    stack = [y.op for y in ys if y.op.index >= first]
    while stack:
        op = stack.pop()
        if op in upstream:
            continue
        upstream.add(op)
        for t in _inputs(call, op) if replaced else op.inputs:
            source = t.op
            if source.index >= first and source not in upstream:
                stack.append(source)
    # Forward from xs.
    order = sorted(upstream, key=order_of(call.graph, outside))
    reached = {x.op for x in xs if x.op in upstream}
    for op in order:
        if op not in reached:
            for t in _inputs(call, op) if replaced else op.inputs:
                if t.op in reached and carries_gradient(t):
                    reached.add(op)
                    break
    # Backward again: operations whose only path is through tensors without gradients, e.g. a comparison, are not
    # between.
    between = {y.op: 0 for y in ys if y.op in reached}
    for op in reversed(order):
        if op in between:
            for t in _inputs(call, op) if replaced else op.inputs:
                if t.op in reached:
                    between[t.op] = between.get(t.op, 0) + 1
    return between


def _inputs(call: Call, op: Operation) -> list[Tensor]:
    """Returns the inputs of an operation, placeholders replaced by their tensors; in a trial what it touches, too."""
    inputs = [*op.inputs, *op.graph._notes.touched.get(op.index, ())] if call.zeros else op.inputs
    return [call.outside.get(id(t), t) for t in inputs]


def _send(call: Call, arrived: _Arrived, t: Tensor, gradient: Any) -> None:
    at = arrived.get(t.op)
    if at is None:
        at = arrived[t.op] = [[] for _ in t.op.outputs]
    terms = at[t.value_index]
    if not call.adds_early or not terms or not add_early(call, t, terms, gradient):
        terms.append(gradient)


def _sweep(call: Call, ys: list[Tensor], between: dict[Operation, int], arrived: _Arrived, wanted: set[Operation],
           stopped: Collection[Operation]) -> None:
    """Runs the gradient rules, each once the gradients from all consumers of its op have arrived.

    Ready operations are visited in TensorFlow's order, so that terms are summed in its order.
    """
    graph, replaced = call.graph, bool(call.outside) or call.zeros
    pending = dict(between)  # counts down as consumers are visited
    queue = deque(dict.fromkeys(y.op for y in ys if pending.get(y.op) == 0))
    around = graph._around
    with around.having(scope=around.scope, original_op=around.original_op):
        while queue:
            op = queue.popleft()
            inputs = _inputs(call, op) if replaced else op.inputs
            terms = arrived.get(op) if op in wanted else arrived.pop(op, None)
            if terms is not None and op not in stopped:
                _visit(call, op, inputs, terms, between, arrived, op in wanted)
            for t in inputs:
                source = t.op
                if source in pending:
                    pending[source] -= 1
                    if not pending[source]:
                        queue.append(source)


def _visit(call: Call, op: Operation, inputs: Sequence[Tensor], terms: list[list[Any]],
           between: dict[Operation, int], arrived: _Arrived, is_wanted: bool) -> None:
    """Passes the gradients of one operation to its rule and sends the results to its inputs."""
    if "functional" in op.opdef.flags:
        expose(op)
        inputs = _inputs(call, op)
        terms = [*terms, *([] for _ in op.outputs[len(terms) :])]
    # The sweep ends at an x whose inputs lead to no other x.
    active = [t.op in between and carries_gradient(t) for t in inputs]
    if True not in active:
        return
    graph = call.graph
    out_grads = [g[0] if len(g) == 1 else aggregate(call, g, op) if g else None for g in terms]
    rule = gradient_function(op)
    if rule is None:
        raise no_gradient(op, between, graph, call.outside)
    if rule is not NOT_DIFFERENTIABLE and not all(terms):
        fill_in(call, op, out_grads)
    if is_wanted:
        arrived[op] = [[g] if g is not None else [] for g in out_grads]
    in_grads: Sequence[Any]
    if rule is NOT_DIFFERENTIABLE:
        if not call.zeros:
            return
        in_grads = [None] * len(op.inputs)
    elif call.colocate:
        graph._around.original_op = op
        with beside(graph, op, True):
            in_grads = apply_rule(call, op, rule, out_grads)
    else:
        graph._around.original_op = op
        in_grads = apply_rule(call, op, rule, out_grads)
    given: Sequence[Tensor] = op.inputs
    if call.zeros:
        given, in_grads = inputs, zeros_for_loops(op, in_grads, inputs, active)
    for t, source, g, is_active in zip(given, inputs, in_grads, active, strict=True):
        if g is not None and is_active:
            _send(call, arrived, source, checked_in_grad(op, t, g, rule))


def _collect(call: Call, arrived: _Arrived, x: Tensor) -> Any:
    """Returns the gradient that arrived at `x`, or None."""
    at = arrived.get(x.op)
    if at is None or not at[x.value_index]:
        return None
    total = aggregate(call, at[x.value_index], x.op)
    at[x.value_index] = [total]
    return total
