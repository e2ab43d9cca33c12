"""Calls the gradient rule of an operation and checks its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.errors import describe
from graphgrad.gradients.bodies.subgraphs import kept_outputs
from graphgrad.ir import dtypes
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.inference import CHECK, misfit
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import _CONTRADICTION, Shape, merge, shape_str
from graphgrad.ir.source import STRAY, Source, is_own
from graphgrad.ir.values.indexed_slices import IndexedSlices

from .outer_graphs import Outside


class Call:
    """The arguments of one call that the sweep needs."""

    __slots__ = ("graph", "name", "colocate", "gate", "method", "source", "scope", "fresh", "adds_early", "sums",
                 "outside")

    def __init__(self, graph: Graph, name: str, colocate: bool, gate: bool, method: int, source: Source | None):
        self.graph = graph
        self.name = name
        self.colocate = colocate
        self.gate = gate
        self.method = method
        self.source = source
        self.scope = ""
        self.adds_early = method != 0  # every method except ADD_N
        self.sums: dict[int, str] = {}  # the name scopes of incremental sums, by the tensor's id
        self.outside: Outside = {}  # the tensors behind placeholders, if the sweep leaves the graph
        self.fresh = name is None or (bool(name) and not name.endswith("/"))  # nothing else is in the scope yet


def carries_gradient(t: Tensor) -> bool:
    """Returns whether `t` can have a gradient: integers, booleans and strings cannot."""
    return t.dtype.kind in "fc" or t.dtype is dtypes.resource or t.dtype is dtypes.variant


def fill_in(call: Call, op: Operation, out_grads: list[Any]) -> None:
    """Fills in zeros for floating outputs without a gradient: rules get them when a sibling output has one."""
    graph = call.graph
    graph._around.scope = call.scope
    with beside(graph, op, call.colocate):
        kept = {t.value_index for t in kept_outputs(op)}
        for i, y in enumerate(op.outputs):
            if out_grads[i] is None and y.dtype.kind in "fc" and i not in kept:
                out_grads[i] = raw.ZerosLike(y, name="zeros_like")


def call_rule(rule: Any, op: Any, dys: Sequence[Any]) -> Sequence[Any]:
    """Calls a rule: one gradient, or None, for each input.

    An unexpected error in a rule of this package becomes a ValueError that names the operation.
    """
    try:
        in_grads = rule(op, *dys)
    except (*STRAY, TypeError) as e:
        if not is_own(e) or "Fix:" in str(e):
            raise
        raise ValueError(describe(op.type, op.name, f"its gradient cannot be built: {misfit(e)}", "",
                                  str(op.source or ""), CHECK)) from e
    result: Sequence[Any] = in_grads if isinstance(in_grads, (list, tuple)) else (in_grads,)
    if len(result) != len(op.inputs):
        built = f"  Built at {op.source}\n" if op.source else ""
        raise ValueError(
            f"Num gradients {len(result)} generated for op {op.name} (op type: {op.type}) do not match "
            f"num inputs {len(op.inputs)}.\n{built}  Gradient function: {where(rule)}\n"
            "  Fix: return one gradient, or None, for each input"
        )
    return result


def apply_rule(call: Call, op: Operation, rule: Any, out_grads: list[Any]) -> Sequence[Any]:
    """Applies the rule of `op` to the gradients of its outputs: one gradient, or None, for each input."""
    graph = call.graph
    scope = f"{call.scope}/{op.name}_grad" if call.scope else f"{op.name}_grad"
    graph._around.scope = scope if call.fresh else graph._names.unique(scope)  # as unique as the op's name
    in_grads = call_rule(rule, op, out_grads)
    if op.graph is not graph:
        in_grads = [_brought(graph, g) for g in in_grads]
    if call.gate and sum(g is not None for g in in_grads) > 1:
        in_grads = _gate(graph, in_grads)
    return in_grads


def _brought(graph: Graph, g: Any) -> Any:
    """Brings a gradient into `graph`: a rule may have returned a tensor of the forward operation's graph."""
    if isinstance(g, IndexedSlices):
        parts = (g.values, g.indices, g.dense_shape)
        return IndexedSlices(*[None if t is None else convert_to_tensor(t) for t in parts])
    return convert_to_tensor(g) if isinstance(g, Tensor) else g


def checked_in_grad(op: Operation, t: Tensor, g: Any, rule: Any) -> Any:
    """Checks the shape of the gradient for input `t`; its dtype is left to the rule, as in TensorFlow."""
    if type(g) is Tensor and g._spec is t._spec:
        return g
    sparse = isinstance(g, IndexedSlices)
    if not isinstance(g, Tensor) and not sparse:
        try:
            g = convert_to_tensor(g, t.dtype)
        except (TypeError, ValueError) as e:
            raise TypeError(
                f"The gradient of op '{op.name}' (op type: {op.type}) gives for input {t.name} what is no tensor: "
                f"{e}\n  Built at {op.source}\n  Gradient function: {where(rule)}\n"
                "  Fix: return a tensor, IndexedSlices or None for each input"
            ) from None
    if t.dtype.kind == "o":
        return g
    shape = t._spec.shape
    computed = _shape_of_slices(g) if sparse else g._spec.shape
    if computed != shape:
        if merge(computed, shape) is _CONTRADICTION:
            raise ValueError(
                "Incompatible shapes between op input and calculated input gradient. Forward operation: "
                f"{op.name}. Input index: {[i is t for i in op.inputs].index(True)}. Original input shape: "
                f"{shape_str(shape)}. Calculated input gradient shape: {shape_str(computed)}.\n"
                f"  Built at {op.source}\n  Gradient function: {where(rule)}\n"
                "  Fix: give grad_ys of y's shape, or correct the gradient function"
            )
        if not sparse:
            g.set_shape(t.shape)
    return g


def _shape_of_slices(g: IndexedSlices) -> Shape:
    """Returns the static dense shape of `g`; an unknown first dimension is None."""
    rows = g.values._spec.shape
    return g.shape._dims if g.dense_shape is not None or not rows else (None, *rows[1:])


def where(rule: Any) -> str:
    """Returns the name of a gradient function and where it is defined."""
    code = getattr(rule, "__code__", None)
    name = getattr(rule, "__name__", repr(rule))
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


def _gate(graph: Graph, in_grads: Any) -> list[Any]:
    """Makes every gradient wait for all of its siblings."""
    with graph._around.having(scope=graph.unique_name("tuple")):
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


class beside:
    """Puts operations built inside on the device and in the group of `op`, if requested."""

    __slots__ = ("graph", "op", "on", "saved")

    def __init__(self, graph: Graph, op: Operation, on: bool):
        self.graph = graph
        self.op = op
        self.on = on

    def __enter__(self) -> None:
        graph, around = self.graph, self.graph._around
        self.saved = around.colocated, around.device, around.devices
        if self.on:
            groups = [g.decode() for g in self.op.colocation_groups()] if self.op.graph is graph else []
            # A tf.colocate_with around tf.gradients stays in force.
            around.colocated = tuple(sorted({*around.colocated, *groups}) if around.colocated else groups)
            around.device, around.devices = self.op.device, [self.op.device]

    def __exit__(self, *_: object) -> None:
        around = self.graph._around
        around.colocated, around.device, around.devices = self.saved
