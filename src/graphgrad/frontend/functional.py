"""Operations that hold sub-graphs, in eager mode: a graph of one operation, run at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..executor.run import Executable
from ..ir import eager
from ..ir.build import add_to_graph
from ..ir.cell import Cell
from ..ir.context import use
from ..ir.dtypes import resource
from ..ir.funcgraph import FuncGraph
from ..ir.graph import Tensor
from ..ir.opdef import OpDef

# NumPy has run so many operations, and handled so many elements, before XLA would have compiled them.
_FEW_OPERATIONS = 4000
_FEW_ELEMENTS = 20000


def _run(opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> list[Any]:
    graph = FuncGraph(opdef.name)
    with use(graph):
        placeholders = [graph.add_input(t.dtype, t._spec.shape, "input") for t in inputs]
        op = add_to_graph(graph, opdef, tuple(placeholders), attrs, None)
    cells = {id(p): t._value for p, t in zip(placeholders, inputs, strict=True) if t.dtype is resource}

    def resolve(handle: Tensor) -> Cell:
        cell: Cell = cells[id(handle)]
        return cell

    fed = [(p, t) for p, t in zip(placeholders, inputs, strict=True) if t.dtype is not resource]
    engine = "numpy" if _is_little(inputs, attrs) else "xla"
    executable = Executable(op.outputs, [op], [p for p, _ in fed], resolve, {}, engine)
    return executable([t._value if t.dtype.kind == "o" else np.asarray(t._value) for _, t in fed])


def _is_little(inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
    mapped = attrs.get("mapped", ())
    rows = next((t._value.shape[0] for t, is_mapped in zip(inputs, mapped, strict=False) if is_mapped), 1)
    operations = sum(len(g._operations) for g in attrs.values() if isinstance(g, FuncGraph))
    shared = sum(math.prod(t.shape) for t, is_mapped in zip(inputs, mapped, strict=False)
                 if t.dtype is not resource and not is_mapped)  # fmt: skip
    return rows * operations <= _FEW_OPERATIONS and rows * shared <= _FEW_ELEMENTS


eager.run_functional = _run
