"""Reverse-mode differentiation of a dataflow graph, by adding operations to it.

The algorithm, in four steps, each a loop over operations, so cost is linear and nothing recurses:

1. **reach**: which operations lie between xs and ys.
2. **seed**: the gradient of the sum of ys with respect to each y: its grad_y, or ones.
3. **sweep**: from ys towards xs, each operation after all of its consumers: sum what has arrived
   at each output, hand it to the op's gradient rule, and send what comes back to the inputs.
4. **collect**: what has arrived at the xs.
"""

from __future__ import annotations

import contextlib
import enum
import gc
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..ir import dtypes
from ..ir.context import current_graph
from ..ir.convert import constant_in, convert_to_tensor, is_tensor_like
from ..ir.dtypes import DType
from ..ir.graph import Graph, Operation, Tensor
from ..ir.opdef import NOT_DIFFERENTIABLE, raw
from ..ir.shape import _CONTRADICTION, is_fully_defined, merge, shape_str
from ..ir.slices import IndexedSlices
from ..ir.source import Source, user_source
from .aggregate import aggregate, check_method
from .registry import gradient_function


class UnconnectedGradients(enum.Enum):
    """What `gradients` gives for an x that the ys do not depend on.

    `NONE` ("none") gives None; `ZERO` ("zero") gives zeros of the x's shape and dtype.
    """

    NONE = "none"
    ZERO = "zero"


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
      colocate_gradients_with_ops: whether an op's gradient goes to the op's device and group.
      gate_gradients: whether all gradients of an op come out together.
      aggregation_method: how several terms are summed, one of `AggregationMethod`.
      stop_gradients: a tensor or a list of tensors not to differentiate through.
      unconnected_gradients: 'none' or 'zero' (or an `UnconnectedGradients`): what stands for
        an x that the ys do not depend on.
    Returns: a list with, for each x, a tensor of its shape and dtype, an `IndexedSlices`
      (if it is only gathered from), or None.
    Raises:
      LookupError: if an op between xs and ys has no gradient.
      ValueError: for arguments that do not fit each other, or tensors of another graph.
      TypeError: for xs that are no tensors, and complex ys without grad_ys.
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
    graph = current_graph()
    if graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. "
            "Use tf.GradientTape instead, or call it inside a tf.function or `with graph.as_default()`."
        )
    method = check_method(aggregation_method)
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}. Fix: use 'none' or 'zero'"
        ) from None
    call = _Call(graph, name, colocate_gradients_with_ops, gate_gradients, method, user_source(2))
    with (_collector_paused(), graph.name_scope(name or "gradients") as scope,
          graph._building_gradient_of(None, call.source)):  # fmt: skip
        call.scope = scope[:-1]
        y_tensors = [_in_graph(graph, convert_to_tensor(y, name=f"y_{i}"), f"ys[{i}]")
                     for i, y in enumerate(_flatten(ys))]  # fmt: skip
        x_tensors = [_in_graph(graph, _as_x(x, i), f"xs[{i}]") for i, x in enumerate(_flatten(xs))]
        stops = [_in_graph(graph, _as_x(t, i, "stop_gradients"), f"stop_gradients[{i}]")
                 for i, t in enumerate(_flatten(stop_gradients))]  # fmt: skip
        seeds = _seed(graph, y_tensors, align_grad_ys(ys, grad_ys, len(y_tensors)), call)
        between = _reach(graph, y_tensors, x_tensors)
        arrived: _Arrived = {}
        for y, seed in zip(y_tensors, seeds, strict=True):
            _send(arrived, y, seed)
        wanted = {x.op.index for x in x_tensors}
        stopped = {t.op.index for t in stops}
        _sweep(call, y_tensors, between, arrived, wanted, stopped)
        results = [_collect(call, arrived, x) for x in x_tensors]
    if unconnected is UnconnectedGradients.ZERO:
        results = [_zeros_of(x) if r is None else r for x, r in zip(x_tensors, results, strict=True)]
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
    """`gradients` with the arguments of TensorFlow 2: ops are always colocated with their forward ops.

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
                     unconnected_gradients)  # fmt: skip


# For each operation, by index: for each output the list of gradients that have arrived.
_Arrived = dict[int, list[list[Any]]]


class _Call:
    """The arguments of one call that the sweep needs."""

    __slots__ = ("graph", "name", "colocate", "gate", "method", "source", "scope", "fresh")

    def __init__(self, graph: Graph, name: str, colocate: bool, gate: bool, method: int, source: Source | None):
        self.graph = graph
        self.name = name
        self.colocate = colocate
        self.gate = gate
        self.method = method
        self.source = source
        self.scope = ""
        self.fresh = not (name or "").endswith("/")  # nothing else is in the scope yet


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Pauses Python's search for garbage: all that a sweep makes is kept, and looking takes a third of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# -- arguments -------------------------------------------------------------------------


def _flatten(value: Any) -> list[Any]:
    """The leaves of a nested structure; [] for None."""
    return [] if value is None else list(_leaves(value))


def align_grad_ys(ys: Any, grad_ys: Any, count: int) -> list[Any]:
    """One grad_y, or None, for each y; what stands for a single y may itself be a list of numbers."""
    if grad_ys is None:
        return [None] * count
    nested = isinstance(ys, (list, tuple, dict))
    found: list[Any] = []
    if nested or not isinstance(grad_ys, (list, tuple)):
        _align(
            ys if nested else [ys], grad_ys if nested and isinstance(grad_ys, (list, tuple, dict)) else [grad_ys], found
        )
    else:
        found = list(grad_ys)
    if len(found) != count:
        raise ValueError(
            f"Length mismatch. Passed {len(found)} grad_ys for {count} ys. Fix: give one grad_y, or None, for each y"
        )
    return found


def _align(ys: Any, grad_ys: Any, found: list[Any]) -> None:
    """Appends to `found` the parts of `grad_ys` that stand where `ys` has leaves."""
    if isinstance(ys, dict):
        for key in sorted(ys):
            _align(ys[key], grad_ys[key], found)
    elif isinstance(ys, (list, tuple)) and isinstance(grad_ys, (list, tuple)):
        if len(ys) != len(grad_ys):
            found.extend(grad_ys)  # the count tells
            return
        for y, grad_y in zip(ys, grad_ys, strict=True):
            _align(y, grad_y, found)
    else:
        found.append(grad_ys)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from _leaves(v)
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from _leaves(value[key])
    else:
        yield value


def _as_x(x: Any, i: int, what: str = "xs") -> Any:
    """The tensor that stands for an x: a variable's handle, a tensor itself."""
    handle = getattr(x, "handle", None)
    if handle is not None:
        return handle
    if isinstance(x, IndexedSlices):
        return x.values
    if not is_tensor_like(x):
        raise TypeError(
            f"{what}[{i}] is {x!r} of type {type(x).__name__}, not a tensor or variable: "
            "there is nothing in the graph to differentiate with respect to.\n"
            f"  Asked for at {user_source(2)}\n  Fix: pass the tf.Tensor or tf.Variable that the ys use"
        )
    return x if isinstance(x, Tensor) or not hasattr(x, "_as_tensor") else x._as_tensor(None, None)


