"""The gradient of `While`: a recording loop and a backward loop.

The forward loop is not changed. A run that needs it and its gradient executes it jointly with the first of these
(`forward_backward_fusion`). The gradient consists of

1. a `While` that repeats the iterations and writes, for each of them, the loop variables that the derivative of the
   body needs into lists, and the results of costly operations (matrix products, convolutions, inner loops); of the
   forward loop it repeats only what these depend on.
2. a `While` that reads the lists from the end to the beginning. Its body is the differentiated body, which recomputes
   what is cheap within one iteration.

Both are ordinary operations, so that gradients have gradients, to any order. The lists are as long as
the number of iterations, or longer: a compiled loop needs a known size. `trip_count` finds it.

Loop invariants are not part of a loop's state. Gradients with respect to captured tensors, and to loop variables that
never change, are sums over the iterations; where one iteration touches a few rows or elements only (`IndexedSlices`, an
element of a list), only these are updated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.bodies.recorded_loops import Loop, declared, item, record, repeat
from graphgrad.gradients.bodies.subgraphs import (
    as_long_as,
    carries,
    copy_ops,
    draws,
    drop_effects,
    in_graph_of,
    needed_ops,
    replace,
    zeros_for,
)
from graphgrad.gradients.bodies.trip_count import Trips, count_trips, is_sum_of_two, stride_of, written_once
from graphgrad.gradients.core.backprop import gradients_inside
from graphgrad.gradients.core.forward_values import done_once, inputs_of_gradient
from graphgrad.gradients.core.loop_zeros import touched
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import bool_, int32, resource, variant
from graphgrad.ir.effects import runs_for
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw, registry
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.values.indexed_slices import IndexedSlices, dense
from graphgrad.op_traits import is_sum

from .loop_checkpointing import tell_kept, through_segments


def _while_grad(op: Operation, *dys: Any) -> list[Any]:
    """Builds the recording loop and the backward loop; see above."""
    loop = Loop(op, inputs_of_gradient(op, True)[0])
    found = _through_segments(loop, dys) if op._attr("memory") is not None else None
    if found is not None:
        return found
    parts = _Parts(loop, dys)
    back = _Back(loop, parts)
    in_grads: list[Any] = [parts.arrived.get(i) if i in loop.fixed else None for i in range(len(op.inputs))]
    if not parts.carried and not back.read:
        return in_grads
    with in_graph_of(op):  # every iteration of an outer loop needs the same
        trips = count_trips(op)
        if loop.count is not None:
            trips = Trips(loop.count, trips.bound if trips.bound is not None else raw.LoopBound(loop.count))
        recorded, steps = record(loop, back.recorded, trips)
    for i, g in back.run(recorded, steps):
        in_grads[i] = g
    return in_grads


def _through_segments(loop: Loop, dys: Sequence[Any]) -> list[Any] | None:
    """Differentiates a checkpointed loop; None where that cannot be, and all values are kept."""
    op = loop.op
    if loop.count is not None:
        tell_kept(op, done_once(op))
        return None
    with in_graph_of(op):
        trips = count_trips(op)
        bound = trips.bound if trips.bound is not None else raw.LoopBound(repeat(loop, [], [])[0])
    return through_segments(op, loop.inputs, bound, dys, _while_grad)


class _Parts:
    """What part each input of a loop has in its gradient, by positions.

    Attributes:
      arrived: loop variable -> the gradient of its last value.
      carried: the loop variables whose gradients each iteration changes.
      once: lists of which each iteration fills one element, so that their gradients are only read.
      read: loop invariants (captures, and loop variables that never change), whose gradients are sums.
    """

    def __init__(self, loop: Loop, dys: Sequence[Any]):
        op, n = loop.op, loop.n
        # Values that only the gradient reads have gradients when that is differentiated.
        unread = {values.value_index for _, values in loop.kept.values() if dys[values.value_index] is None}
        reached = [i for i in range(n) if carries(op.outputs[i]) and i not in unread]
        self.once = [i for i in range(n) if i not in unread and op.outputs[i].dtype is variant and written_once(op, i)]
        self.carried = [i for i in reached if i not in {*loop.fixed, *self.once}]
        self.read = [i for i, t in enumerate(op.inputs) if carries(t) and (i >= n or i in loop.fixed)]
        self.arrived = {i: raw.ZerosLike(op.outputs[i]) if dys[i] is None else dense(dys[i]) for i in reached}


# -- the backward loop --------------------------------------------------------------------


_SMALL = 1024  # elements: the largest constant


def _make_constant(op: Operation, value: Any) -> None:
    """Turns an operation of a graph that is not in use yet into a constant."""
    dtype = op.outputs[0].dtype
    op.opdef, op.inputs = registry["Const"], ()
    op.attrs = {"value": value.astype(dtype.np_dtype), "dtype": dtype}


def _costly(op: Operation) -> list[Tensor]:
    """Returns the outputs of an operation that are better kept than recomputed."""
    opdef = op.opdef
    is_loop = "functional" in opdef.flags and op.type != "If"  # the cost of a branch is that of its operations
    if not (opdef.cost.kept or opdef.saves_result or is_loop or opdef.flags & {"host", "random"}):
        return []
    return [t for t in op.outputs if t.dtype.kind != "o"]


class _Back:
    """The backward loop.

    Attributes:
      graph: its body: the count, the gradients that are carried, and the sums; its outputs are in this order.
      recorded: the tensors of the forward body whose values it reads from lists.
      read, sums: the loop invariants that have a gradient, and the sums so far.
    """

    def __init__(self, loop: Loop, parts: _Parts):
        self.loop = loop
        self.parts = parts
        op, body = loop.op, loop.body
        self.graph = FuncGraph(f"{op.name}_back", current_graph())
        self.lists: list[tuple[Tensor, Tensor]] = []  # pairs: a tensor of the forward body, the list of its values
        self.first: dict[int, Tensor] = {}
        self.read: list[int] = []
        self.sums: list[Tensor] = []
        with use(self.graph):
            self.step = self.graph._placeholder(int32, (), "step")
            self.grads = [self.graph._placeholder(body.inputs[i].dtype, body.inputs[i]._spec.shape, f"grad_{i}")
                          for i in parts.carried]
            values = self._values()
            inside = {id(t): value for t, value in zip(body.inputs, values, strict=True)}
            after = [body.outputs[i] for i in (*parts.carried, *parts.once)]
            known = self._saved(after) | self._kept(after)
            first = len(self.graph._operations)
            ys = copy_ops(self.graph, after, inside)
            copies = self.graph._operations[first:]
            found = self._differentiated(ys, values)
            self._output(found, values, self._counters(inside))
            self._forget_values(inside)
        replace(self.graph, {id(inside[i]): value for i, value in known.items()})
        drop_effects(self.graph, copies)
        used = _placeholders_read(self.graph)
        self.lists = [(t, lst) for t, lst in self.lists if id(lst) in used]
        self.recorded = [t for t, _ in self.lists]

    def _values(self) -> list[Tensor]:
        """Returns the values of the forward body's inputs in an iteration."""
        loop = self.loop
        op, body = loop.op, loop.body
        outside = Counter([id(t) for i, t in enumerate(loop.inputs) if loop.is_invariant(i)])
        values = []
        for i, t in enumerate(body.inputs):
            if loop.is_invariant(i):
                value = self.graph.capture(loop.inputs[i])
                if outside[id(loop.inputs[i])] > 1:  # each reader has a gradient of its own
                    value = raw.Identity(value)
            elif (stride := stride_of(body, i)) is not None:
                value = self._counted(op.inputs[i], stride)
            else:
                value = self._from_list(t)
                if t.dtype is variant and as_long_as(body.outputs[i]) is t:
                    self.first[i] = self.graph.capture(op.inputs[i])
            values.append(value)
        return values

    def _saved(self, after: Sequence[Tensor]) -> dict[int, Tensor]:
        """Returns the recorded values of costly results, among what the forward body's `after` depend on."""
        costly = [t for op in needed_ops(after) for t in _costly(op) if id(t) not in self.loop.kept]
        return {id(t): self._from_list(t) for t in costly}

    def _kept(self, after: Sequence[Tensor]) -> dict[int, Tensor]:
        """Returns the values that must not be recomputed, among what the forward body's `after` depend on."""
        loop, made = self.loop, {id(t) for op in needed_ops(after) for t in op.outputs}
        return {i: item(self.graph.capture(values), self.step, t) for i, (t, values) in loop.kept.items() if i in made}

    def _differentiated(self, ys: Sequence[Tensor], values: Sequence[Tensor]) -> list[Any]:
        """Returns the gradients of an iteration's results with respect to what is carried and what is read."""
        parts, graph, loop = self.parts, self.graph, self.loop
        grad_ys = [*self.grads, *(graph.capture(parts.arrived[i]) for i in parts.once)]
        first = len(graph._operations)
        xs = [values[i] for i in (*parts.carried, *parts.read)]
        with none_allowed():  # an iteration may not use all inputs
            found = gradients_inside(ys, xs, grad_ys) if ys else [None] * len(xs)
        shared = [i for i in range(len(values)) if loop.is_invariant(i)]
        self.touched = touched(loop.op, graph, first, values, shared, grad_ys)
        return found

    def _output(self, found: Sequence[Any], values: Sequence[Tensor], counters: Collection[int]) -> None:
        """Sets the outputs of the body: the count, the gradients that are carried on, and the sums."""
        graph, parts, loop = self.graph, self.parts, self.loop
        outputs = []
        for i, grad, g in zip(parts.carried, self.grads, found, strict=False):
            t = loop.body.inputs[i]
            whole = t.dtype is variant or (t._spec.shape is not None and None not in t._spec.shape)
            outputs.append(raw.ZerosLike(grad if whole else values[i]) if g is None else dense(g))
        for i, g in zip(parts.read, found[len(parts.carried) :], strict=True):
            if g is not None:
                total = graph._placeholder(g.dtype, _shape_of(loop.op.inputs[i], g), f"sum_{i}")
                self.read.append(i)
                self.sums.append(total)
                outputs.append(_add(total, g, counters if i >= loop.n else ()))
        graph.outputs = [raw.Sub(self.step, np.int32(1)), *outputs]

    def _counted(self, start: Tensor, stride: int) -> Tensor:
        """Computes a loop variable to which each iteration adds the same number: it need not be recorded."""
        dtype = start.dtype
        step = self.step if dtype is int32 else raw.Cast(self.step, DstT=dtype)
        passed = step if stride == 1 else raw.Mul(step, dtype.np_dtype.type(stride))
        value: Tensor = raw.AddV2(self.graph.capture(start), passed)
        return value

    def _counters(self, inside: dict[int, Tensor]) -> set[int]:
        """Returns the ids of tensors that are a different number in each iteration."""
        loop = self.loop
        counters = [i for i in range(loop.n) if i not in loop.fixed and stride_of(loop.body, i)]
        return {id(inside[id(loop.body.inputs[i])]) for i in counters}

    def _from_list(self, t: Tensor) -> Tensor:
        """Reads the recorded value of a tensor of the forward body."""
        lst = self.graph._placeholder(variant, (), "record")
        self.lists.append((t, lst))
        value: Tensor = raw.TensorListGetItem(lst, self.step, declared(t), element_dtype=t.dtype)
        return value

    def _forget_values(self, inside: dict[int, Tensor]) -> None:
        """Drops values of which only the shape is used: such a loop variable need not be recorded."""
        body = self.loop.body
        first = {id(inside[id(body.inputs[i])]): t for i, t in self.first.items()}
        alike = {p._spec: p for p in (*self.sums, *self.grads)}
        for op in self.graph._operations:
            if op.opdef.tensor_list == "length":
                origin = first.get(id(as_long_as(op.inputs[0])))
                if origin is not None:
                    op.inputs = (origin,)
            elif op.opdef.shape_only or op.opdef.fill is not None:
                t = op.inputs[0]
                shape = t._spec.shape
                if not is_fully_defined(shape) or t.dtype.kind == "o":
                    continue
                if op.opdef.shape_only:
                    known = constant_value(op.outputs[0]) if len(op.outputs) == 1 else None
                    if known is not None:
                        _make_constant(op, known)
                elif t._spec in alike:
                    op.inputs = (alike[t._spec],)
                elif math.prod(shape) <= _SMALL:  # type: ignore[arg-type]  # it is known
                    _make_constant(op, np.full(shape, op.opdef.fill))

    def run(self, recorded: Sequence[Any], steps: Any) -> list[tuple[int, Any]]:
        """Adds the loop; returns positions of inputs with their gradients."""
        graph, op, arrived = self.graph, self.loop.op, self.parts.arrived
        start = [raw.Sub(steps, np.int32(1)), *(arrived[i] for i in self.parts.carried)]
        for i, total in zip(self.read, self.sums, strict=True):
            start.append(arrived[i] if i in arrived else zeros_for(self.loop.inputs[i], total))
        used = _placeholders_read(graph)
        kept = [(p, c) for p, c in zip(graph.inputs, graph.captured, strict=True) if id(p) in used]
        kept += [(lst, convert_to_tensor(full)) for (_, lst), full in zip(self.lists, recorded, strict=True)]
        own, counter = [self.step, *self.grads, *self.sums], op._attr("counter")
        if counter != -1:
            counter = 0
            if op._attr("counter") is not None and draws([graph]):
                counter, first = len(own), self._numbered(op._attr("counter"), steps)
                own.append(graph.outputs[-1].op.inputs[0])
                start.append(first)
        graph.inputs = [*own, *(p for p, _ in kept)]
        graph.captured = [c for _, c in kept]
        cond = FuncGraph(f"{op.name}_back_cond", current_graph())
        cond.inputs = [cond._placeholder(p.dtype, p._spec.shape, "arg") for p in graph.inputs]
        cond.captured = graph.captured
        with use(cond):
            more = raw.GreaterEqual(cond.inputs[0], np.int32(0))
            assert more.dtype is bool_
            cond.outputs = [more]
        types = tuple(p.dtype for p in own)
        results = raw.While([*start, *graph.captured], cond=cond, body=graph, Tout=types,
                            output_shapes=tuple(p._spec.shape for p in own),
                            counter=counter, bounded_by=len(start) + len(kept) - 1 if self.recorded else None,
                            name="Back")
        made = results[0].op
        made.graph._notes.touched[made.index] = self.touched
        positions = [*self.parts.carried, *self.read]
        return list(zip(positions, results[1 : 1 + len(positions)], strict=True))

    def _numbered(self, counter: int, steps: Any) -> Any:
        """Adds a loop variable that numbers the iterations as the forward loop's `counter` did; returns its start.

        So operations copied to the backward loop draw the same random numbers.
        """
        stride = stride_of(self.loop.body, counter)
        assert stride is not None, "loops that number their iterations are made here"
        with use(self.graph):
            number = self.graph._placeholder(int32, (), "number")
            self.graph.outputs.append(raw.Sub(number, np.int32(stride)))
        passed = raw.Mul(raw.Sub(steps, np.int32(1)), np.int32(stride))
        return raw.AddV2(self.loop.inputs[counter], passed)


