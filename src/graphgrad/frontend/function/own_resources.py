"""Resources that operations of a function's graph name: iterators, and variables of graphs that were read."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation
from graphgrad.ir.values.variable_store import Cell, Handle


def own_handle(graph: FuncGraph, op: Operation) -> Handle:
    """Returns the handle of a resource that an operation inside of a function names, the same at each call.

    Args:
      graph: the function's graph.
      op: a `VarHandleOp` in it.
    Returns: the handle, of a resource that has no value at first.
    """
    held: dict[str, Handle] = graph._scoped_state.setdefault("own handles", {})
    name: Any = op._attr("shared_name") or op.name
    if name not in held:
        held[name] = Handle(Cell(None, name, op._attr("dtype"), op._attr("shape")))
    return held[name]
