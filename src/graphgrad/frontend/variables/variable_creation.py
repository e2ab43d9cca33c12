"""The creation of variables: where a new one lives, and how it gets its initial value."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphgrad.errors import describe
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.graph.init_scope import init_scope, outermost_graph
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import Inherited, current_graph
from graphgrad.ir.conversion import constant, convert_to_tensor
from graphgrad.ir.dtypes import DType
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import eager_scope, name_scope
from graphgrad.ir.shape import Shape, as_shape, compatible, is_fully_defined, shape_str
from graphgrad.ir.source import source_of_operation, user_source
from graphgrad.ir.values.variable_store import Cell, Handle

creation_numbers = itertools.count()  # gives the creation order of variables


class _Listening(Inherited):
    """This thread's listeners for variables created by a function being traced."""

    by_reference = ("assignments",)

    def __init__(self) -> None:
        self.watch: Callable[[], None] | None = None
        self.assignments: list[Operation] = []


_listening = _Listening()


@contextlib.contextmanager
def watching_creation(watch: Callable[[], None]) -> Iterator[list[Operation]]:
    """Calls `watch` for each variable that is created inside, while a function is traced.

    Yields: the operations that assign initial values which are computed in the function.
    """
    before = _listening.watch, _listening.assignments
    _listening.watch, _listening.assignments = watch, []
    try:
        yield _listening.assignments
    finally:
        _listening.watch, _listening.assignments = before


