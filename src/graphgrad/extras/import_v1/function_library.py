"""The functions that a `GraphDef` brings along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.ir.context import current_graph
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph_messages import GraphDef

from .custom_gradients import GradientFunction
from .import_limits import SizeLimit, refused


class FunctionLibrary:
    """The functions of a graph, by name.

    Args:
      library: a `FunctionDefLibrary`.
      gradient_function: tells what is known of a gradient function besides its message.
    """

    def __init__(self, library: Any, gradient_function: Callable[[str], GradientFunction] | None = None):
        self._messages = {f.signature.name: f for f in library.function}
        self._library = library
        self.gradients = {g.registered_op_type: g.gradient_func for g in library.registered_gradients}
        self._gradients = {g.function_name: g.gradient_func for g in library.gradient}
        self.gradient_function = gradient_function or (lambda name: GradientFunction())

    def has(self, name: str) -> bool:
        """Returns whether there is a function of a name."""
        return name in self._messages

    def gradient_of(self, name: str) -> str | None:
        """Returns the name of a function's gradient function, if it has one."""
        return self._gradients.get(name)

    def message(self, name: str) -> Any:
        """Returns the `FunctionDef` of a name; raises ValueError if there is none."""
        if name not in self._messages:
            raise ValueError(f"graph_def is invalid: the function {name!r} is not in its library. "
                             "Fix: use another copy of the graph")
        return self._messages[name]

    def read(self, name: str, captured: Sequence[Any] = ()) -> FuncGraph:
        """Makes the graph of a function.

        Args:
          name: the function's name.
          captured: outer tensors that take the places of its last arguments.
        Raises: ValueError for a function that is invalid.
        """
        message = self.message(name)
        count = len(message.signature.input_arg) - len(captured)
        if count < 0:
            raise ValueError(f"graph_def is invalid: {name!r} has fewer arguments than it captures")
        graph = FuncGraph(name, current_graph())
        from .import_graph import reader_of

        budget = SizeLimit(GraphDef(library=self._library))
        with refused(), graph._own_gradients(), budget.within(name):
            return reader_of(graph, self, budget).body(message, graph, count, captured)
