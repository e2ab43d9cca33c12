"""`gradients`: reverse-mode differentiation of a dataflow graph, by adding operations to it.

The algorithm, in four steps, each a loop over operations, so cost is linear and nothing recurses:

1. **reach**: which operations lie between xs and ys.
2. **seed**: the gradient of the sum of ys with respect to each y: its grad_y, or ones.
3. **sweep**: from ys towards xs, each operation after all of its consumers: sum the gradients of each output, pass the
   sums to the op's gradient rule, and send its results to the inputs.
4. **collect**: the gradients that have arrived at the xs.

Its parts: `arguments` (which tensors are meant), `outer_graphs` (nested graphs), `gradient_paths` (reaching), `seed`,
`sweep` (sweeping and collecting), `rules` (calling one op's rule), `aggregate` (sums), `registry` (which rule),
`missing` (errors), `unconnected` (None or zeros), `loop_zeros` (where loops give zeros), `strictness` (errors instead
of None), `memo` (identical calls). Tapes and `explain_gradient` reach and sweep by the same two.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from graphgrad.ir.context import Inherited, current_graph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.source import source_of_operation
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.values.composite import gradient_parts, is_of_parts, parts_of_gradient, with_gradient_parts
from graphgrad.system.garbage_collector import collector_paused

from . import strictness
from .aggregate import check_method
from .arguments import align_grad_ys, as_xs, as_ys, flatten, graph_to_extend
from .inside_loop import refuse_initial_values
from .loop_zeros import TrialSweep, is_trial, zeros_of_loops
from .memo import Memory
from .outer_graphs import leave, open_entrances
from .rules import Call
from .seed import seed
from .sweep import GraphSweep, sweep
from .unconnected import UnconnectedGradients, policy, zeros_of


class _Process:
    optimizing = os.environ.get("GRAPHGRAD_OPTIMIZE_DERIVATIVES", "") not in ("", "0")


class _State(Inherited):
    optimizing: bool | None = None  # None: as for the process


_process, _state = _Process(), _State()


def is_optimizing() -> bool:
    """Returns whether nested derivatives are rewritten in this thread."""
    return _process.optimizing if _state.optimizing is None else _state.optimizing


def switch_optimizing(on: bool | None) -> bool | None:
    """Switches rewriting on or off in this thread, None: as in the process; returns the previous setting."""
    before, _state.optimizing = _state.optimizing, on
    return before


def optimize_in_process(on: bool) -> None:
    """Switches rewriting on or off in all threads that do not say otherwise."""
    _process.optimizing = on


def _observed(call: Call, *arguments: Any) -> Any:
    from .optimization import Observed

    return Observed(call, *arguments)


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
) -> list[AnyTensor | Any]:
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
    call = Call(graph, name, colocate_gradients_with_ops, gate_gradients, method, source_of_operation(2))
    seen = _observed(call, ys, xs, grad_ys, stop_gradients) if is_optimizing() else None
    with Memory(call, ys, xs, grad_ys, stop_gradients, unconnected) as memory:
        if memory.results is None:
            given = ys if seen is None else seen.ys
            memory.results = _add_gradients(call, given, xs, grad_ys, stop_gradients, unconnected)
            if seen is not None:
                seen.returned(memory.results)
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
    call = Call(graph, "gradients", colocate, False, check_method(None), source_of_operation(2))
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
        stopped = {t.op for t in stops}
        if leaving:
            stopped |= open_entrances
        kind = TrialSweep if not leaving and is_trial(graph) else GraphSweep
        results = sweep(call, y_tensors, seed(call, y_tensors, grad_ys), x_tensors, stopped, kind)
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
) -> list[AnyTensor | Any]:
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
