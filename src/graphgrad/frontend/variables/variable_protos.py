"""Converts variables to messages, and messages to variables of existing operations."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.context import get_default_graph
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.graph_messages import VariableDef


def variable_def(v: Any) -> Any:
    """Makes the message of a graph's variable."""
    made = VariableDef(variable_name=v.name, initializer_name=v.initializer.name, snapshot_name=v._snapshot.name,
                       is_resource=True, trainable=v.trainable,
                       synchronization=_number(v.synchronization), aggregation=_number(v.aggregation))
    if v._initial_value is not None:
        made.initial_value_name = v._initial_value.name
    info = v._get_save_slice_info()
    if info is not None:
        part = made.save_slice_info_def
        part.full_name = info.full_name
        part.full_shape.extend(info.full_shape)
        part.var_offset.extend(info.var_offset)
        part.var_shape.extend(info.var_shape)
    return made


def _number(value: Any) -> int:
    value = getattr(value, "value", value)
    return value if isinstance(value, int) else 0


def variable_of(message: Any, prefix: str, made: dict[str, Any]) -> Any:
    """Returns the variable whose operations a message names; one object for all collections.

    Args:
      message: a `VariableDef`.
      prefix: the prefix of the names of its operations.
      made: the variables of names seen before.
    """
    if message.variable_name in made:
        return made[message.variable_name]
    from .variable import VariableV1

    v: Any = VariableV1.__new__(VariableV1)
    stand_for(v, message, prefix)
    made[message.variable_name] = v
    return v


def stand_for(v: Any, message: Any, prefix: str) -> None:
    """Makes a new object the variable whose operations a message names; see `variable_of`."""
    from .variable_creation import creation_numbers
    from .variable_settings import SaveSliceInfo, VariableAggregation, VariableSynchronization

    graph = get_default_graph()
    handle = graph.get_operation_by_name((prefix + message.variable_name).removesuffix(":0")).outputs[0]
    v._graph = graph
    v._handle = handle
    handle._variable = v  # type: ignore[attr-defined]  # as variables themselves do
    v._handle_name = handle.op.name
    v._dtype = as_dtype(handle.op._attr("dtype"))
    v._shape = handle.op._attr("shape")
    v._trainable = bool(message.trainable)
    v._constraint = None
    v._synchronization = VariableSynchronization(message.synchronization)
    v._aggregation = VariableAggregation(message.aggregation)
    v._initializer_op = graph.get_operation_by_name(prefix + message.initializer_name)
    v._snapshot = graph.as_graph_element(prefix + message.snapshot_name)
    initial = message.initial_value_name
    v._initial_value = graph.as_graph_element(prefix + initial) if initial else None
    v._changeable = True
    v._number = next(creation_numbers)
    v._save_slice_info = None
    v._fetch_as(None)
    if message.HasField("save_slice_info_def"):
        part = message.save_slice_info_def
        v._set_save_slice_info(SaveSliceInfo(prefix + part.full_name, list(part.full_shape), list(part.var_offset),
                                             list(part.var_shape)))