def _in_graph(graph: Graph, t: Any, what: str) -> Tensor:
    if isinstance(t, Tensor) and t.graph is graph:
        return t
    if graph.building_function:
        return graph.capture(t)
    raise ValueError(
        f"{what}, {t!r}, must be from the same graph as the default one: the gradient is added to the "
        f"graph that holds ys and xs.\n  Built at {t.op.source if isinstance(t, Tensor) else 'eager mode'}\n"
        "  Fix: call tf.gradients inside `with that_graph.as_default():`"
    )


def _seed(graph: Graph, ys: list[Tensor], grad_ys: list[Any], call: _Call) -> list[Any]:
    """The gradient of the sum of ys with respect to each y."""
    seeds: list[Any] = []
    for i, (y, grad_y) in enumerate(zip(ys, grad_ys, strict=True)):
        with _beside(graph, y.op, call.colocate):
            seeds.append(_ones_like(graph, y, i) if grad_y is None else _checked_grad_y(y, grad_y, i))
    return seeds


def _ones_like(graph: Graph, y: Tensor, i: int) -> Any:
    if y.dtype.is_complex:
        raise TypeError(
            f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.name}).\n"
            f"  Built at {y.op.source}\n"
            "  Fix: differentiate a real function of it, e.g. tf.abs(y), or give grad_ys"
        )
    if y.dtype.kind == "o":
        raise TypeError(
            f"Cannot differentiate {y} of dtype {y.dtype.name}.\n  Built at {y.op.source}\n  Fix: leave it out of ys"
        )
    shape = y._spec.shape
    if is_fully_defined(shape):
        dims: Any = constant_in(graph, np.asarray(shape, np.int32), graph.unique_name("Shape"))
    else:
        dims = raw.Shape(y)
    # Named as TensorFlow names them: gradients/grad_ys_0 and gradients/grad_ys_0/Const.
    full = graph.unique_name(f"grad_ys_{i}")
    one = constant_in(graph, np.ones((), y.dtype.np_dtype), graph._unique(f"{full}/Const"), y.dtype)
    return raw.Fill(dims, one, name=full + "/")


