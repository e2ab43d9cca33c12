"""Handles of queues, readers and the like: operations in a graph, resources in eager mode."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.opdef import registry
from graphgrad.ir.values.variable_store import Handle


def make_handle(op_type: str, name: str | None, **attrs: Any) -> Any:
    """Builds an operation of a type with the flag "handle"; returns its handle.

    Args:
      op_type: the type.
      name: the name of the operation; its type by default.
      **attrs: its attributes.
    """
    handle = registry[op_type](name=name, **attrs)
    if name and isinstance(handle, Handle):
        handle._value.name = handle._value.held.item().name = name
    return handle


def base_name(handle: Any) -> str:
    """Returns the name of the operation that makes a handle, without scopes."""
    name: str = handle._value.name if isinstance(handle, Handle) else handle.op.name
    return name.rsplit("/", 1)[-1]
