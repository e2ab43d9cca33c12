"""Operation types of early versions that have other names today, or consist of several operations."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import float32, int32, int64, uint64
from graphgrad.ir.graph_messages import AttrValue, NodeDef
from graphgrad.ir.opdef import registry

from .list_operations import constant

_NAMES = {"PlaceholderV2": "Placeholder", "BatchSelfAdjointEigV2": "SelfAdjointEigV2", "BatchSvd": "Svd",
          "BatchCholesky": "Cholesky",
          **{f"BatchMatrix{kind}": f"Matrix{kind}" for kind in (
              "BandPart", "Determinant", "Diag", "DiagPart", "Inverse", "SetDiag", "Solve", "SolveLs",
              "TriangularSolve")},
          **{f"Batch{kind}{n}": f"{kind}{n}" for kind in ("FFT", "IFFT") for n in ("", "2D", "3D")}}

# Types whose handle was a reference to a text, and is a resource in their second version.
_WITH_HANDLES = frozenset({
    "FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueEnqueue", "QueueEnqueueMany",
    "QueueDequeue", "QueueDequeueMany", "QueueDequeueUpTo", "QueueClose", "QueueSize", "QueueIsClosed", "HashTable",
    "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable", "LookupTableFind", "LookupTableInsert",
    "LookupTableSize", "LookupTableExport", "LookupTableImport", "InitializeTable", "InitializeTableFromTextFile"})

# Types that do the same as others, under a further promise.
SAME = {"StatelessIf": "If", "StatelessWhile": "While", "StatelessCase": "Case"}

# Defaults of attributes that the records here lack: files leave out what has its default.
DEFAULTS: dict[str, dict[str, Any]] = {
    **{f"Stateless{kind}{version}": {"dtype": float32} for version in ("", "V2")
       for kind in ("RandomNormal", "RandomUniform", "TruncatedNormal")},
    **{f"StatelessRandomUniformFullInt{version}": {"dtype": uint64} for version in ("", "V2")},
    "StatefulUniformInt": {"dtype": int64},
}


def type_of_node(node: Any) -> str:
    """Returns the op type that is here for a node's."""
    return node.op if node.op in registry else SAME.get(node.op, node.op)


def with_current(nodes: list[Any]) -> list[Any]:
    """Replaces operations of early versions.

    Args:
      nodes: `NodeDef`s.
    Returns: the same list if there are none; else a new one.
    """
    if not any(n.op not in registry and (n.op in _NAMES or n.op in _WITH_HANDLES or n.op in _SEVERAL) for n in nodes):
        return nodes
    made: list[Any] = []
    for node in nodes:
        if node.op in registry:
            made.append(node)
        elif node.op in _SEVERAL:
            made += _SEVERAL[node.op](node)
        elif node.op in _NAMES or node.op in _WITH_HANDLES:
            renamed = NodeDef.FromString(node.SerializeToString())
            renamed.op = _NAMES.get(node.op, f"{node.op}V2")
            made.append(renamed)
        else:
            made.append(node)
    return made


def _eigen(node: Any) -> list[Any]:
    """Eigenvalues as a row, and the eigenvectors beneath it."""
    both = NodeDef(name=f"{node.name}/both", op="SelfAdjointEigV2")
    both.input.extend(node.input)
    both.attr["T"] = node.attr["T"]
    both.attr["compute_v"] = AttrValue(b=True)
    place = constant(f"{node.name}/place", -2, int32)
    row = NodeDef(name=f"{node.name}/row", op="ExpandDims")
    row.input.extend([both.name, place.name])
    joined = NodeDef(name=node.name, op="ConcatV2")
    joined.input.extend([row.name, f"{both.name}:1", place.name])
    joined.attr["N"] = AttrValue(i=2)
    return [both, place, row, joined]


_SEVERAL = {"SelfAdjointEig": _eigen, "BatchSelfAdjointEig": _eigen}
