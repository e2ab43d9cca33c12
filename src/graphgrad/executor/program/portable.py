"""Clusters as bytes: what another process needs to compile them.

Operations and tensors become records of what lowering asks them for. What cannot be found again by name in another
process, such as a user's kernel, is refused.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

from graphgrad.ir.dtypes import DType
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import OpDef, registry
from graphgrad.ir.values.variable_store import Cell

from .interpreter import Instruction
from .plan_types import Cluster


class FarTensor:
    """A tensor of another process's graph: dtype and static shape.

    Args:
      dtype: its dtype.
      shape: its static shape.
    """

    op = None

    def __init__(self, dtype: DType, shape: Any):
        self.dtype = dtype
        self._spec = Spec.of(dtype, shape)


class FarOperation:
    """An operation of another process's graph.

    Args:
      opdef: its record.
      name: its name.
      attrs: its attributes; None for sub-graphs, which instructions hold.
      inputs, outputs: dtype and shape of each.
    """

    graph = source = node_def = None
    control_inputs: Sequence[Any] = ()

    def __init__(self, opdef: OpDef, name: str, attrs: dict[str, Any], inputs: Sequence[tuple[DType, Any]],
                 outputs: Sequence[tuple[DType, Any]]):
        self.opdef = opdef
        self.type = opdef.name
        self.name = name
        self.attrs = attrs
        self.inputs = [FarTensor(*t) for t in inputs]
        self.outputs = [FarTensor(*t) for t in outputs]

    def _attr(self, name: str) -> Any:
        return self.attrs.get(name, self.opdef.attrs.get(name))


def packed(clusters: Any) -> bytes:
    """Returns the bytes of clusters, in any structure of lists, tuples and dictionaries.

    Raises: pickle.PicklingError, TypeError or AttributeError for what has no meaning elsewhere.
    """
    file = io.BytesIO()
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(clusters)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    def reducer_override(self, thing: Any) -> Any:
        kind = type(thing)
        if isinstance(thing, Operation):
            return FarOperation, (thing.opdef, thing.name, dict(thing.attrs), _specs(thing.inputs),
                                  _specs(thing.outputs))
        if kind is Instruction:
            state = {name: getattr(thing, name) for name in _KEPT}
            return Instruction, (thing.op, thing.ins, thing.outs), (None, state)
        if isinstance(thing, OpDef):
            if registry.get(thing.name) is not thing:
                raise pickle.PicklingError(f"op type {thing.name} is this process's own")
            return _record, (thing.name,)
        if kind is Spec:
            return Spec.of, (thing.dtype, thing.shape)
        if kind is Cell:
            return Cell, (None, thing.name, thing.dtype, thing.shape)
        if kind is Cluster:
            return _cluster, ({**vars(thing), "guards": [], "form": None},)
        if isinstance(thing, Graph):
            return _nothing, ()
        if isinstance(thing, Tensor):
            return FarTensor, (thing.dtype, thing._spec.shape)
        return NotImplemented


_KEPT = ("order", "mark", "device", "guarded", "attrs", "refs", "rng", "foldable", "shapes_only", "bodies", "touched")


def _specs(tensors: Sequence[Tensor]) -> list[tuple[DType, Any]]:
    return [(t.dtype, t._spec.shape) for t in tensors]


def _cluster(state: dict[str, Any]) -> Cluster:
    cluster = Cluster.__new__(Cluster)
    vars(cluster).update(state)
    return cluster


def _record(name: str) -> OpDef:
    return registry[name]


def _nothing() -> None:
    return None
