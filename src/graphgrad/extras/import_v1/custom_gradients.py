"""Custom gradients of functions in files.

TensorFlow writes what has a custom gradient as an `IdentityN` of its results and its arguments, with an attribute that
names a gradient function of the library. That function takes the gradients of all of the outputs, then the tensors that
it captured. Those are added to the inputs of the `IdentityN`, so that they are at hand wherever it is copied to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from graphgrad.frontend.function.concrete_function import ConcreteFunction
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.structured_outputs import marks_of
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph_messages import NodeDef
from graphgrad.ir.values.indexed_slices import dense

MARK = "_gradient_op_type"


class GradientFunction(NamedTuple):
    """What is known of a gradient function besides its message.

    Attributes:
      captured: for each of its last arguments the name of a tensor of the graph, or a tensor from outside.
      results: for each input of the operation, whether there is a gradient; None if that is not known.
    """

    captured: Sequence[Any] = ()
    results: Sequence[bool] | None = None


def with_captures(node: Any, function: GradientFunction, find: Callable[[str], Any]) -> Any:
    """Returns a node with the tensors that its gradient function captured as further inputs.

    Args:
      node: the `NodeDef`.
      function: what is known of the function.
      find: returns the tensor of a name.
    """
    names = [c for c in function.captured if isinstance(c, str)]
    if not names:
        return node
    made = NodeDef.FromString(node.SerializeToString())
    data = [n for n in node.input if not n.startswith("^")]
    made.input[:] = [*data, *names, *node.input[len(data) :]]
    made.attr["T"].list.type.extend(find(name).dtype.enum for name in names)
    return made


def rule_of(name: str, count: int, function: GradientFunction, read: Callable[[str], Any]) -> Callable[..., Any]:
    """Makes the gradient rule of an operation.

    Args:
      name: the name of the gradient function.
      count: the number of the operation's inputs, before captures were added.
      function: what else is known of it.
      read: makes the graph of a function.
    """
    made: list[ConcreteFunction] = []

    def rule(op: Any, *dys: Any) -> list[Any]:
        if not made:
            graph = read(name)
            specs = [TensorSpec(t._spec.shape, t.dtype) for t in graph.outputs]
            made.append(ConcreteFunction(graph, len(graph.inputs), marks_of(specs)))
        given = [convert_to_tensor(dense(dy)) for dy in dys[:count]]
        inside = iter(op.inputs[count:])
        captured = [next(inside) if isinstance(c, str) else c for c in function.captured]
        results = list(made[0]._call_flat([*given, *captured]))
        there = function.results or [False] * (count - len(results)) + [True] * len(results)
        if sum(there) != len(results) or len(there) != count:
            raise ValueError(f"the gradient function {name!r} gives {len(results)} gradients for {count} inputs. "
                             "Fix: use another copy of the file")
        left = iter(results)
        return [next(left) if is_there else None for is_there in there] + [None] * (len(op.inputs) - count)

    return rule
