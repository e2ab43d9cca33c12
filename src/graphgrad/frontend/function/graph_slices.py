"""Functions from some tensors of a graph to others of it, and their gradients, run in two halves."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.executor.backend.xla import to_numpy
from graphgrad.executor.runtime.executable import Executable
from graphgrad.executor.runtime.random_positions import RandomPositions
from graphgrad.frontend.structure.composites import all_tensors, put_together
from graphgrad.gradients.bodies.subgraphs import carries, copy_list, needed_ops
from graphgrad.gradients.core.backprop import gradients
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.ir import dtypes, eager
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.composite import Composite
from graphgrad.ir.values.indexed_slices import dense
from graphgrad.ir.values.variable_store import Cell

from .own_resources import own_handle
from .tape_retention import RecordedRun

_building = threading.RLock()  # only one thread at a time adds gradients to graphs


class GraphSlice:
    """A function from some tensors of a graph to others of it.

    Attributes:
      graph: the graph.
      inputs, outputs: the tensors.
      targets: operations to run besides.
      read: what users' gradient functions read, and the function does not: placeholders, and what they stand for.
    """

    def __init__(self, graph: FuncGraph, inputs: Sequence[Tensor], outputs: Sequence[Tensor],
                 targets: Sequence[Operation], handles: dict[int, Any], positions: RandomPositions,
                 engine: str, read: list[tuple[Tensor, Any]] | None = None):
        self.graph = graph
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.targets, self.handles, self.positions, self.engine = targets, handles, positions, engine
        self.read = [] if read is None else read
        self._more: list[Any] = []  # the values among them
        self._fed = [i for i, p in enumerate(self.inputs) if p.dtype is not dtypes.resource]
        self._executable: Executable | None = None
        self._reverse: Reverse | None = None  # see `reverse`
        self.wider: dict[tuple[int, ...], GraphSlice] = {}  # the same with further outputs, by their ids

    def _resolve(self, handle: Tensor) -> Cell:
        held = self.handles.get(id(handle))
        cell: Cell = (own_handle(self.graph, handle.op) if held is None else held)._value
        return cell

    def values(self, given: Sequence[Any], drawn: dict[Operation, int] | None = None) -> list[Any]:
        """Computes the outputs: NumPy arrays, or buffers of the device; `drawn` as for `Executable.run`."""
        if self._executable is None:
            fetches = list({id(t): t for t in self.outputs}.values())
            numbers = {id(t): i for i, t in enumerate(fetches)}
            self._places = [numbers[id(t)] for t in self.outputs]
            self._scattered = len(fetches) < len(self.outputs)
            own = set(map(id, self.inputs))
            more = [(p, t) for p, t in self.read if p.dtype is not dtypes.resource and id(p) not in own]
            self._more = [t._value for _, t in more]
            feeds = [*[self.inputs[i] for i in self._fed], *[p for p, _ in more]]
            self._executable = Executable(fetches, self.targets, feeds, self._resolve, self.positions, self.engine)
        values = self._executable([*[given[i] for i in self._fed], *self._more], drawn)
        return [values[p] for p in self._places]

    def arrays(self, values: Sequence[Any]) -> list[Any] | None:
        """Computes the outputs from arrays, if that takes no more than one function; else returns None."""
        executable = self._executable
        if executable is None or (swift := executable.swift) is None or len(self._fed) != len(values) or self._more:
            return None
        found: list[Any] | None = swift.arrays(values)
        return found if found is None or not self._scattered else [found[p] for p in self._places]

    def run(self, given: Sequence[Any], drawn: dict[Operation, int] | None = None) -> list[Any]:
        """Computes the outputs as eager tensors, recorded by tapes; without tapes, values may replace tensors."""
        if eager.listening.recorders and any(carries(p) for p in self.inputs):
            return self._recorded(given, {} if drawn is None else drawn)
        values = [t._value if isinstance(t, EagerTensor) else t for t in given]
        return self._tensors(self.outputs, self.values(values, drawn))

    @staticmethod
    def _tensors(outputs: Sequence[Tensor], values: Sequence[Any]) -> list[Any]:
        return [EagerTensor(to_numpy(v) if t.dtype.kind == "o" else np.asarray(to_numpy(v)), t.dtype)
                for v, t in zip(values, outputs, strict=True)]

    @property
    def reverse(self) -> Reverse:
        """Returns the part's gradient."""
        if self._reverse is None:
            with _building:
                self._reverse = self._reverse or Reverse(self)
        return self._reverse

    def _recorded(self, given: Sequence[Any], drawn: dict[Operation, int]) -> list[Any]:
        """Runs, and keeps the values that tapes need."""
        return RecordedRun(self, given, drawn).tensors[: len(self.outputs)]

    def _with(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor] | None = None,
              targets: Sequence[Operation] | None = None) -> GraphSlice:
        """Makes a part with other outputs; with other inputs and targets, it counts random operations separately."""
        return GraphSlice(self.graph, self.inputs if inputs is None else inputs, outputs,
                     self.targets if targets is None else targets, self.handles,
                     self.positions if inputs is None else RandomPositions(), self.engine, self.read)


