"""Gradients that lie on a mesh as what they are gradients of."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import resource
from graphgrad.ir.funcgraph import stands_for
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.mesh_layout import MESH, SPEC, layout_in, of_variable


def lying_like(x: Any, gradient: Any) -> Any:
    """Returns a gradient, annotated as x is, if that is split over a mesh.

    Args:
      x: a tensor, or the handle of a variable.
      gradient: a tensor, `IndexedSlices` or None.
    """
    if not isinstance(gradient, Tensor):
        return gradient
    op = getattr(x, "op", None)
    layout = of_variable(stands_for(x)) if x.dtype is resource else None if op is None else layout_in(op.attrs)
    shape = gradient._spec.shape
    if layout is None or layout.complaint(shape) is not None:
        return gradient
    return raw.XlaSharding(gradient, sharding=layout.op_sharding(None if shape is None else len(shape)),
                           **{MESH: str(layout.mesh), SPEC: layout.spec_text}, name="shard")
