"""Leaves attributes that have their defaults out of graphs, so that programs that do not know them read the graphs."""

from __future__ import annotations

from typing import Any

from graphgrad.ir import dtypes
from graphgrad.ir.graph_messages import AttrValue
from graphgrad.ir.graphdef import GraphWriter
from graphgrad.ir.opdef import registry

# Attributes that have a default here and none in TensorFlow.
_REQUIRED = frozenset({
    ("AccumulateNV2", "shape"), ("CheckNumerics", "message"), ("CheckNumericsV2", "message"), ("DenseBincount", "Tidx"),
    ("DenseCountSparseOutput", "binary_output"), ("EagerPyFunc", "token"), ("LookupTableExportV2", "Tkeys"),
    ("LookupTableExportV2", "Tvalues"), ("PlaceholderWithDefault", "shape"), ("PyFunc", "token"),
    ("PyFuncStateless", "token"), ("RaggedTensorToTensor", "Tshape"), ("SparseCountSparseOutput", "binary_output"),
    ("VarHandleOp", "shape")})
# Types of inputs with one default in all ops; where ops differ in it, as in that of `T`, the attribute is kept.
_TYPES = {
    **dict.fromkeys(("Tblock_shape", "Tcrops", "Tdim", "Tidx", "Tk", "Tmultiples", "Tnumsegments", "Tpaddings", "Tperm",
                     "Tsegmentids", "Tshape", "index_type"), dtypes.int32),
    **dict.fromkeys(("TI", "Tlabels", "Tlen", "Tsplits"), dtypes.int64),
    "Tcomplex": dtypes.complex64, "T_threshold": dtypes.float32}


def strip_defaults(graph_def: Any) -> None:
    """Removes the attributes that have their defaults from the operations of a graph and of its functions.

    Args:
      graph_def: the `GraphDef`, which is changed.
    """
    known: dict[str, dict[str, Any]] = {}
    for nodes in (graph_def.node, *(f.node_def for f in graph_def.library.function)):
        for node in nodes:
            if node.op not in known:
                known[node.op] = _defaults(node.op)
            defaults = known[node.op]
            for name in [name for name, value in node.attr.items() if name in defaults and value == defaults[name]]:
                del node.attr[name]


def _defaults(op: str) -> dict[str, Any]:
    """Returns the messages of the defaults of an op type."""
    found = {name: AttrValue(type=dtype.enum) for name, dtype in _TYPES.items()}
    if op in registry:
        writer = GraphWriter(None)
        made = {name: writer.attr(name, value) for name, value in writer.defaults(registry[op]).items()}
        found |= {name: message for name, message in made.items() if message is not None}
    return {name: message for name, message in found.items() if (op, name) not in _REQUIRED}
