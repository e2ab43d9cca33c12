"""Handles of queues, readers and the like: operations in a graph, the things themselves in eager mode."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.opdef import registry
from graphgrad.ir.variable_store import Handle


def make_handle(op_type: str, name: str | None, **attrs: Any) -> Any:
    """The handle that an operation of a type with the flag "handle" gives.

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
    """The name of the operation that gives a handle, without scopes."""
    name: str = handle._value.name if isinstance(handle, Handle) else handle.op.name
    return name.rsplit("/", 1)[-1]
