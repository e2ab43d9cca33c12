"""Handles of queues, readers and the like: operations in a graph, the things themselves in eager mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.cell import Cell, Handle
from ..ir.context import current_graph
from ..ir.dtypes import variant
from ..ir.opdef import registry


def make_handle(op_type: str, name: str | None, **attrs: Any) -> Any:
    """The handle that an operation of a type with the flag "handle" gives.

    Args:
      op_type: the type.
      name: the name of the operation; its type by default.
      **attrs: its attributes.
    """
    opdef = registry[op_type]
    if current_graph() is not None:
        return opdef(name=name, **attrs)
    known = {k: attrs[k] if k in attrs else opdef.attrs[k] for k in opdef.kernel_attrs}
    held = np.empty((), object)
    held[()] = resource = opdef.kernel(np, **known)
    resource.name = name or op_type
    return Handle(Cell(held, resource.name, variant, ()))


def base_name(handle: Any) -> str:
    """The name of the operation that gives a handle, without scopes."""
    name: str = handle._value.name if isinstance(handle, Handle) else handle.op.name
    return name.rsplit("/", 1)[-1]
