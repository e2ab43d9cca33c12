"""The recording of a tape, in eager mode and in graphs, and the sweep over it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from graphgrad.gradients.core.aggregate import concat_slices
from graphgrad.gradients.core.forward_values import expose
from graphgrad.gradients.core.gradient_paths import Paths
from graphgrad.gradients.core.loop_zeros import is_loop, trial_of, zero
from graphgrad.gradients.core.outer_graphs import open_entrances
from graphgrad.gradients.core.rules import Call, apply_rule, call_rule, carries_gradient, checked_in_grad
from graphgrad.gradients.core.sweep import Sweep
from graphgrad.ir import eager
from graphgrad.ir import graph as ir_graph
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.funcgraph import stands_for
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import OpDef, raw
from graphgrad.ir.source import source_of_operation, user_source
from graphgrad.ir.values.indexed_slices import IndexedSlices, dense
from graphgrad.system.garbage_collector import collector_paused


class Record:
    """One executed op, with the attributes of an operation that gradient rules use.

    Attributes:
      skip_input_indices: the numbers of the inputs for which a rule need not compute a gradient; as in TensorFlow, it
        exists in eager mode alone.
    """

    __slots__ = ("opdef", "inputs", "outputs", "attrs", "_gradient", "source", "skip_input_indices")

    def __init__(self, opdef: OpDef, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any],
                 gradient: Any):
        self.opdef = opdef
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self._gradient = gradient
        self.skip_input_indices: tuple[int, ...] = ()
        missing = gradient is None and opdef.gradient is None  # then an error may need the line
        self.source = user_source(2) if missing else None

    name = property(lambda self: self.opdef.name)
    type = property(lambda self: self.opdef.name)
    graph = None

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
    built inside are one recording. It is a `PathView` of what was recorded.

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
        if depends and record.type != "StopGradient":  # what it gives is no longer followed, in TensorFlow, too
            position = len(self._records)
            if isinstance(record, Operation):
                self._made[record] = position  # it may get further outputs
            else:
                self._made.update((id(t), position) for t in record.outputs)
            self._records.append(record)

    def _position(self, t: Any) -> int | None:
        """Returns the position of the record that computed a tensor; None if there is none."""
        return self._made.get(t.op if type(t) is Tensor else id(t))

    def has(self, op: Operation) -> bool:
        """Returns whether an operation is recorded."""
        return op in self._made

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
        known = [x for x in xs if id(x) in self._watched or self.source(x) is not None]
        paths = Paths(self, [stands_for(t) for t, _ in seeds], xs, known)
        with _building(current_graph()) as call:
            arriving = [g for _, g in seeds]
            if call is None:
                return _AtOnce(paths).run(arriving, reversed(paths.ops))
            return _zeros_of_loops(call, paths, _InGraph(call, paths).run(arriving, reversed(paths.ops)))

    # -- as paths see it: from watched tensors on, and not into calls that are being inlined -------

    def source(self, t: Any) -> Record | Operation | None:
        """Returns what computed a tensor; None if that is not recorded, or is an argument of a call being inlined."""
        position = self._position(stands_for(t))
        record = None if position is None else self._records[position]
        return None if record in open_entrances else record

    def upstream(self, ys: Iterable[Any]) -> list[Record | Operation]:
        """Returns what tensors were computed by, in the order in which it ran or was built."""
        found: set[int] = set()
        waiting = list(ys)
        while waiting:
            t = stands_for(waiting.pop())
            position = self._position(t)
            if position is not None and position not in found and self.source(t) is not None:
                found.add(position)
                waiting += self._records[position].inputs
        return [self._records[position] for position in sorted(found)]

    def inputs(self, record: Record | Operation) -> list[Any]:
        """Returns the inputs of an operation: tensors outside in place of those that captured them."""
        return [stands_for(t) for t in record.inputs]

    def seeds(self, targets: Sequence[Any], outputs: Sequence[Any], sources: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Returns the seeds of a sweep: ones, or given gradients, for each target that is recorded or a source.

        As in TensorFlow, a source that is not recorded has no gradient, even as a target, where a recorded operation
        between the targets and watched tensors reads it; and the ones depend on nothing.

        Args:
          targets: tensors and handles.
          outputs: for each the gradient that arrives there, or None.
          sources: tensors and handles.
        """
        wanted = {id(stands_for(s)) for s in sources}
        known = [self.recorded(t) for t in targets]
        if not all(known):
            read = [_passed(t) for record in self.upstream(targets) for t in self.inputs(record)]
            wanted -= {id(t) for t in read if not self.recorded(t)}
        found = []
        for t, given, is_known in zip(targets, outputs, known, strict=True):
            if is_known or id(stands_for(t)) in wanted:
                with unrecorded() if given is None else contextlib.nullcontext():
                    value = value_of(t)
                    found.append((t, raw.OnesLike(value) if given is None else convert_to_tensor(given, value.dtype)))
        return found


