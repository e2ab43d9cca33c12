"""Copies and prunes sub-graphs for the gradients of control flow."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import float64, resource, variant
from graphgrad.ir.effects import bodies_of, has_effect, with_all_before
from graphgrad.ir.funcgraph import FuncGraph, around
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import raw, registry
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.source import user_source


@contextlib.contextmanager
def in_graph_of(op: Operation) -> Iterator[None]:
    """Adds the operations built inside to the graph of `op`, even if the gradient is taken in a graph within that.

    A temporary graph in between gets it instead, so that nothing of it remains.
    """
    target = op.graph
    for graph in around(current_graph()):
        if graph is op.graph:
            break
        if isinstance(graph, FuncGraph) and graph.discarded:
            target = graph
    if target is current_graph():
        yield
        return
    with target.as_default(), target.control_dependencies(None), target._building_gradient_of(op, user_source(2)):
        yield


def carries(t: Tensor) -> bool:
    """Returns whether a gradient can flow through `t`."""
    return t.dtype.kind in "fc" or t.dtype is resource or t.dtype is variant


def through_identity(t: Tensor) -> Tensor:
    """Follows identities, of values and gradients, back from `t` to the tensor that they copy."""
    while t.op.opdef.identity and t.op._gradient is None:
        t = t.op.inputs[t.value_index]
    return t


def as_long_as(lst: Tensor) -> Tensor:
    """Returns the list from which `lst` was made by replacing elements: it has the same length."""
    while True:
        op = lst.op
        if op.opdef.alias:
            lst = op.inputs[lst.value_index]
        elif op.opdef.tensor_list == "set" and not op._attr("resize_if_index_out_of_bounds"):
            lst = op.inputs[0]
        else:
            return lst


def needed_ops(outputs: Sequence[Tensor], known: Any = ()) -> list[Operation]:
    """Returns the operations that some tensors depend on, in creation order.

    Args:
      outputs: the tensors, of one graph.
      known: ids of tensors whose operations are not needed.
    """
    found: dict[int, Operation] = {}
    waiting = [t.op for t in outputs if id(t) not in known]
    while waiting:
        op = waiting.pop()
        if op.index not in found:
            found[op.index] = op
            waiting.extend(t.op for t in op.inputs if id(t) not in known)
    return [found[i] for i in outputs[0].graph.in_order(found)] if found else []


def copy_ops(target: Graph, outputs: Sequence[Tensor], inside: dict[int, Tensor]) -> list[Tensor]:
    """Copies what some tensors depend on into another graph; copies of random operations draw the same numbers.

    Args:
      target: the graph to copy into.
      outputs: the tensors, of one graph.
      inside: tensors of `target` by the id of their originals; the copies are added.
    Returns: the copies of `outputs`.
    """
    copy_list(target, needed_ops(outputs, inside), inside)
    return [inside[id(t)] for t in outputs]


def copy_list(target: Graph, ops: Sequence[Operation], inside: dict[int, Tensor], as_it_is: bool = False) -> None:
    """Copies some operations, given in creation order, into another graph; see `copy_ops`.

    Args:
      target, inside: as there.
      ops: the operations.
      as_it_is: whether the copies replace the operations themselves, rather than belong to their gradient.
    """
    here: set[str] = set()
    for op in ops:
        attrs = op.attrs
        if "random" in op.opdef.flags:
            attrs = {**attrs, "_drawn_by": attrs.get("_drawn_by", op)}
        copy = target._add(op.opdef, tuple([inside[id(t)] for t in op.inputs]), attrs, target._names.unique(op.name),
                           [t._spec for t in op.outputs])
        copy._gradient = CopiedRule(op._gradient, inside) if callable(op._gradient) else op._gradient
        copy._original_op = op._original_op if as_it_is else op
        copy.source = op.source
        copy.device = op.device
        copy._colocation = tuple(g for g in op._colocation if g.removeprefix("loc:@") in here)
        here.add(copy.name)
        for old, new in zip(op.outputs, copy.outputs, strict=True):
            inside.setdefault(id(old), new)
        if op.index in op.graph._notes.touched:
            _copy_touched(op, copy, inside)
        if op.type == "While" and op.index in op.graph._notes.joints:
            joint = op.graph._notes.joints[op.index].moved(copy, inside)
            if joint is not None:
                target._notes.joints[copy.index] = joint


def replace(graph: FuncGraph, other: dict[int, Tensor]) -> None:
    """Replaces the inputs of operations, by their ids, in a graph that is not in use yet."""
    for op in graph._operations:
        if any(id(t) in other for t in op.inputs):
            op.inputs = tuple([other.get(id(t), t) for t in op.inputs])
    graph.outputs = [other.get(id(t), t) for t in graph.outputs]


def drop_effects(graph: FuncGraph, copies: Sequence[Operation]) -> None:
    """Removes copies that run although nothing needs them: reads of variables, host functions, inner loops.

    Args:
      graph: a gradient's sub-graph. What users' gradient functions do in it stays.
      copies: the operations in it that are copies of forward ones.
    """
    dropped = set(map(id, copies))
    own = [op for op in graph._operations if id(op) not in dropped and has_effect(op)]
    needed = {op.index for op in with_all_before([*(t.op for t in graph.outputs), *own])}
    for op in copies:
        if op.index not in needed and "stateful" in op.opdef.flags:
            op.opdef, op.inputs, op.attrs = registry["Const"], (), {"value": np.zeros(()), "dtype": float64}


def draws(graphs: Sequence[FuncGraph]) -> bool:
    """Returns whether operations of sub-graphs, at any depth, draw random numbers."""
    waiting = list(graphs)
    while waiting:
        operations = waiting.pop()._operations
        if any("random" in op.opdef.flags for op in operations):
            return True
        waiting.extend(inner for op in operations for inner in bodies_of(op))
    return False


def random_ops(results: Sequence[Any], ops: Sequence[Operation]) -> list[Operation]:
    """Returns the operations that draw random numbers for some results, also in sub-graphs, in creation order."""
    found: list[Operation] = []
    needed = {t.op for t in results if isinstance(t, Tensor)}
    for op in reversed(ops):
        if op in needed:
            needed.update(t.op for t in op.inputs)
            for body in reversed(bodies_of(op)):
                found += reversed(random_ops(body.outputs, body._operations))
            if "random" in op.opdef.flags:
                found.append(op)
    return found[::-1]


def replay(drawing: Sequence[Operation], again: Sequence[Operation]) -> None:
    """Makes random operations that have just been built draw the same numbers as others, pairwise.

    Raises: ValueError if their number or types differ.
    """
    if [op.type for op in drawing] != [op.type for op in again]:
        raise ValueError("What is computed again draws other random numbers than before: "
                         f"{[op.type for op in again]}, not {[op.type for op in drawing]}.\n"
                         "  Fix: let the function that recompute_grad calls twice build the same operations each time")
    for op, original in zip(again, drawing, strict=True):
        op.attrs = {**op.attrs, "_drawn_by": original.attrs.get("_drawn_by", original)}


def _copy_touched(op: Operation, copy: Operation, inside: dict[int, Tensor]) -> None:
    """Copies the note of what TensorFlow's operation would have read.

    Args:
      op: the original.
      copy: the copy.
      inside: the copies by the id of their originals; a tensor that is not copied is replaced by its inputs.
    """
    found: dict[int, Tensor] = {}
    seen: set[int] = set()
    waiting = list(op.graph._notes.touched[op.index])
    while waiting:
        t = waiting.pop()
        if id(t) in inside or t.graph is not op.graph:
            t = inside.get(id(t), t)
            found[id(t)] = t
        elif t.op.index not in seen:
            seen.add(t.op.index)
            waiting.extend(i for i in t.op.inputs if carries(i))
    copy.graph._notes.touched[copy.index] = tuple(found.values())


class CopiedRule:
    """A user's gradient function for a copy of its operation: captured tensors are replaced by their copies.

    Args:
      rule: the function.
      inside: the copies, by the id of their originals.
    """

    def __init__(self, rule: Any, inside: dict[int, Tensor]):
        self.rule, self.inside = rule, inside
        if hasattr(rule, "n_results"):
            self.n_results = rule.n_results
        self.mark = getattr(rule, "mark", None)

    def __call__(self, op: Operation, *dys: Any) -> Any:
        around = op.graph._around
        with around.having(copies={**around.copies, **self.inside}):
            return self.rule(op, *dys)


class Copy:
    """A copy of what the outputs of a sub-graph depend on, for a gradient.

    Args:
      target: the graph to copy into; it gets placeholders for the inputs of `source` and for kept values.
      source: the sub-graph.
      kept: the outputs of the operation that holds it with values that must not be recomputed.
      add: adds the placeholder for one of them to `target`.
      repeated: positions of inputs which the copies get from placeholders of their own, see
        `forward_values.inputs_of_gradient`.

    Attributes:
      inside: the copies, by the id of their originals.
    """

    def __init__(self, target: FuncGraph, source: FuncGraph, kept: Sequence[Tensor],
                 add: Callable[[Tensor], Tensor], repeated: Collection[int] = ()):
        self.target = target
        self.inside = {id(t): target.add_input(t.dtype, t._spec.shape, t.op.name) for t in source.inputs}
        self._repeated = {id(target.inputs[i]): target.add_input(t.dtype, t._spec.shape, f"{t.op.name}_again")
                          for i, t in enumerate(source.inputs) if i in repeated}
        values = {t.value_index: add(t) for t in kept}
        first = len(target._operations)
        copy_ops(target, source.outputs, self.inside)
        self._copies = target._operations[first:]
        self._kept = {id(self.inside[id(t)]): values[at] for t, at in source.kept if id(t) in self.inside}

    def settle(self) -> None:
        """Replaces copies of kept values by the values themselves, once the outputs of `target` are set."""
        if self._repeated:
            again = [op for op in self.target._operations if op.index in self.target._notes.repeating]
            for op in (*self._copies, *again):
                op.inputs = tuple([self._repeated.get(id(t), t) for t in op.inputs])
        if self._kept:
            replace(self.target, self._kept)
            drop_effects(self.target, self._copies)


def kept_outputs(op: Operation) -> list[Tensor]:
    """Returns the outputs of an operation with the values that its sub-graphs must not recompute."""
    bodies = bodies_of(op) if "functional" in op.opdef.flags else ()
    return [op.outputs[i] for i in sorted({at for body in bodies for _, at in body.kept})]


def zeros_for(x: Tensor, like: Any) -> Any:
    """Returns zeros for the gradient of `x`, which may be a variable's handle; `like` is such a gradient."""
    if x.dtype is resource:
        shape = like._spec.shape
        if is_fully_defined(shape):  # the variable may have no value
            return raw.Fill(np.array(shape, np.int32), like.dtype.np_dtype.type(0))
        x = raw.ReadVariableOp(x, dtype=like.dtype, shape=like._spec.shape)
    return raw.ZerosLike(x)
