"""Gradients that operations have of their own, written as functions of a model's library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.gradients.core.registry import gradient_function
from graphgrad.gradients.core.rules import call_rule
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.ir.context import use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.funcgraph import FuncGraph, stands_for
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE
from graphgrad.ir.values.indexed_slices import dense


class TracedGradient:
    """The gradient of an operation, traced.

    Args:
      op: the operation.
      name: the name by which the operation refers to it.

    Attributes:
      graph: from the gradients of the operation's outputs to those of its inputs.
      results: for each input of the operation the spec of its gradient, or None.
      captured: tensors of the operation's graph, and eager tensors, that the last arguments stand for.
      constants: those of the captured tensors that are constants, by the ids of their placeholders. TensorFlow 2.21
        cannot call gradient functions that are bound to constants.
    """

    def __init__(self, op: Operation, name: str):
        self.name = name
        self.op = op
        self.graph = FuncGraph(f"{op.name}_gradient".replace("/", "_"), op.graph)
        rule = gradient_function(op)
        with use(self.graph), none_allowed(), self.graph._own_gradients():
            self.arguments = [self.graph.add_input(t.dtype, t._spec.shape, f"result_grads_{i}")
                              for i, t in enumerate(op.outputs)]
            found: Sequence[Any] = [None] * len(op.inputs)
            if rule is not NOT_DIFFERENTIABLE:
                found = call_rule(rule, op, self.arguments)
            flat = [None if g is None else convert_to_tensor(dense(g)) for g in found]
            flat = [g if g is None or g.graph is self.graph else self.graph.capture(g) for g in flat]
        self.graph.outputs = [g for g in flat if g is not None]
        self.results = [None if g is None else TensorSpec(g._spec.shape, g.dtype) for g in flat]
        self.captured = [outermost(c) for c in self.graph.captured]
        placeholders = self.graph.inputs[len(self.arguments):]
        self.constants = {id(p): c for p, c in zip(placeholders, self.captured, strict=True) if is_constant(c)}

    @property
    def inside(self) -> list[Tensor]:
        """The captured tensors of the operation's graph."""
        return [c for c in self.captured if not isinstance(c, EagerTensor)]


def outermost(tensor: Any) -> Any:
    """Returns the eager tensor that a captured tensor stands for, if it is one; else the tensor itself."""
    found = stands_for(tensor)
    return found if isinstance(found, EagerTensor) or tensor.dtype is resource else tensor


def is_constant(tensor: Any) -> bool:
    """Returns whether a captured tensor is an eager tensor other than a handle."""
    return isinstance(tensor, EagerTensor) and tensor.dtype is not resource


def has_gradient(op: Operation) -> bool:
    """Returns whether an operation has a gradient of its own, not that of its type.

    That of an `Identity`, which only waits for effects, is its type's.
    """
    return op._gradient is not None and not (op.type == "Identity" and callable(op._gradient))