def _placeholders_read(graph: FuncGraph) -> set[int]:
    """Returns the ids of the placeholders that the outputs and effects of a body need."""
    return {id(op.outputs[0]) for op in runs_for(graph, graph.outputs) if op.type == "Placeholder"}


def _shape_of(x: Tensor, g: Any) -> Any:
    """Returns the static shape of the gradient with respect to `x`, of which `g` is a part."""
    if x.dtype is not resource:
        return x._spec.shape
    if isinstance(g, Tensor):
        return g._spec.shape
    return x.op._attr("shape") if x.op.type == "VarHandleOp" else None


def _add(total: Tensor, g: Any, counters: Collection[int]) -> Any:
    """Adds the contribution of one iteration to the gradient of a loop invariant.

    Args:
      total: the sum so far.
      g: the addend.
      counters: ids of tensors that are a different number in each iteration, if the sum begins with zeros: an element
        indexed by such a number is written, not added to.
    """
    if isinstance(g, IndexedSlices):
        put = raw.TensorScatterUpdate if id(_number_of(g.indices)) in counters else raw.TensorScatterAdd
        return put(total, raw.ExpandDims(g.indices, -1), g.values)
    if total.dtype is not variant:
        return raw.AddV2(total, g)
    terms = list(g.op.inputs) if is_sum(g.op) else [g]
    rest = []
    for term in terms:
        if term.op.opdef.tensor_list == "set" and term.op.inputs[0].op.opdef.tensor_list == "reserve":
            _, index, item = term.op.inputs
            if len(terms) > 1 or item.dtype is variant or id(_number_of(index)) not in counters:
                declared = np.int32(-1) if item.dtype is variant else raw.Shape(item)
                before = raw.TensorListGetItem(total, index, declared, element_dtype=item.dtype)
                item = raw.AddN([before, item])
            total = raw.TensorListSetItem(total, index, item)
        else:
            rest.append(term)
    return raw.AddN([total, *rest]) if rest else total


def _number_of(index: Tensor) -> Tensor:
    """Returns the tensor that a single index is computed from; numbers plus a constant are distinct indices, too."""
    while True:
        op = index.op
        moves = op.opdef.data_movement and op.opdef.host == set(range(1, len(op.inputs))) and all(
            t._spec.shape in ((), (1,)) for t in (op.inputs[0], index))
        adds = is_sum_of_two(op)
        if moves or (adds and op.inputs[1].op.type == "Const"):
            index = op.inputs[0]
        elif adds and op.inputs[0].op.type == "Const":
            index = op.inputs[1]
        else:
            return index


registry["While"].grad(_while_grad)
