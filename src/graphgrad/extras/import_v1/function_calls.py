"""Calls of the functions of a graph's library: their operations are added in the place of the call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.control_flow.switch_case import switch_case
from graphgrad.gradients.core.backprop import gradients
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import raw

Inline = Callable[..., tuple[list[Tensor], list[Operation]]]

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall", "RemoteCall", "SymbolicGradient", "For", "Case",
                   "StatelessCase"})


def results_of(node: Any, library: Any, given: list[Tensor], inline: Inline) -> tuple[list[Any], list[Operation]]:
    """Adds what a call does.

    Args:
      node: the call's `NodeDef`.
      library: the graph's `FunctionLibrary`.
      given: its inputs.
      inline: adds the operations of a function: (message, inputs, name of a scope) -> results and effects.
    Returns: its results, and operations that have to run for its effects.
    """
    if node.op in ("Case", "StatelessCase"):
        return _case(node, library, given, inline), []
    if node.op == "For":
        return _for(node, library, given, inline), []
    if node.op == "SymbolicGradient":
        return _symbolic_gradient(node, library, given, inline)
    if node.op == "RemoteCall":
        given = given[1:]
    direct = library.has(node.op)
    name = node.op if direct else node.attr["f"].func.name
    results, waits = inline(library.message(name), given, node.name)
    gradient = library.gradient_of(name)
    if gradient is None or not results:
        return results, waits
    return _with_gradient(results, given, library.message(gradient), node.name, inline), waits


def _with_gradient(results: list[Tensor], given: list[Tensor], gradient: Any, name: str, inline: Inline) -> list[Any]:
    """Gives the results of a call the gradient function that the library has for it."""
    together: list[Tensor] = raw.IdentityN([*results, *given])
    count = len(results)

    def rule(op: Any, *dys: Any) -> list[Any]:
        ends = [raw.ZerosLike(t) if dy is None else dy for t, dy in zip(op.outputs, dys[:count], strict=False)]
        found, _ = inline(gradient, [*op.inputs[count:], *ends], f"{name}_gradient")
        return [None] * count + list(found)

    together[0].op._gradient = rule
    return list(together[:count])


def _symbolic_gradient(node: Any, library: Any, given: list[Tensor],
                       inline: Inline) -> tuple[list[Any], list[Operation]]:
    """Adds the gradient of a function: of what it is called with, and the gradients of its results."""
    name = node.attr["f"].func.name
    message = library.message(name)
    gradient = library.gradient_of(name)
    if gradient is not None:
        return inline(library.message(gradient), given, node.name)
    count = len(message.signature.input_arg)
    xs = [raw.Identity(t) for t in given[:count]]
    ys, waits = inline(message, xs, node.name)
    found = gradients(ys, xs, list(given[count:]))
    return [raw.ZerosLike(x) if g is None else raw.Identity(g) for x, g in zip(xs, found, strict=True)], waits


def _for(node: Any, library: Any, given: list[Tensor], inline: Inline) -> list[Any]:
    """Adds a loop over numbers."""
    start, limit, delta, *values = given
    message = library.message(node.attr["body"].func.name)

    def step(i: Tensor, *args: Tensor) -> Any:
        graph = get_default_graph()
        results, effects = inline(message, [i, *args], graph.unique_name(message.signature.name.lstrip("_")), graph)
        with graph.control_dependencies(effects):
            return [raw.AddV2(i, delta), *(raw.Identity(t) for t in results)]

    def goes_on(i: Tensor, *args: Tensor) -> Any:
        return i < limit

    return list(while_loop(goes_on, step, [start, *values])[1:])


def _case(node: Any, library: Any, given: list[Tensor], inline: Inline) -> list[Any]:
    """Adds the choice between several functions."""
    index, *values = given
    messages = [library.message(f.name) for f in node.attr["branches"].list.func]

    def chosen(message: Any) -> Any:
        graph = get_default_graph()
        args = [t if t.graph is graph else _captured(graph, t) for t in values]
        results, effects = inline(message, args, graph.unique_name(message.signature.name.lstrip("_")), graph)
        with graph.control_dependencies(effects):
            return [raw.Identity(t) for t in results] or raw.NoOp()

    made = switch_case(index, [functools.partial(chosen, m) for m in messages], name=f"{node.name}_of")
    return made if isinstance(made, list) else [made]


def _captured(graph: Graph, tensor: Tensor) -> Tensor:
    captured: Tensor = graph.capture(tensor)
    return captured


