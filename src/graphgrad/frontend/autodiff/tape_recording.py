"""The recording of a tape, in eager mode and in graphs, and the sweep over it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from graphgrad.gradients.core.aggregate import concat_slices
from graphgrad.gradients.core.forward_values import expose
from graphgrad.gradients.core.outer_graphs import open_entrances
from graphgrad.gradients.core.registry import gradient_function
from graphgrad.gradients.core.rules import Call, apply_rule, call_rule, carries_gradient, checked_in_grad
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.funcgraph import stands_for
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, OpDef, raw
from graphgrad.ir.source import user_source
from graphgrad.ir.values.indexed_slices import IndexedSlices, dense
from graphgrad.system.garbage_collector import collector_paused


class Record:
    """One executed op, with the attributes of an operation that gradient rules use."""

    __slots__ = ("opdef", "inputs", "outputs", "attrs", "_gradient")

    def __init__(self, opdef: OpDef, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any],
                 gradient: Any):
        self.opdef = opdef
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self._gradient = gradient

    name = property(lambda self: self.opdef.name)
    type = property(lambda self: self.opdef.name)
    source = graph = None

    def get_attr(self, name: str) -> Any:
        """Returns the value of an attribute as TensorFlow does."""
        from graphgrad.ir.graphdef import attribute

        return attribute(self, name)

    def _attr(self, name: str) -> Any:
        """Returns the value of an attribute as rules take it."""
        return self.attrs[name] if name in self.attrs else self.opdef.attrs[name]


class Recording:
    """The operations that depend on watched tensors, in the order in which they ran or were built.

    A tensor that a branch, body or function has captured is the tensor outside: what was built there and what is
    built inside are one recording.

    Attributes:
      variables: the variables that are watched, by the id of their handle.
    """

    def __init__(self, watch_variables: bool):
        self._watch_variables = watch_variables
        self._records: list[Record | Operation] = []
        self._made: dict[Any, int] = {}  # an operation, or the id of an eager tensor -> the record's position
        self._watched: dict[int, Any] = {}  # id -> watched tensor
        self.variables: dict[int, Any] = {}

    def watch(self, tensor: Any, variable: Any = None) -> None:
        """Follows a tensor from now on; with `variable`, the tensor is that variable's handle."""
        tensor = stands_for(tensor)
        self._watched[id(tensor)] = tensor
        if variable is not None:
            self.variables[id(tensor)] = variable

    def note(self, record: Record | Operation) -> None:
        """Keeps an operation if it depends on something that is watched."""
        depends = False
        for t in record.inputs:
            t = stands_for(t)
            if id(t) not in self._watched and self._position(t) is None:
                variable = getattr(t, "_variable", None) if self._watch_variables and t.dtype is resource else None
                if variable is None or not variable.trainable:
                    continue
                self.watch(t, variable)
            depends = depends or carries_gradient(t)
        if depends:
            position = len(self._records)
            if isinstance(record, Operation):
                self._made[record] = position  # it may get further outputs
            else:
                self._made.update((id(t), position) for t in record.outputs)
            self._records.append(record)

    def _position(self, t: Any) -> int | None:
        """Returns the position of the record that computed a tensor; None if there is none."""
        return self._made.get(t.op if type(t) is Tensor else id(t))

    def recorded(self, tensor: Any) -> bool:
        """Returns whether a tensor is watched or depends on a watched one."""
        t = stands_for(tensor)
        return id(t) in self._watched or (self._position(t) is not None and carries_gradient(t))

    def drop_records(self) -> None:
        """Drops the operations: no gradient will be computed any more."""
        self._records = []
        self._made = {}

    def sweep(self, seeds: Sequence[tuple[Any, Any]], sources: Sequence[Any]) -> list[Any]:
        """Computes the gradients with respect to `sources`, built in the current graph or run at once.

        Args:
          seeds: pairs of a tensor (a handle for a variable) and the gradient that arrives there.
          sources: tensors and handles.
        Returns: for each source a tensor, `IndexedSlices`, or None.
        Raises: LookupError if an op in between has no gradient.
        """
        xs = [stands_for(s) for s in sources]
        live, records = self._between([t for t, _ in seeds], xs)
        wanted = {id(x) for x in xs}
        arrived: dict[int, list[Any]] = {}
        for t, seed in seeds:
            arrived.setdefault(id(stands_for(t)), []).append(seed)
        with _building(current_graph()) as call:
            for record in records:
                if not any(id(t) in arrived for t in record.outputs):
                    continue
                if isinstance(record, Operation) and "functional" in record.opdef.flags:
                    expose(record)
                terms = [arrived.pop(id(t), []) for t in record.outputs]
                dys = [total(g) if g else None for g in terms]
                arrived.update((id(t), [dy]) for t, dy in zip(record.outputs, dys, strict=True)
                               if dy is not None and id(t) in wanted)
                for t, g in zip(record.inputs, _in_grads(call, record, dys), strict=True):
                    if g is not None and id(stands_for(t)) in live:
                        arrived.setdefault(id(stands_for(t)), []).append(g)
            return [total(arrived[id(x)]) if arrived.get(id(x)) else None for x in xs]

    def _between(self, targets: Sequence[Any], xs: Sequence[Any]) -> tuple[set[int], list[Record | Operation]]:
        """Returns the ids of tensors on paths from the xs to the targets, and the records there, the last one first."""
        upstream: set[int] = set()
        waiting = list(targets)
        while waiting:
            position = self._position(stands_for(waiting.pop()))
            if position is not None and position not in upstream:
                upstream.add(position)
                waiting.extend(self._records[position].inputs)
        live = {id(x) for x in xs if id(x) in self._watched or not self._enters(self._position(x))}
        between = []
        for position in sorted(upstream):
            record = self._records[position]
            if self._enters(position):
                continue
            if any(id(stands_for(t)) in live and carries_gradient(t) for t in record.inputs):
                between.append(record)
                live.update(id(t) for t in record.outputs if carries_gradient(t))
        return live, between[::-1]

    def _enters(self, position: int | None) -> bool:
        """Returns whether paths end at a tensor: it is not recorded, or an argument of a call being inlined."""
        return position is None or (bool(open_entrances) and self._records[position] in open_entrances)

    def seeds(self, targets: Sequence[Any], outputs: Sequence[Any], sources: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Returns the seeds of a sweep: ones, or given gradients, for each target that is recorded or a source.

        Args:
          targets: tensors and handles.
          outputs: for each the gradient that arrives there, or None.
          sources: tensors and handles.
        """
        wanted = {id(stands_for(s)) for s in sources}
        found = []
        for t, given in zip(targets, outputs, strict=True):
            if id(stands_for(t)) in wanted or self.recorded(t):
                value = value_of(t)
                found.append((t, raw.OnesLike(value) if given is None else convert_to_tensor(given, value.dtype)))
        return found


def value_of(source: Any) -> Any:
    """Returns a source itself, or the value of the variable whose handle it is."""
    variable = getattr(stands_for(source), "_variable", None)
    return source if variable is None else variable.read_value()


def total(terms: list[Any]) -> Any:
    """Sums gradients: `IndexedSlices` if all are."""
    if len(terms) == 1:
        return terms[0]
    if all(isinstance(t, IndexedSlices) for t in terms):
        return concat_slices(terms)
    return raw.AddN([dense(t) for t in terms])


@contextlib.contextmanager
def _building(graph: Graph | None) -> Iterator[Call | None]:
    """Returns the call context of rules that add to a graph; None in eager mode."""
    if graph is None:
        yield None
        return
    call = Call(graph, "gradient_tape", False, False, 0, user_source(4))
    with (collector_paused(), graph.name_scope("gradient_tape") as scope,
          graph._building_gradient_of(None, call.source)):
        call.scope = scope[:-1]
        yield call


def _in_grads(call: Call | None, record: Record | Operation, dys: list[Any]) -> Sequence[Any]:
    """Applies the rule of an operation to the gradients of its outputs: one, or None, for each input."""
    rule = gradient_function(record)  # type: ignore[arg-type]  # a record stands for an operation
    if rule is NOT_DIFFERENTIABLE:
        return [None] * len(record.inputs)
    if rule is None:
        raise LookupError(
            f"No gradient defined for operation '{record.name}' (op type: {record.type}). "
            f"Fix: register one with @tf.RegisterGradient('{record.type}')"
        )
    if call is None:
        dys = _filled(record, dys)
        in_grads = call_rule(rule, record, dys)
        return in_grads if isinstance(in_grads, (list, tuple)) else (in_grads,)
    graph = call.graph
    graph._around.scope = call.scope
    graph._around.original_op = record if isinstance(record, Operation) else None
    # Silenced: records stand for operations.
    in_grads = apply_rule(call, record, rule, _filled(record, dys))  # type: ignore[arg-type]
    # Silenced: records stand for operations.
    found = [g if g is None else checked_in_grad(record, t, g, rule)  # type: ignore[arg-type]
             for t, g in zip(record.inputs, in_grads, strict=True)]
    graph._around.scope, graph._around.original_op = call.scope, None
    return found


def _filled(record: Record | Operation, dys: list[Any]) -> list[Any]:
    """Fills in zeros for floating outputs without a gradient: rules get them when a sibling output has one."""
    if getattr(record._gradient, "takes_none", False):
        return dys
    return [raw.ZerosLike(t) if dy is None and t.dtype.kind in "fc" else dy
            for dy, t in zip(dys, record.outputs, strict=True)]
