"""A graph that is the body of a function or of a control-flow operation."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .constant_value import static_value
from .context import root_graph, use
from .conversion import constant_in
from .dtypes import DType
from .eager import EagerTensor
from .graph import Graph, Operation, Tensor
from .op_signature import Spec
from .opdef import registry
from .shape import Shape

_SMALL = 4  # eager tensors of up to this many elements become constants, where no tape can be watching them


_OF_A_LIBRARY: Any = object()


class FuncGraph(Graph):
    """A graph with inputs and outputs that may use tensors of outer graphs.

    Attributes:
      name: the function's name.
      outer_graph: the graph it was made in, or None for eager mode.
      inputs: the placeholders for the arguments, then those for captures.
      outputs: the tensors it returns.
      captured: the outer tensors that it uses, in the order of their placeholders.
      loop_start: if it is a loop's body, the initial values of the loop variables.
      kept: tensors that must not be recomputed, and the outputs, by number, of the operation that holds this graph with
        their values.
      counted: for a loop's body, the output of the loop that counts the iterations, None if there is none.
      waits_for: the outer operations that `control_dependencies` named in it.
      discarded: whether it is temporary.
      outside: by the id of a tensor of this graph, the outer tensor that it represents.
    """

    building_function = True
    kept: Sequence[tuple[Tensor, int]] = ()
    counted: int | None = None

    def __init__(self, name: str, outer_graph: Any = _OF_A_LIBRARY, discarded: bool = False):
        super().__init__()
        self._takes_any = outer_graph is _OF_A_LIBRARY  # also tensors of graphs that are not around it
        outer_graph = None if self._takes_any else outer_graph
        self.name = name
        self.discarded = discarded
        self._outer_graph = outer_graph
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.captured: list[Any] = []
        self.loop_start: list[Any] = []
        self.outside: dict[int, Any] = {}
        self.waits_for: dict[Operation, None] = {}
        self.keeps_effects = outer_graph is None or outer_graph.keeps_effects
        self._captures: dict[int, Tensor] = {}
        self.structured_outputs: Any = None
        if outer_graph is not None:
            self.seed = outer_graph.seed
            self._collections = outer_graph._collections  # collections of a branch belong to the program

    @property
    def outer_graph(self) -> Graph:
        """The graph around this one; this thread's outermost one for what was made in eager mode."""
        return root_graph() if self._outer_graph is None else self._outer_graph

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables outside of graphs that it uses, in order of first use."""
        found = [getattr(c, "_variable", None) for c in self.captured]
        return tuple([v for v in found if v is not None])

    def add_input(self, dtype: DType, shape: Shape, name: str) -> Tensor:
        """Adds a placeholder for one more argument."""
        placeholder = self._placeholder(dtype, shape, name)
        self.inputs.append(placeholder)
        return placeholder

    def _placeholder(self, dtype: DType, shape: Shape, name: str) -> Tensor:
        attrs = {"dtype": dtype, "shape": shape}
        with self._around.having(control=[], scope=""):  # arguments wait for nothing
            op = self._add(registry["Placeholder"], (), attrs, self.unique_name(name), (Spec.of(dtype, shape),))
        return op.outputs[0]

    def _control_element(self, c: Any) -> Operation | None:
        # Outer operations run before the operation that holds this graph.
        element = c._as_graph_element() if hasattr(c, "_as_graph_element") else c
        op = element.op if isinstance(element, Tensor) else element
        if isinstance(op, EagerTensor) or (isinstance(op, Operation) and op.graph is self and op.type == "Placeholder"):
            return None  # available already
        if isinstance(op, Operation) and op.graph is not self:
            outer = self._outer_graph
            while outer is not None and outer is not op.graph:
                outer = outer._outer_graph
            if outer is not None:
                self.waits_for[op] = None
                return None
        return super()._control_element(c)

    def capture(self, tensor: Any, name: str | None = None) -> Tensor:
        """Returns the placeholder of an outer tensor, adding it if necessary.

        Args:
          tensor: an eager tensor, or a tensor of an outer graph.
          name: a name for the placeholder.
        Raises: ValueError for a tensor of an unrelated graph.
        """
        known = self._captures.get(id(tensor))
        if known is not None:
            return known
        for graph in around(self):
            if id(tensor) in graph._around.copies:
                copy: Tensor = graph._around.copies[id(tensor)]
                return copy if copy.graph is self else self.capture(copy)
        if isinstance(tensor, EagerTensor):
            if tensor.dtype.kind in "iub" and tensor._value.size <= _SMALL:
                with self._around.having(control=[]):
                    name = self.unique_name(name or "Const")
                    inner = constant_in(self, np.asarray(tensor._value), name, tensor.dtype)
                self._captures[id(tensor)] = inner
                self.outside[id(inner)] = tensor
                self._keep_alive(tensor)
                return inner
            source: Any = tensor
        else:
            if not self._may_take(tensor):
                return super().capture(tensor)
            near = self._outer_graph is None or self.discarded or tensor.graph is self._outer_graph
            # A temporary graph leaves nothing in outer ones.
            source = tensor if near else self._outer_graph.capture(tensor)  # type: ignore[union-attr]  # a body has one
        if source is not tensor and id(source) in self._captures:  # named in the outer graph
            inner = self._captures[id(tensor)] = self._captures[id(source)]
            self._keep_alive(tensor)
            return inner
        inner = self._placeholder(tensor.dtype, tensor._spec.shape, name or "captured")
        inner.op.device = getattr(source, "_device", "")  # of a variable
        if isinstance(source, Tensor) and source.dtype.kind in "iub":
            inner._static = static_value(source)  # so that shapes are known inside as far as they are outside
        self.inputs.append(inner)
        self.captured.append(source)
        self._captures[id(tensor)] = self._captures[id(source)] = inner
        self.outside[id(inner)] = source
        self._keep_alive(tensor)
        return inner

    def _may_take(self, tensor: Any) -> bool:
        """Returns whether a tensor is of a graph around this one.

        A library's graph, made to try a function, takes others, too, but none from inside of it.
        """
        root: Any = self
        while root._outer_graph is not None:
            root = root._outer_graph
            if root is tensor.graph:
                return True
        graph = tensor.graph if isinstance(tensor, Tensor) else None
        while graph is not None and graph is not self:
            graph = graph._outer_graph
        return getattr(root, "_takes_any", False) and graph is None

    def _keep_alive(self, tensor: Any) -> None:
        # The table is keyed by id, so its tensors must be kept alive.
        self._scoped_state.setdefault("captured", []).append(tensor)


@contextlib.contextmanager
def in_their_turn(graph: Graph | None, *bodies: FuncGraph) -> Iterator[None]:
    """Makes the operation built inside run after the operations that its sub-graphs wait for.

    Args:
      graph: the graph it is added to; None in eager mode.
      bodies: its sub-graphs.
    """
    ops = {op: None for body in bodies for op in body.waits_for}
    with graph.control_dependencies(ops) if graph is not None and ops else contextlib.nullcontext():
        yield


def stands_for(tensor: Any) -> Any:
    """Returns the outer tensor that a placeholder of a branch, body or function captures; else the tensor itself."""
    while type(tensor) is Tensor and tensor.graph.building_function:
        outer = tensor.graph.outside.get(id(tensor))  # type: ignore[attr-defined]  # it is a FuncGraph
        if outer is None:
            break
        tensor = outer
    return tensor


def around(graph: Graph | None) -> Iterator[Graph]:
    """Yields the graph and the outer ones, the innermost first."""
    while graph is not None:
        yield graph
        graph = graph._outer_graph


def unite_captures(graphs: Sequence[FuncGraph], n_args: int) -> list[Any]:
    """Gives all sub-graphs the same captured inputs, in the same order; returns the captures.

    Args:
      graphs: the sub-graphs.
      n_args: the number of their inputs before the captured ones.
    """
    outer: dict[int, Any] = {}
    for g in graphs:
        for t in g.captured:
            outer.setdefault(id(t), t)
    for g in graphs:
        inner = {id(t): p for t, p in zip(g.captured, g.inputs[n_args:], strict=True)}
        with use(g):
            placeholders = [
                inner[i] if i in inner else g._placeholder(t.dtype, t._spec.shape, "unused") for i, t in outer.items()
            ]
        g.inputs[n_args:] = placeholders
        g.captured = list(outer.values())
    return list(outer.values())