class Creation:
    """The creation of one variable.

    Args:
      variable: the object, which gets dtype, shape and handle.
      initial_value: what to convert to the first value, or a function that gives it.
      validate_shape: whether the shape is that of the initial value.
      name: a name; "Variable" if not given.
      dtype: the dtype; that of the initial value if not given.
      shape: the shape, if it is another one than the initial value's.
      collections: names of collections to join; those of all variables if not given.
    """

    def __init__(self, variable: Any, initial_value: Any, validate_shape: bool, name: str | None, dtype: DType | None,
                 shape: Any, collections: Any):
        self._variable = variable
        self._initial = initial_value
        self._validate_shape = validate_shape
        self._name = name or "Variable"
        self._dtype = dtype
        self._given_shape = shape
        self._collections = collections

    def run(self) -> None:
        """Creates it in the current graph, outside of functions, branches and loops being built, or in eager mode."""
        graph = current_graph()
        if graph is not None and graph.building_function and _listening.watch is not None:
            _listening.watch()
            if outermost_graph() is None:
                self._evaluate_in_function()
                if isinstance(self._initial, Tensor):
                    self._outside_of_function(graph)
                    return
        self._initial = _liftable(self._initial, self._dtype)
        if graph is not None and (graph.building_function or graph._around.control):
            with init_scope():
                self._in(current_graph())
        else:
            self._in(graph)

    def _in(self, graph: Graph | None) -> None:
        if graph is None:
            self._eagerly()
        else:
            self._in_graph(graph)
            _collect(graph, self._variable, self._collections)

    def _eagerly(self) -> None:
        initial = self._initial() if callable(self._initial) else self._initial
        value = convert_to_tensor(own_copy(initial), self._dtype)
        self._settle(value)
        name = self._name
        if not isinstance(name, str):
            raise ValueError(f"the name of a variable must be a string, not {name!r}.\n  Fix: give name='<text>'")
        self._hold(value._value, name[:-1] if name.endswith("/") else eager_scope.prefix + name)

    def _hold(self, value: Any, name: str) -> None:
        """Stores the value itself, as variables outside of graphs do; None before initialization."""
        variable = self._variable
        variable._graph = None
        variable._handle_name = name
        variable._handle = Handle(Cell(value, name, variable._dtype, variable._shape))
        variable._handle._variable = variable  # custom_gradient finds the variables that a function uses

    def _evaluate_in_function(self) -> None:
        """Makes an initial value a tensor if the function that is being traced computes it."""
        with name_scope("Initializer"):
            value = self._initial() if callable(self._initial) else self._initial
            self._initial = convert_to_tensor(value, self._dtype, "initial_value") if _is_computed(value) else value

    def _outside_of_function(self, graph: Graph) -> None:
        """Creates it outside of the function that is being traced, which assigns its initial value."""
        self._settle(self._initial)
        self._hold(None, f"{graph._around.scope}/{self._name}" if graph._around.scope else self._name)
        variable = self._variable
        assignment = raw.AssignVariableOp(variable._handle, self._initial, dtype=variable._dtype)
        _listening.assignments.append(assignment)

    def _in_graph(self, graph: Graph) -> None:
        self._variable._graph = graph
        around = graph._around
        source = around.source
        with graph.name_scope(self._name) as scope:
            with graph.name_scope("Initializer"):
                initial = self._initial() if callable(self._initial) else self._initial
                around.source = source or source_of_operation()  # found once for all of the operations below
                try:
                    value = convert_to_tensor(initial, self._dtype, "initial_value")
                    self._settle(value)
                    around.scope = scope[:-1]  # of the variable, no longer of its initializer
                    self._add_operations(graph, scope, value)
                finally:
                    around.source = source

    def _add_operations(self, graph: Graph, scope: str, value: Any) -> None:
        """Adds the handle, the assignment of the initial value and a read."""
        variable = self._variable
        dtype = variable._dtype
        variable._handle_name = scope[:-1]
        variable._handle = raw.VarHandleOp(dtype=dtype, shape=variable._shape, shared_name=scope[:-1], name=scope)
        variable._handle._variable = variable
        variable._initial_value = value
        assignment = raw.AssignVariableOp(variable._handle, value, dtype=dtype, name="Assign")
        variable._initializer_op = assignment
        graph._scoped_state.setdefault("initializers", set()).add(assignment.index)
        variable._snapshot = variable._read(graph._names.unique(f"{scope}Read/ReadVariableOp") + "/")

    def _settle(self, value: Any) -> None:
        """Sets dtype and static shape."""
        variable, shape = self._variable, self._given_shape
        variable._dtype = value.dtype
        own: Shape = value._spec.shape
        if shape is not None:
            given = as_shape(shape)
            if not compatible(given, own):
                raise ValueError(f"In this `tf.Variable` creation, the initial value's shape ({shape_str(own)}) is not "
                                 f"compatible with the explicitly supplied `shape` argument ({shape}).")
            variable._shape = given
        elif self._validate_shape:
            if variable._needs_shape and not is_fully_defined(own):
                raise ValueError(f"initial_value must have a shape specified: {value}\n"
                                 f"  Asked for at {user_source(2)}\n"
                                 "  Fix: give it a static shape, or validate_shape=False")
            variable._shape = own
        else:
            variable._shape = own if variable._needs_shape is False else None


def own_copy(value: Any) -> Any:
    """Copies a NumPy array that the caller might change."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _is_computed(value: Any) -> bool:
    """Returns whether an initial value is, or contains, a graph tensor."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_computed, value))
    return isinstance(value, Tensor) or hasattr(value, "_as_tensor")


def _liftable(value: Any, dtype: DType | None) -> Any:
    """Returns an initial value that does not belong to a branch or loop being built."""
    graph = current_graph()
    if not isinstance(value, Tensor) or graph is None or not graph.building_function or value.graph is not graph:
        return value
    known = constant_value(value)
    if known is None:
        raise ValueError(describe("Variable", value.name, "its initial value is a tensor of the branch, loop or "
                                  "function being built", f"initial_value={value}", str(user_source(2)),
                                  "give a function, e.g. tf.Variable(lambda: tf.zeros([10])), or use tf.init_scope()"))
    return lambda: constant(known, dtype or value.dtype)


def _collect(graph: Graph, variable: Any, collections: Any) -> None:
    names = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    if variable.trainable and GraphKeys.TRAINABLE_VARIABLES not in names:
        names.append(GraphKeys.TRAINABLE_VARIABLES)
    graph.add_to_collections(names, variable)
