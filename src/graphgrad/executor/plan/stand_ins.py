"""Operations that are in no graph: what a plan computes in place of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import OpDef


def stand_in(op: Operation, opdef: OpDef, attrs: dict[str, Any], inputs: Sequence[Tensor],
             outputs: Sequence[Tensor]) -> Operation:
    """Makes an operation that has the name, the place and the user's line of another one.

    Args:
      op: the other one.
      opdef: the record of its type.
      attrs: its attributes.
      inputs, outputs: tensors like its own, for their dtypes and shapes.
    """
    made = Operation.__new__(Operation)
    for name in Operation.__slots__:
        if not name.startswith("__"):
            setattr(made, name, getattr(op, name))
    made.opdef, made.attrs = opdef, attrs
    made.inputs, made.outputs = tuple(inputs), tuple(outputs)
    return made


def tensor_like(t: Tensor, shape: tuple[int | None, ...]) -> Tensor:
    """Makes a tensor of another shape, which no operation computes."""
    made = Tensor.__new__(Tensor)
    made.op, made.value_index, made.graph, made.dtype = t.op, t.value_index, t.graph, t.dtype
    made._spec = Spec.of(t.dtype, shape)
    return made