def _checked_grad_y(y: Tensor, grad_y: Any, i: int) -> Any:
    if isinstance(grad_y, IndexedSlices):
        if grad_y.dtype is not y.dtype:
            raise _wrong_grad_type(y, grad_y.dtype, i)
        return grad_y
    dtype = grad_y.dtype if is_tensor_like(grad_y) else getattr(grad_y, "dtype", None)
    if dtype is not None and is_tensor_like(grad_y) and dtypes.as_dtype(dtype) is not y.dtype:
        raise _wrong_grad_type(y, dtypes.as_dtype(dtype), i)
    try:
        g = convert_to_tensor(grad_y, y.dtype, name=f"grad_ys_{i}")
    except TypeError as e:
        raise TypeError(f"grad_ys[{i}] does not fit {y}: {e}") from None
    if merge(g._spec.shape, y._spec.shape) is _CONTRADICTION and g._spec.shape != ():
        raise ValueError(
            f"grad_ys[{i}] has shape {shape_str(g._spec.shape)}, but {y} has shape "
            f"{shape_str(y._spec.shape)}.\n  Built at {y.op.source}\n"
            "  Fix: give a grad_y of y's shape, e.g. tf.broadcast_to(grad_y, tf.shape(y))"
        )
    return raw.Identity(g, name=f"grad_ys_{i}")


def _wrong_grad_type(y: Tensor, dtype: DType, i: int) -> TypeError:
    kind = "complex" if y.dtype.is_complex else "real or integer"
    return TypeError(
        f"Gradient type {dtype.name} generated for {kind}-valued tensor {y} with type {y.dtype.name} must "
        f"be {y.dtype.name}: grad_ys[{i}] is of another dtype.\n  Built at {y.op.source}\n"
        f"  Fix: tf.cast(grad_y, tf.{y.dtype.name})"
    )


# -- reach -----------------------------------------------------------------------------


def _carries_gradient(t: Tensor) -> bool:
    return t.dtype.kind in "fc" or t.dtype is dtypes.resource or t.dtype is dtypes.variant


def _reach(graph: Graph, ys: list[Tensor], xs: list[Tensor]) -> dict[int, int]:
    """The operations between xs and ys.

    An operation is between them if a y depends on it and it depends on an x through tensors
    that carry gradients.

    Returns: operation index -> how many inputs of other operations between xs and ys it feeds.
    """
    operations = graph._operations
    first = min((x.op.index for x in xs), default=0)
    # Backward from ys; what was made before the first x cannot depend on any.
    upstream: set[int] = set()
    stack = [y.op.index for y in ys if y.op.index >= first]
    while stack:
        index = stack.pop()
        if index in upstream:
            continue
        upstream.add(index)
        for t in operations[index].inputs:
            i = t.op.index
            if i >= first and i not in upstream:
                stack.append(i)
    # Forward from xs.
    reached = {x.op.index for x in xs if x.op.index in upstream}
    for index in sorted(upstream):
        if index not in reached:
            for t in operations[index].inputs:
                if t.op.index in reached and _carries_gradient(t):
                    reached.add(index)
                    break
    # Backward again: what leads on only through tensors that carry none, e.g. a comparison, is not between.
    between = {y.op.index: 0 for y in ys if y.op.index in reached}
    for index in sorted(reached, reverse=True):
        if index in between:
            for t in operations[index].inputs:
                i = t.op.index
                if i in reached:
                    between[i] = between.get(i, 0) + 1
    return between


# -- sweep -----------------------------------------------------------------------------