class Reverse:
    """The gradient of a `GraphSlice`: operations added to its graph, run in two halves.

    Attributes:
      part: the part.
      kept: what the second half needs of the first one, besides outputs.
      forward: the part with `kept` as further outputs. Its gradient differentiates the kept values.
      backward: from what crosses over and the gradients of the part's outputs to those of its inputs.
    """

    def __init__(self, part: GraphSlice):
        self.part = part
        self.again: dict[tuple[int, ...], GraphSlice] = {}  # computes `kept` later, see `RecordedRun`
        graph = part.graph
        self.ys = [i for i, t in enumerate(part.outputs) if carries(t) and t.dtype is not dtypes.resource]
        self.xs = [i for i, t in enumerate(part.inputs) if carries(t)]
        first, before = len(graph._operations), len(graph.captured)
        with use(graph), none_allowed(), graph._own_gradients(), graph.in_two_runs():
            outputs = [part.outputs[i] for i in self.ys]
            self.dys = [graph._placeholder(t.dtype, t._spec.shape, "grad_ys") for t in outputs]
            xs = [part.inputs[i] for i in self.xs]
            found = gradients(outputs, xs, self.dys, stop_gradients=xs) if outputs else [None] * len(xs)
            self.found, flat = _flattened(found)
        new = graph.captured[before:]
        part.read += zip(graph.inputs[len(graph.inputs) - len(new) :], new, strict=True)
        part.handles.update((id(p), t) for p, t in part.read if p.dtype is dtypes.resource)
        self._read = list(part.read)
        crossing = _crossing(part, flat, self.dys, first)
        self._handles = [i for i, t in enumerate(part.inputs) if t.dtype is dtypes.resource]
        given = {id(t) for t in part.outputs}
        self.kept = [t for t in crossing if id(t) not in given]
        self.forward = part._with([*part.outputs, *self.kept])
        places = {id(t): i for i, t in enumerate(self.forward.outputs)}
        self._crossing = [places[id(t)] for t in crossing]
        handles = [part.inputs[i] for i in self._handles]
        self.backward = part._with(flat, [*handles, *[p for p, _ in self._read], *crossing, *self.dys], ())

    def gradient(self, given: Sequence[Any], values: Sequence[Any], dys: Sequence[Any],
                 drawn: dict[Operation, int]) -> list[Any]:
        """Computes the gradients with respect to all inputs of the part.

        Args:
          given: its inputs.
          values: the outputs of `forward`, as tensors or as their values; there may be more.
          dys: the gradients of its outputs; there may be more, too.
          drawn: where random operations began.
        """
        arrived = [raw.ZerosLike(values[i]) if dys[i] is None else convert_to_tensor(dense(dys[i]))
                   for i in self.ys]
        crossing = [values[i] for i in self._crossing]
        if current_graph() is not None or eager.listening.recorders:
            crossing = [v if isinstance(v, EagerTensor) else GraphSlice._tensors([self.forward.outputs[i]], [v])[0]
                        for i, v in zip(self._crossing, crossing, strict=True)]
        tensors = [*[given[i] for i in self._handles], *[t for _, t in self._read], *crossing, *arrived]
        if current_graph() is not None:
            flat = self._in_graph(tensors)
        else:
            self.backward.positions.set(drawn)
            flat = self.backward.run(tensors, dict(drawn))
        found: list[Any] = [None] * len(self.part.inputs)
        for i, g in zip(self.xs, _unflattened(self.found, flat), strict=True):
            found[i] = g
        return found

    def _in_graph(self, tensors: Sequence[Any]) -> list[Any]:
        """Adds the second half to the graph that is being built."""
        graph = current_graph()
        assert graph is not None
        inside = {id(p): here(graph, t) for p, t in zip(self.backward.inputs, tensors, strict=True)}
        copy_list(graph, needed_ops(self.backward.outputs, inside), inside)
        return [inside[id(t)] for t in self.backward.outputs]


def _crossing(part: GraphSlice, flat: Sequence[Tensor], dys: Sequence[Tensor], first: int) -> list[Tensor]:
    """Returns the tensors that the second half of a gradient needs of the first one and of the inputs.

    Args:
      part: the part that is differentiated.
      flat: the gradients.
      dys: those of its outputs, from which they follow.
      first: the number of the first operation that was added for them.
    """
    graph = part.graph
    read = {id(p) for p, _ in part.read}
    inputs = {id(t) for t in (*part.inputs, *dys)} | read
    needed = needed_ops(flat, inputs)
    # A recording loop is fused with the forward loop.
    ahead = {op.index for op in needed if op.index >= first and op.index in graph._notes.joints}
    ahead |= {index for index in graph._notes.early if index >= first}
    ahead = {op.index for op in needed_ops([t for i in ahead for t in graph._operations[i].outputs], inputs)}
    # The second half; it gets the values of variables instead of their handles.
    late = {op.index for op in needed if op.type == "VariableOf" or (op.index >= first and op.index not in ahead)}
    kept = {id(t): t for op in needed if op.index in late for t in op.inputs if t.op.index not in late}
    kept.update((id(t), t) for t in flat if t.op.index not in late)
    # It gets the inputs, too: a tape that begins between the two halves treats them as different tensors.
    fresh = read.union([id(t) for t in part.inputs if t.dtype is dtypes.resource], map(id, dys))
    return [t for i, t in kept.items() if i not in fresh and (t.op.type != "Const" or t.op.control_inputs)]


def here(graph: Any, t: Any) -> Any:
    """Returns what stands for a tensor, or the handle of a resource, in a graph that is being built."""
    return t if getattr(t, "graph", None) is graph else graph.capture(t) if t.dtype is dtypes.resource else \
        convert_to_tensor(t)


def _flattened(found: Sequence[Any]) -> tuple[list[Any], list[Tensor]]:
    """Flattens gradients to marks (None, True for a tensor, the spec of slices) and tensors."""
    marks = [None if g is None else g._whole_spec if isinstance(g, Composite) else True for g in found]
    return marks, [convert_to_tensor(t) for t in all_tensors([g for g in found if g is not None])]


def _unflattened(marks: Sequence[Any], flat: Sequence[Any]) -> list[Any]:
    made = iter(put_together([m for m in marks if m is not None], flat))
    return [None if m is None else next(made) for m in marks]
