"""Variables by their full names: those that exist are shared, others are created.

A graph keeps one table of the variables that `get_variable` made, and so does one for `wrap_function`. In eager mode
there is no table: each call makes a new variable.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.graph.init_scope import init_scope, variables_graph
from graphgrad.ir import dtypes
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.graph import Graph
from graphgrad.ir.scopes import eager_scope, name_scope
from graphgrad.ir.shape import TensorShape, is_fully_defined
from graphgrad.ir.source import user_source

from .partitioned import PartitionedVariable, cut, initial_part, mark, partitions_for
from .variable import VariableV1
from .variable_settings import VariableAggregation, VariableSynchronization


class _Named:
    """The variables of a graph, by their full names."""

    def __init__(self) -> None:
        self.variables: dict[str, VariableV1] = {}
        self.partitioned: dict[str, PartitionedVariable] = {}


def _named(graph: Graph) -> _Named:
    found: _Named | None = graph._scoped_state.get("named_variables")
    if found is None:
        found = graph._scoped_state["named_variables"] = _Named()
    return found


def named_variable(name: str, shape: Any = None, dtype: Any = dtypes.float32, initializer: Any = None,
                   regularizer: Any = None, reuse: Any = None, trainable: Any = None, collections: Any = None,
                   caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
                   use_resource: Any = None, constraint: Any = None,
                   synchronization: Any = VariableSynchronization.AUTO,
                   aggregation: Any = VariableAggregation.NONE) -> Any:
    """Reuses or creates the variable of the full name `name`."""
    dtype = as_dtype(dtype)
    graph = variables_graph()
    if partitioner is not None and graph is not None and not (shape is not None and len(TensorShape(shape)) == 0):
        return _get_partitioned(_named(graph), partitioner, name, shape, dtype, initializer, {
            "regularizer": regularizer, "reuse": reuse, "trainable": trainable, "collections": collections,
            "validate_shape": validate_shape, "use_resource": use_resource, "constraint": constraint,
            "synchronization": synchronization, "aggregation": aggregation})
    known = {} if graph is None else _named(graph).variables
    if name in known:
        return _shared(known[name], name, shape, dtype, reuse)
    if reuse is True and graph is not None:
        raise ValueError(f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to "
                         f"set reuse=tf.AUTO_REUSE in VarScope?\n  Asked for at {user_source(2)}")
    initial_value, wanted = _initial_value(name, shape, dtype, initializer)
    with _outside():
        variable = VariableV1(initial_value, trainable, collections, validate_shape, caching_device, name,
                              dtype=wanted, constraint=constraint, use_resource=True,
                              synchronization=synchronization, aggregation=aggregation)
    variable._fetch_as(use_resource)
    known[name] = variable
    if regularizer:  # {} and False, too, are none
        with name_scope(f"{name}/Regularizer/"):
            loss = regularizer(variable)
        if loss is not None and graph is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def _get_partitioned(there: _Named, partitioner: Any, name: str, shape: Any, dtype: DType, initializer: Any,
                     arguments: dict[str, Any]) -> Any:
    """Reuses or creates a partitioned variable."""
    known = there.partitioned
    if shape is None and initializer is not None and not callable(initializer):
        value = convert_to_tensor(initializer)
        shape, dtype = value.shape, value.dtype
    if name in there.variables:
        raise ValueError(f"A partitioner was provided, but an unpartitioned version of the variable was found: {name}."
                         f"\n  Asked for at {user_source(2)}\n  Fix: use the scope without a partitioner")
    partitions = partitions_for(partitioner, name, shape, dtype)
    if name in known:
        whole = _shared(known[name], name, shape, dtype, arguments["reuse"])
        if whole._get_partitions() != partitions:
            raise ValueError(f"Trying to reuse partitioned variable {name}, but specified partitions {partitions} and "
                             f"found partitions {whole._get_partitions()}.\n  Asked for at {user_source(2)}")
        return whole
    full = [d or 0 for d in TensorShape(shape).as_list()]
    initializer = default_initializer(name, dtype) if initializer is None else initializer
    initializer = initializer() if inspect.isclass(initializer) else initializer
    parts = []
    for k, (offset, size) in enumerate(cut(full, partitions)):
        initial = functools.partial(initial_part, initializer, size, offset, full, dtype)
        with _outside():
            part = named_variable(f"{name}/part_{k}", initializer=initial, dtype=dtype, **arguments)
        mark(part, name, full, offset, size)
        parts.append(part)
    whole = known[name] = PartitionedVariable(name, full, dtype, parts, partitions)
    return whole


@contextlib.contextmanager
def _outside() -> Iterator[None]:
    """Leaves functions and branches, and their name scopes."""
    graph = current_graph()
    if graph is not None and graph.building_function:
        with init_scope(), root_scope():
            yield
    else:
        yield


def root_scope() -> contextlib.AbstractContextManager[Any]:
    """Leaves all name scopes: a variable's name depends on variable scopes, and on custom getters, only."""
    graph = current_graph()
    return _without_prefix() if graph is None else graph.name_scope(None)


@contextlib.contextmanager
def _without_prefix() -> Iterator[None]:
    before, eager_scope.prefix = eager_scope.prefix, ""
    try:
        yield
    finally:
        eager_scope.prefix = before


def _shared(variable: Any, name: str, shape: Any, dtype: DType, reuse: Any) -> Any:
    asked = f"\n  Asked for at {user_source(3)}"
    if reuse is False:  # None, possible only by assigning to a scope's `_reuse`, reuses existing variables
        first = next(iter(variable)) if isinstance(variable, PartitionedVariable) else variable
        raise ValueError(f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                         f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n\n  {first.op.source}{asked}")
    if not variable.shape.is_compatible_with(shape):
        raise ValueError(f"Trying to share variable {name}, but specified shape {TensorShape(shape)} and found shape "
                         f"{variable.shape}.{asked}")
    if dtype is not variable.dtype:
        raise ValueError(f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
                         f"{variable.dtype.name}.{asked}")
    return variable


def _initial_value(name: str, shape: Any, dtype: DType, initializer: Any) -> tuple[Any, DType | None]:
    """Returns the initial value and dtype for `Variable`."""
    if initializer is not None and not callable(initializer):
        if shape is not None:
            raise ValueError(f"If initializer is a constant, do not specify shape.\n  Asked for at {user_source(4)}")
        return initializer, None
    if initializer is None:
        if shape is None:
            raise ValueError(f"Variable {name} did not get an initializer, so its `shape` argument must be specified.\n"
                             f"  Asked for at {user_source(4)}")
        initializer = default_initializer(name, dtype)
    if inspect.isclass(initializer):
        initializer = initializer()
    static = TensorShape(shape)
    if shape is not None and is_fully_defined(static._dims):
        return functools.partial(initializer, static.as_list(), dtype=dtype), dtype
    if _needs_no_arguments(initializer):
        return initializer, None
    raise ValueError("The initializer passed is not valid. It should be a callable with no arguments and the shape "
                     "should not be provided or an initializer of `tf.initializers`, and `shape` should be fully "
                     f"defined.\n  Asked for at {user_source(4)}\n"
                     f"  Fix: give get_variable('{name}', ...) a shape without unknown sizes, not {static}")


def default_initializer(name: str, dtype: DType) -> Callable[..., Any]:
    """Returns the initializer for a variable without one: Glorot's for floats, zeros for the rest."""
    from .initializers import Zeros
    from .scaling_initializers import GlorotUniform

    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype is dtypes.string:
        return Zeros()
    raise ValueError(f"An initializer for variable {name} of {dtype} is required. Fix: give initializer=")


def _needs_no_arguments(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
