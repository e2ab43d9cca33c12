"""Runs operations with sub-graphs in eager mode."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from graphgrad.executor.program.fingerprint import Unspeakable, token
from graphgrad.executor.runtime.executable import Executable
from graphgrad.executor.runtime.random_positions import RandomPositions
from graphgrad.ir.builder import add_to_graph
from graphgrad.ir.context import use
from graphgrad.ir.dtypes import resource
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import OpDef
from graphgrad.ir.values.variable_store import Cell

# NumPy runs this many operations, and processes this many elements, before XLA would have compiled them.
_FEW_OPERATIONS = 4000
_FEW_ELEMENTS = 20000


_OFTEN = 3  # runs after which even a small map is compiled
_KEPT = 16
_kept: OrderedDict[Any, _Kept] = OrderedDict()
_lock = threading.Lock()


class _Kept:
    """The cache entry of equal maps: their number of runs, and how to run them.

    Attributes:
      count: the number of repetitions.
      executable: runs them; None for the first few times.
    """

    def __init__(self) -> None:
        self.count = 0
        self.executable: Executable | None = None


def run_functional(opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> list[Any]:
    """Runs an operation on eager tensors; returns the values of its outputs."""
    kept = _known(opdef, inputs, attrs)
    executable = kept.executable
    if executable is None:
        often = kept.count > _OFTEN
        executable = _made(opdef, inputs, attrs, "numpy" if not often and _is_little(inputs, attrs) else "xla")
        if often or executable._engine != "numpy":
            kept.executable = executable
    return executable([t._value if t.dtype.kind == "o" else np.asarray(t._value) for t in inputs
                       if t.dtype is not resource])


def _made(opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any], engine: str) -> Executable:
    graph = FuncGraph(opdef.name, None)
    with use(graph):
        placeholders = [graph.add_input(t.dtype, t._spec.shape, "input") for t in inputs]
        op = add_to_graph(graph, opdef, tuple(placeholders), attrs, None)
    cells = {id(p): t._value for p, t in zip(placeholders, inputs, strict=True) if t.dtype is resource}

    def resolve(handle: Tensor) -> Cell:
        cell: Cell = cells[id(handle)]
        return cell

    fed = [p for p in placeholders if p.dtype is not resource]
    return Executable(op.outputs, [op], fed, resolve, RandomPositions(), engine)


def _known(opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> _Kept:
    """Returns the cache entry of a map; a new one for a new map, or one without a key."""
    try:
        what = opdef.name, *_described(attrs, 0)
    except Unspeakable:
        return _Kept()
    variables = tuple([id(t._value) if t.dtype is resource else None for t in inputs])
    key = (what, tuple([t._spec for t in inputs]), variables)
    with _lock:
        kept = _kept.get(key)
        if kept is None:
            kept = _kept[key] = _Kept()
            if len(_kept) > _KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(key)
        kept.count += 1
    return kept


def _described(attrs: dict[str, Any], depth: int) -> tuple[Any, ...]:
    """Returns attributes without names of operations, equal for equal computations; Unspeakable if unknown."""
    if depth > 20:
        raise Unspeakable("nested deeply")
    parts: list[Any] = []
    for name, value in sorted(attrs.items()):
        if isinstance(value, FuncGraph):
            numbers: dict[int, int] = {}
            ops = []
            for op in (value._operations[i] for i in value.in_order(range(value.version))):
                if op.opdef.flags & {"random", "host"}:
                    raise Unspeakable(op.type)
                wires = tuple([numbers[id(t)] for t in op.inputs])
                ops.append((op.opdef, wires, tuple([t._spec for t in op.outputs]), _described(op.attrs, depth + 1)))
                for t in op.outputs:
                    numbers[id(t)] = len(numbers)
            ends = [tuple([numbers[id(t)] for t in ts]) for ts in (value.inputs, value.outputs)]
            parts.append((name, tuple(ops), *ends))
        elif not name.startswith("_"):
            parts.append((name, token(value)))
    return tuple(parts)


def _is_little(inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
    mapped = attrs.get("mapped", ())
    rows = next((t._value.shape[0] for t, is_mapped in zip(inputs, mapped, strict=False) if is_mapped), 1)
    operations = sum(len(g._operations) for g in attrs.values() if isinstance(g, FuncGraph))
    shared = sum(math.prod(t.shape) for t, is_mapped in zip(inputs, mapped, strict=False)
                 if t.dtype is not resource and not is_mapped)
    return rows * operations <= _FEW_OPERATIONS and rows * shared <= _FEW_ELEMENTS
