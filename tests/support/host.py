"""Graphs for tests: placeholders, constants, and an interpreter that runs a graph in NumPy.

The interpreter knows nothing of the executor: it is the oracle that the executor is compared
with, and it starts at once, where XLA would compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, InvalidArgumentError
from graphgrad.ir import dtypes
from graphgrad.ir.conversion import convert
from graphgrad.ir.dtypes import DType
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.inference import put_in_context
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import OpDef, registry


def _no_value(xp: Any, *, dtype: Any, shape: Any = None, value: Any = None) -> Any:
    raise AssertionError("it is fed")


_PLACEHOLDER = OpDef("Placeholder", "-> output: dtype", _no_value, dtype=dtypes.ANY)


def placeholder(graph: Graph, dtype: DType, shape: Any) -> Tensor:
    """An input of `graph` that is fed; `shape` is a tuple of int and None, or None."""
    opdef = registry.get("Placeholder", _PLACEHOLDER)
    op = graph._add(opdef, (), {"dtype": dtype, "shape": shape}, graph.unique_name("x"), (Spec.of(dtype, shape),))
    return op.outputs[0]


class Program:
    """The operations that some tensors need, run one after the other in NumPy.

    Args:
      fetches: tensors of one graph.
    """

    def __init__(self, fetches: Sequence[Tensor]):
        self.fetches = list(fetches)
        needed: set[int] = set()
        graph = self.fetches[0].graph if self.fetches else Graph()
        waiting = [t.op for t in self.fetches]
        while waiting:
            op = waiting.pop()
            if op.index not in needed:
                needed.add(op.index)
                waiting.extend(t.op for t in op.inputs)
        self.steps = []
        for op in graph.get_operations():
            if op.index in needed and op.type not in ("Placeholder", "Const"):
                self.steps.append((op, op.opdef.bind_kernel(np), {k: op._attr(k) for k in op.opdef.kernel_attrs}))
        self.constants = {t: op.attrs["value"] for op in graph.get_operations() for t in op.outputs
                          if op.index in needed and op.type == "Const"}

    def __call__(self, feeds: dict[Tensor, Any]) -> list[Any]:
        """The values of the fetches, given those of the placeholders."""
        values = {**self.constants, **feeds}
        for op, kernel, attrs in self.steps:
            results = _run(op, kernel, attrs, [values[t] for t in op.inputs])
            values.update((t, r) for t, r in zip(op.outputs, results, strict=True) if t not in feeds)
        return [values[t] for t in self.fetches]


def _run(op: Any, kernel: Any, attrs: dict[str, Any], inputs: list[Any]) -> list[Any]:
    if "random" in op.opdef.flags:
        attrs = {**attrs, "rng": 0}  # as in a session's first run
    try:
        with np.errstate(all="ignore"):
            result = op.opdef.unpack(kernel(np, *op.opdef.pack(inputs, op.attrs), **attrs))
    except Complaint as complaint:
        complaint.cls = lambda text: InvalidArgumentError(None, op, text)  # type: ignore[assignment]  # a stand-in
        raise put_in_context(op.opdef, complaint, op.name, op.inputs) from None
    for t, value in zip(op.outputs, result, strict=True):
        if t.dtype.kind != "o":
            assert np.asarray(value).dtype == t.dtype.np_dtype, f"{op!r} declares {t}, gives {np.asarray(value).dtype}"
            assert t.shape.is_compatible_with(np.shape(value)), f"{op!r} declares {t}, gives {np.shape(value)}"
    return [r if t.dtype.kind == "o" else np.asarray(r) for r, t in zip(result, op.outputs, strict=True)]


def evaluate(fetches: Sequence[Tensor], feeds: dict[Tensor, Any] | None = None) -> list[Any]:
    """The values of some tensors, by NumPy."""
    return Program(fetches)(feeds or {})


def dense(tensor: Any, graph: Graph) -> Tensor:
    """The tensor that an `IndexedSlices` stands for; a tensor itself."""
    return tensor if isinstance(tensor, Tensor) else convert(tensor, None, graph, "dense")