def _passed(t: Any) -> Any:
    """Returns the tensor outside that an argument of an inlined call stands for; other tensors unchanged."""
    while type(t) is Tensor and t.op.index in t.graph._notes.arguments:
        t = stands_for(t.op.inputs[0])
    return t


@contextlib.contextmanager
def unrecorded() -> Iterator[None]:
    """Keeps tapes from recording in a `with` block."""
    before = eager.listening.recorders, ir_graph.listening.recorders
    eager.listening.recorders = []
    ir_graph.listening.recorders = []
    try:
        yield
    finally:
        eager.listening.recorders, ir_graph.listening.recorders = before


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
    """Yields the call context of rules that add to a graph; None in eager mode."""
    if graph is None:
        yield None
        return
    call = Call(graph, "gradient_tape", False, False, 0, source_of_operation(4))
    with (collector_paused(), graph.name_scope("gradient_tape") as scope,
          graph._building_gradient_of(None, call.source)):
        call.scope = scope[:-1]
        yield call


class _AtOnce(Sweep):
    """A sweep in eager mode."""

    checked: Callable[[Any, Any, Any, Any], Any] = staticmethod(lambda op, t, gradient, rule: gradient)

    def expose(self, op: Operation) -> None:
        """Leaves a record as it is; in a graph, makes an operation return what its rule must not recompute."""
        if isinstance(op, Operation):
            expose(op)

    def total(self, t: Any, terms: list[Any]) -> Any:
        """Sums the gradients of a tensor."""
        return total(terms)

    def fill(self, op: Operation, out_grads: list[Any]) -> None:
        """Fills in zeros for floating outputs; an x among them has no gradient all the same."""
        if not getattr(op._gradient, "takes_none", False):
            out_grads[:] = [raw.ZerosLike(t) if dy is None and t.dtype.kind in "fc" else dy
                            for dy, t in zip(out_grads, op.outputs, strict=True)]

    def in_grads(self, op: Any, rule: Any, out_grads: list[Any]) -> Sequence[Any]:
        """Runs the rule of a record."""
        live = self.paths.live
        op.skip_input_indices = tuple([i for i, t in enumerate(self.paths.view.inputs(op)) if id(t) not in live])
        return call_rule(rule, op, out_grads)


class _InGraph(_AtOnce):
    """A sweep that adds operations to a graph, also for what was recorded in eager mode."""

    checked = staticmethod(checked_in_grad)

    def __init__(self, call: Call, paths: Paths):
        super().__init__(paths)
        self._call = call

    def fill(self, op: Operation, out_grads: list[Any]) -> None:
        """Fills in zeros for floating outputs."""
        self._call.graph._around.original_op = op if isinstance(op, Operation) else None
        super().fill(op, out_grads)

    def in_grads(self, op: Operation, rule: Any, out_grads: list[Any]) -> Sequence[Any]:
        """Applies the rule of an operation or a record."""
        around = self._call.graph._around
        around.original_op = op if isinstance(op, Operation) else None
        found = apply_rule(self._call, op, rule, out_grads)
        around.scope, around.original_op = self._call.scope, None
        return found


class _WithZeros(_InGraph):
    """A sweep in a trial: where the rule of a loop gives None, zeros go on, as in TensorFlow."""

    def expose(self, op: Operation) -> None:
        """Leaves an operation as it is: what a trial builds never runs."""

    def ended(self, op: Any, i: int, rule: Any) -> None:
        """Sends zeros for the inputs of a loop."""
        super().ended(op, i, rule)
        t = self.paths.view.inputs(op)[i]
        if isinstance(op, Operation) and is_loop(op) and (zeros := zero(t)) is not None:
            self.send(t, zeros)


def _zeros_of_loops(call: Call, paths: Paths, found: list[Any]) -> list[Any]:
    """Replaces None by zeros where TensorFlow's loops give zeros; see `gradients.core.loop_zeros`."""
    missing = [x for x, g in zip(paths.xs, found, strict=True) if g is None and carries_gradient(x)]
    if not missing or not any(isinstance(op, Operation) and is_loop(op) for op in paths.ops):
        return found
    with trial_of(call) as (trial, graph), unrecorded():
        arriving = [graph._placeholder(value_of(y).dtype, None, "dy") for y in paths.ys]
        tried = _WithZeros(trial, paths).run(arriving, reversed(paths.ops))
    return [zero(x) if g is None and t is not None else g for x, g, t in zip(paths.xs, found, tried, strict=True)]