def _send(arrived: _Arrived, t: Tensor, gradient: Any) -> None:
    at = arrived.get(t.op.index)
    if at is None:
        at = arrived[t.op.index] = [[] for _ in t.op.outputs]
    at[t.value_index].append(gradient)


def _sweep(call: _Call, ys: list[Tensor], between: dict[int, int], arrived: _Arrived, wanted: set[int],
           stopped: set[int]) -> None:  # fmt: skip
    """Runs the gradient rules, each when the gradients from all consumers of its op have arrived.

    The order among operations that are ready is TensorFlow's, so terms are summed in its order.
    """
    graph = call.graph
    pending = dict(between)  # counts down as consumers are visited
    queue = deque({y.op.index: y.op for y in ys if pending.get(y.op.index) == 0}.values())
    saved = graph._scope, graph._original_op
    try:
        while queue:
            op = queue.popleft()
            index = op.index
            terms = arrived.get(index) if index in wanted else arrived.pop(index, None)
            if terms is not None and index not in stopped:
                _visit(call, op, terms, between, arrived, index in wanted)
            for t in op.inputs:
                i = t.op.index
                if i in pending:
                    pending[i] -= 1
                    if not pending[i]:
                        queue.append(t.op)
    finally:
        graph._scope, graph._original_op = saved


def _visit(call: _Call, op: Operation, terms: list[list[Any]], between: dict[int, int], arrived: _Arrived,
           is_wanted: bool) -> None:  # fmt: skip
    """Hands what has arrived at one operation to its rule and sends on what comes back."""
    # An x whose inputs lead to no other x is where the sweep ends.
    active = [t.op.index in between and _carries_gradient(t) for t in op.inputs]
    if True not in active:
        return
    graph = call.graph
    out_grads = [g[0] if len(g) == 1 else aggregate(graph, g, call.method, op, call.scope) if g else None
                 for g in terms]  # fmt: skip
    if is_wanted:
        arrived[op.index] = [[g] if g is not None else [] for g in out_grads]
    rule = gradient_function(op)
    if rule is NOT_DIFFERENTIABLE:
        return
    if rule is None:
        raise _no_gradient(op, between)
    graph._original_op = op
    if call.colocate:
        with _beside(graph, op, True):
            in_grads = _apply_rule(call, op, rule, out_grads)
    else:
        in_grads = _apply_rule(call, op, rule, out_grads)
    for t, g, is_active in zip(op.inputs, in_grads, active, strict=True):
        if g is not None and is_active:
            _send(arrived, t, _checked_in_grad(op, t, g))


def _apply_rule(call: _Call, op: Operation, rule: Any, out_grads: list[Any]) -> Sequence[Any]:
    graph = call.graph
    if None in out_grads:
        # Siblings that do not matter: rules are handed zeros for them.
        graph._scope = call.scope
        out_grads = [
            raw.ZerosLike(y, name="zeros_like") if g is None and y.dtype.kind in "fc" else g
            for g, y in zip(out_grads, op.outputs, strict=True)
        ]
    scope = f"{call.scope}/{op.name}_grad"
    graph._scope = scope if call.fresh else graph._unique(scope)  # as unique as the op's name
    in_grads = rule(op, *out_grads)
    if not isinstance(in_grads, (list, tuple)):
        in_grads = (in_grads,)
    if len(in_grads) != len(op.inputs):
        raise ValueError(
            f"Num gradients {len(in_grads)} generated for op {op.name} (op type: {op.type}) do not match "
            f"num inputs {len(op.inputs)}.\n  Built at {op.source}\n"
            f"  Gradient function: {_where(rule)}\n  Fix: return one gradient, or None, for each input"
        )
    if call.gate and sum(g is not None for g in in_grads) > 1:
        in_grads = _gate(graph, in_grads)
    result: Sequence[Any] = in_grads
    return result


def _where(rule: Any) -> str:
    code = getattr(rule, "__code__", None)
    name = getattr(rule, "__name__", repr(rule))
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


def _checked_in_grad(op: Operation, t: Tensor, g: Any) -> Any:
    """The gradient for the input `t`, checked for dtype and shape."""
    if type(g) is Tensor and g._spec is t._spec:
        return g
    if isinstance(g, IndexedSlices):
        return g
    if not isinstance(g, Tensor):
        g = convert_to_tensor(g, t.dtype)
    if t.dtype.kind == "o":
        return g
    if g.dtype is not t.dtype:
        raise ValueError(
            f"Gradient of dtype {g.dtype.name} computed for input {t.name} of dtype {t.dtype.name}, in the "
            f"gradient of op '{op.name}' (op type: {op.type}).\n  Built at {op.source}\n"
            "  Fix: let the gradient function return a gradient of the input's dtype"
        )
    shape = t._spec.shape
    if g._spec.shape != shape:
        if merge(g._spec.shape, shape) is _CONTRADICTION:
            raise ValueError(
                "Incompatible shapes between op input and calculated input gradient. Forward operation: "
                f"{op.name}. Input index: {[i is t for i in op.inputs].index(True)}. Original input shape: "
                f"{shape_str(shape)}. Calculated input gradient shape: {shape_str(g._spec.shape)}.\n"
                f"  Built at {op.source}\n"
                "  Fix: give grad_ys of y's shape, or correct the gradient function"
            )
        g.set_shape(t.shape)
    return g


def _gate(graph: Graph, in_grads: Any) -> list[Any]:
    """Lets every gradient wait for all of its siblings."""
    scope = graph._scope
    graph._scope = graph.unique_name("tuple")
    try:
        ops = [g.op for g in in_grads if g is not None]
        with graph.control_dependencies(ops):
            gate = raw.NoOp(name="group_deps")
        out: list[Any] = []
        for g in in_grads:
            if g is None:
                out.append(None)
                continue
            with graph.control_dependencies([gate]), graph.colocate_with(g.op):
                if isinstance(g, IndexedSlices):
                    values = raw.Identity(g.values, name="control_dependency")
                    out.append(IndexedSlices(values, raw.Identity(g.indices), g.dense_shape))
                else:
                    out.append(raw.Identity(g, name="control_dependency"))
        return out
    finally:
        graph._scope = scope


class _beside:
    """Puts what is made inside on the device and in the group of `op`, if asked to."""

    __slots__ = ("graph", "op", "on", "saved")

    def __init__(self, graph: Graph, op: Operation, on: bool):
        self.graph = graph
        self.op = op
        self.on = on

    def __enter__(self) -> None:
        graph = self.graph
        self.saved = graph._colocated, graph._device, graph._devices
        if self.on:
            graph._colocated = tuple(g.decode() for g in self.op.colocation_groups())
            graph._device, graph._devices = self.op.device, [self.op.device]

    def __exit__(self, *_: object) -> None:
        self.graph._colocated, self.graph._device, self.graph._devices = self.saved


# -- collect ---------------------------------------------------------------------------


def _collect(call: _Call, arrived: _Arrived, x: Tensor) -> Any:
    """The gradient that arrived at `x`, or None."""
    at = arrived.get(x.op.index)
    if at is None or not at[x.value_index]:
        return None
    total = aggregate(call.graph, at[x.value_index], call.method, x.op, call.scope)
    at[x.value_index] = [total]
    return total


def _zeros_of(x: Tensor) -> Any:
    if x.dtype is dtypes.resource:
        x = raw.ReadVariableOp(x, dtype=x.op.get_attr("dtype"), shape=x.op.get_attr("shape"))
    return raw.ZerosLike(x, name="zeros_like")


def _no_gradient(op: Operation, between: dict[int, int]) -> LookupError:
    """Words the error for an op without a gradient: op, path, line, how to register one."""
    trail = [op]
    while True:  # towards an x
        t = next((t for t in trail[-1].inputs if t.op.index in between and _carries_gradient(t)), None)
        if t is None:
            break
        trail.append(t.op)
    after = op
    for index in sorted(i for i in between if i > op.index):  # towards a y
        later = op.graph._operations[index]
        if any(t.op is after for t in later.inputs):
            trail.insert(0, later)
            after = later
    names = [f"{o.name} ({o.type})" for o in trail]
    if len(names) > 12:
        names = [*names[:6], "...", *names[-5:]]
    return LookupError(
        f"No gradient defined for operation '{op.name}' (op type: {op.type}). It lies between the ys and the xs: "
        f"{' <- '.join(names)}.\n  Built at {op.source}\n"
        f"  Fix: register one with @tf.RegisterGradient('{op.type}'), treat it as a constant with tf.stop_gradient, "
        "or leave that x out"
    )
