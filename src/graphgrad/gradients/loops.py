"""The gradient of `While`: two loops, one that records and one that goes back.

The forward loop stays as it is. A run that needs it and its gradient does it in one with the first of these (`joint`).
The gradient consists of

1. a `While` that runs the iterations again and writes, for each of them, the loop variables that the
   derivative of the body needs into lists, and the results of what is costly in it (matrix products, convolutions,
   inner loops); of the forward loop it repeats only what these depend on.
2. a `While` that reads the lists from the end to the beginning. Its body is the differentiated body, which
   computes again what is cheap within one iteration.

Both are ordinary operations, so that gradients have gradients, to any order. The lists are as long as
the number of iterations, or longer: a compiled loop needs a size that is known. `trips` finds it.

What a loop only reads is no part of its state. Gradients with respect to captured tensors, and to loop variables
that never change, are sums over the iterations; where one iteration touches a few rows or elements
only (`IndexedSlices`, an element of a list), only these are added to.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ..ir.context import current_graph, use
from ..ir.convert import convert_to_tensor
from ..ir.dtypes import bool_, float64, int32, resource, variant
from ..ir.funcgraph import FuncGraph
from ..ir.graph import Operation, Tensor
from ..ir.opdef import raw, registry
from ..ir.shape import is_fully_defined
from ..ir.slices import IndexedSlices
from .backprop import gradients_inside
from .checkpoints import through_segments
from .joint import Joint
from .strict import strict_gradients
from .subgraphs import as_long_as, carries, copy_ops, dense, in_graph_of, needed_ops, through_identity, zeros_for
from .trips import Trips, count_trips, stride_of, written_once


class _Loop:
    """A `While` operation, as its gradient sees it.

    Attributes:
      op: the operation.
      n: the number of loop variables; the inputs behind them are captures.
      cond, body: the sub-graphs.
      fixed: positions of loop variables that no iteration changes.
    """

    def __init__(self, op: Operation):
        self.op = op
        self.n = len(op.outputs)
        self.cond: FuncGraph = op.get_attr("cond")
        self.body: FuncGraph = op.get_attr("body")
        self.fixed = {i for i in range(self.n) if through_identity(self.body.outputs[i]) is self.body.inputs[i]}

    def closure(self, wanted: Sequence[Tensor]) -> list[int]:
        """The loop variables that have to be computed for tensors of the body and for the condition."""
        positions = {id(t): i for i, t in enumerate(self.body.inputs[: self.n])}
        in_cond = {id(t): i for i, t in enumerate(self.cond.inputs[: self.n])}
        found = {positions[id(t)] for t in _inputs_used(wanted) if id(t) in positions}
        found |= {in_cond[id(t)] for t in _inputs_used(self.cond.outputs) if id(t) in in_cond}
        waiting = list(found)
        while waiting:
            for t in _inputs_used([self.body.outputs[waiting.pop()]]):
                i = positions.get(id(t))
                if i is not None and i not in found:
                    found.add(i)
                    waiting.append(i)
        return sorted(found - self.fixed)


def _inputs_used(outputs: Sequence[Tensor]) -> list[Tensor]:
    """The placeholders that some tensors of a sub-graph depend on."""
    return [op.outputs[0] for op in needed_ops(outputs) if op.type == "Placeholder"]


def _while_grad(op: Operation, *dys: Any) -> list[Any]:
    """The recording loop and the loop back; see above."""
    if op.get_attr("memory") is not None:
        with in_graph_of(op):
            trips = count_trips(op)
            bound = trips.bound if trips.bound is not None else raw.LoopBound(repeat(_Loop(op), [], [])[0])
        found = through_segments(op, bound, dys, _while_grad)
        if found is not None:
            return found
    loop = _Loop(op)
    n = loop.n
    once = [i for i in range(n) if op.outputs[i].dtype is variant and written_once(op, i)]
    carried = [i for i in range(n) if carries(op.outputs[i]) and i not in loop.fixed and i not in once]
    # What is only read: captures, and loop variables that never change, whose sums begin with what has arrived.
    read = [i for i in range(len(op.inputs)) if carries(op.inputs[i]) and (i >= n or i in loop.fixed)]
    arrived = {i: _arrived(op, i, dys[i]) for i in range(n) if carries(op.outputs[i])}
    back = _Back(loop, carried, read, [arrived[i] for i in carried], {i: arrived[i] for i in once})
    if not carried and not back.read:
        return [arrived[i] if i in loop.fixed and i in arrived else None for i in range(len(op.inputs))]
    with in_graph_of(op):  # every iteration of a loop around the gradient needs the same
        trips = count_trips(op)
        recorded, steps = _record(loop, back.recorded, trips)
    results = back.run(recorded, steps, arrived)
    in_grads: list[Any] = [None] * len(op.inputs)
    for i, g in results:
        in_grads[i] = g
    for i in loop.fixed & set(arrived):
        if in_grads[i] is None:
            in_grads[i] = arrived[i]
    return in_grads


def _arrived(op: Operation, i: int, dy: Any) -> Any:
    return raw.ZerosLike(op.outputs[i]) if dy is None else dense(dy)


# -- the loop that records ---------------------------------------------------------------


def _record(loop: _Loop, wanted: Sequence[Tensor], trips: Trips) -> tuple[list[Any], Any]:
    """Runs the loop again; gives a list for each tensor of the body that is wanted, and the number of iterations."""
    if not wanted and trips.steps is not None:
        return [], trips.steps
    bound = trips.bound if trips.bound is not None else raw.LoopBound(repeat(loop, [], [])[0])
    lists = [raw.TensorListReserve(_declared(t), bound, element_dtype=t.dtype) for t in wanted]
    count, *full = repeat(loop, wanted, lists)
    return full, trips.steps if trips.steps is not None else count


def _declared(t: Tensor) -> Any:
    shape = t._spec.shape
    if shape is None or t.dtype is variant:
        return np.int32(-1)
    return np.array([-1 if d is None else d for d in shape], np.int32)


def repeat(loop: _Loop, wanted: Sequence[Tensor], lists: Sequence[Any]) -> list[Any]:
    """A loop that repeats what the forward one computes of `wanted`, counts, and writes the values into lists.

    Returns: the number of iterations, and the full lists.
    """
    op, n = loop.op, loop.n
    variables = loop.closure(wanted)
    counter = op.get_attr("counter")
    if counter is not None and counter >= 0:  # what numbers the iterations goes along
        variables = sorted({counter, *variables, *loop.closure([loop.body.outputs[counter]])})
        counter = 1 + variables.index(counter)
    start = [np.int32(0), *(op.inputs[i] for i in variables), *lists]
    body, cond = (FuncGraph(f"{op.name}_{what}", op.graph) for what in ("record", "record_cond"))
    types = [int32, *(op.inputs[i].dtype for i in variables), *(variant for _ in lists)]
    shapes = [(), *(loop.body.inputs[i]._spec.shape for i in variables), *(() for _ in lists)]
    inner: dict[FuncGraph, dict[int, Tensor]] = {}
    for graph, source in ((body, loop.body), (cond, loop.cond)):
        own = [graph._placeholder(t, s, "arg") for t, s in zip(types, shapes, strict=True)]
        graph.inputs = own
        inner[graph] = {id(source.inputs[i]): p for i, p in zip(variables, own[1:], strict=False)}
    # Both get what either reads: captures, and loop variables that stay as they are.
    reads = [i for i in range(len(op.inputs)) if i >= n or i in loop.fixed]
    used = {id(t) for t in _inputs_used([*(loop.body.outputs[i] for i in variables), *wanted])}
    used |= {id(t) for t in _inputs_used(loop.cond.outputs)}
    reads = [i for i in reads if id(loop.body.inputs[i]) in used or id(loop.cond.inputs[i]) in used]
    for graph, source in ((body, loop.body), (cond, loop.cond)):
        for i in reads:
            p = graph._placeholder(op.inputs[i].dtype, op.inputs[i]._spec.shape, "captured")
            graph.inputs.append(p)
            graph.captured.append(op.inputs[i])
            inner[graph][id(source.inputs[i])] = p
    with use(cond):
        cond.outputs = copy_ops(cond, loop.cond.outputs, inner[cond])
    with use(body):
        step = body.inputs[0]
        copies = copy_ops(body, [*(loop.body.outputs[i] for i in variables), *wanted], inner[body])
        after, values = copies[: len(variables)], copies[len(variables) :]
        own_lists = body.inputs[1 + len(variables) : 1 + len(variables) + len(lists)]
        written = [raw.TensorListSetItem(lst, step, t) for lst, t in zip(own_lists, values, strict=True)]
        body.outputs = [raw.AddV2(step, np.int32(1)), *after, *written]
    results = raw.While([*start, *(op.inputs[i] for i in reads)], cond=cond, body=body, Tout=tuple(types),
                        output_shapes=tuple(shapes), maximum_iterations=op.get_attr("maximum_iterations"),
                        bounded_by=1 + len(variables) if lists else None, counter=counter, name="Record")  # fmt: skip
    if lists:
        record = results[0].op
        op.graph._joints[record.index] = Joint(op, record, variables, wanted)
    return [results[0], *results[1 + len(variables) :]]


# -- the loop back -----------------------------------------------------------------------


_SMALL = 1024  # elements: larger constants are not made


def _make_constant(op: Operation, value: Any) -> None:
    """Turns an operation of a graph that nobody has seen yet into a constant."""
    dtype = op.outputs[0].dtype
    op.opdef, op.inputs = registry["Const"], ()
    op.attrs = {"value": value.astype(dtype.np_dtype), "dtype": dtype}


_COSTLY = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv2D", "Conv3D",
                     "DepthwiseConv2dNative", "Cholesky", "MatrixInverse", "MatrixSolve", "Svd", "SelfAdjointEigV2",
                     "Qr", "While", "VectorizedMap",
                     # The gradients of these read their results, not their arguments: as much is kept.
                     "Tanh", "Sigmoid", "Exp", "Softmax", "Sqrt", "Rsqrt"})  # fmt: skip


def _costly(op: Operation) -> list[Tensor]:
    """The outputs of an operation that are better kept than computed again."""
    if op.type not in _COSTLY and not op.opdef.flags & {"host", "random"}:
        return []
    return [t for t in op.outputs if t.dtype.kind != "o"]


def _replace(graph: FuncGraph, other: dict[int, Tensor]) -> None:
    """Lets operations read other tensors, by the id of those they read, in a graph that nobody has seen yet."""
    for op in graph._operations:
        if any(id(t) in other for t in op.inputs):
            op.inputs = tuple([other.get(id(t), t) for t in op.inputs])
    graph.outputs = [other.get(id(t), t) for t in graph.outputs]


def _drop_effects(graph: FuncGraph) -> None:
    """Removes what would run although no output needs it: reads of variables, host functions, inner loops."""
    needed = {op.index for op in needed_ops(graph.outputs)}
    for op in graph._operations:
        if op.index not in needed and "stateful" in op.opdef.flags:
            op.opdef, op.inputs, op.attrs = registry["Const"], (), {"value": np.zeros(()), "dtype": float64}


class _Back:
    """The loop that goes back.

    Attributes:
      recorded: the tensors of the forward body whose values it reads from lists.
    """

    def __init__(self, loop: _Loop, carried: Sequence[int], read: Sequence[int], dys: Sequence[Any],
                 once: dict[int, Any]):  # fmt: skip
        self.loop = loop
        self.carried = carried
        self.dys = dys
        op, n, body = loop.op, loop.n, loop.body
        graph = self.graph = FuncGraph(f"{op.name}_back", current_graph())
        self.lists: list[tuple[Tensor, Tensor]] = []  # a tensor of the forward body, the list of its values
        self.first: dict[int, Tensor] = {}
        with use(graph):
            self.step = graph._placeholder(int32, (), "step")
            self.grads = [graph._placeholder(body.inputs[i].dtype, body.inputs[i]._spec.shape, f"grad_{i}")
                          for i in carried]  # fmt: skip
            inside: dict[int, Tensor] = {}
            values = []
            outside = Counter([id(t) for i, t in enumerate(op.inputs) if i >= n or i in loop.fixed])
            for i, t in enumerate(body.inputs):
                if i >= n or i in loop.fixed:
                    value = graph.capture(op.inputs[i])
                    if outside[id(op.inputs[i])] > 1:  # each reader has a gradient of its own
                        value = raw.Identity(value)
                elif (stride := stride_of(body, i)) is not None:
                    value = self._counted(op.inputs[i], stride)
                else:
                    value = self._from_list(t)
                    if t.dtype is variant and as_long_as(body.outputs[i]) is t:
                        self.first[i] = graph.capture(op.inputs[i])
                inside[id(t)] = value
                values.append(value)
            after = [body.outputs[i] for i in (*carried, *once)]
            costly = [t for op in needed_ops(after) for t in _costly(op)]
            saved = [self._from_list(t) for t in costly]
            ys = copy_ops(graph, after, inside)
            grad_ys = [*self.grads, *(graph.capture(dy) for dy in once.values())]
            with strict_gradients(False):  # an iteration need not use everything
                xs = [values[i] for i in (*carried, *read)]
                found = gradients_inside(ys, xs, grad_ys) if ys else [None] * len(xs)
            outputs = []
            for i, grad, g in zip(carried, self.grads, found, strict=False):
                t = body.inputs[i]
                whole = t.dtype is variant or (t._spec.shape is not None and None not in t._spec.shape)
                outputs.append(raw.ZerosLike(grad if whole else values[i]) if g is None else dense(g))
            # Sums over the iterations.
            self.read: list[int] = []
            self.sums: list[Tensor] = []
            for i, g in zip(read, found[len(carried) :], strict=True):
                if g is not None:
                    self.read.append(i)
                    total = graph._placeholder(g.dtype, _shape_of(op.inputs[i], g), f"sum_{i}")
                    self.sums.append(total)
                    outputs.append(_add(total, g, self._counters(inside) if i >= n else ()))
            previous = raw.Sub(self.step, np.int32(1))
            self._forget_values(inside)
            graph.outputs = [previous, *outputs]
        _replace(graph, {id(inside[id(t)]): value for t, value in zip(costly, saved, strict=True)})
        _drop_effects(graph)
        used = {id(t) for t in _inputs_used(graph.outputs)}
        self.lists = [(t, lst) for t, lst in self.lists if id(lst) in used]
        self.recorded = [t for t, _ in self.lists]

    def _counted(self, start: Tensor, stride: int) -> Tensor:
        """The value of a loop variable to which each iteration adds the same number: it need not be recorded."""
        dtype = start.dtype
        step = self.step if dtype is int32 else raw.Cast(self.step, DstT=dtype)
        passed = step if stride == 1 else raw.Mul(step, dtype.np_dtype.type(stride))
        value: Tensor = raw.AddV2(self.graph.capture(start), passed)
        return value

    def _counters(self, inside: dict[int, Tensor]) -> set[int]:
        """Ids of tensors that are another number in each iteration."""
        loop = self.loop
        counters = [i for i in range(loop.n) if i not in loop.fixed and stride_of(loop.body, i)]
        return {id(inside[id(loop.body.inputs[i])]) for i in counters}

    def _from_list(self, t: Tensor) -> Tensor:
        """The recorded value of a tensor of the forward body."""
        lst = self.graph._placeholder(variant, (), "record")
        self.lists.append((t, lst))
        value: Tensor = raw.TensorListGetItem(lst, self.step, _declared(t), element_dtype=t.dtype)
        return value

    def _forget_values(self, inside: dict[int, Tensor]) -> None:
        """Spares what is only asked for its shape: such a loop variable need not be recorded."""
        body = self.loop.body
        first = {id(inside[id(body.inputs[i])]): t for i, t in self.first.items()}
        alike = {p._spec: p for p in (*self.sums, *self.grads)}
        for op in self.graph._operations:
            if op.type == "TensorListLength":
                origin = first.get(id(as_long_as(op.inputs[0])))
                if origin is not None:
                    op.inputs = (origin,)
            elif op.type in ("Shape", "ZerosLike"):
                t = op.inputs[0]
                shape = t._spec.shape
                if not is_fully_defined(shape) or t.dtype.kind == "o":
                    continue
                if op.type == "Shape":
                    _make_constant(op, np.array(shape))
                elif t._spec in alike:
                    op.inputs = (alike[t._spec],)
                elif math.prod(shape) <= _SMALL:  # type: ignore[arg-type]  # it is known
                    _make_constant(op, np.zeros(shape))

    def run(self, recorded: Sequence[Any], steps: Any, arrived: dict[int, Any]) -> list[tuple[int, Any]]:
        """Adds the loop; gives positions of inputs with their gradients."""
        graph, op = self.graph, self.loop.op
        start = [raw.Sub(steps, np.int32(1)), *self.dys]
        for i, total in zip(self.read, self.sums, strict=True):
            start.append(arrived[i] if i in arrived else zeros_for(op.inputs[i], total))
        used = {id(t) for t in _inputs_used(graph.outputs)}
        kept = [(p, c) for p, c in zip(graph.inputs, graph.captured, strict=True) if id(p) in used]
        kept += [(lst, convert_to_tensor(full)) for (_, lst), full in zip(self.lists, recorded, strict=True)]
        own = [self.step, *self.grads, *self.sums]
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
                            counter=-1 if op.get_attr("counter") == -1 else 0,
                            bounded_by=len(start) + len(kept) - 1 if self.recorded else None, name="Back")  # fmt: skip
        return list(zip([*self.carried, *self.read], results[1:], strict=True))


def _shape_of(x: Tensor, g: Any) -> Any:
    """The static shape of the gradient with respect to `x`, of which `g` is a part."""
    if x.dtype is not resource:
        return x._spec.shape
    if isinstance(g, Tensor):
        return g._spec.shape
    return x.op.get_attr("shape") if x.op.type == "VarHandleOp" else None


def _add(total: Tensor, g: Any, counters: Collection[int]) -> Any:
    """What one iteration adds to the gradient of something that is only read.

    Args:
      total: the sum so far.
      g: what is added.
      counters: ids of tensors that are another number in each iteration, if the sum begins with zeros: a place
        that such a number names is written, not added to.
    """
    if isinstance(g, IndexedSlices):
        put = raw.TensorScatterUpdate if id(_number_of(g.indices)) in counters else raw.TensorScatterAdd
        return put(total, raw.ExpandDims(g.indices, -1), g.values)
    if total.dtype is not variant:
        return raw.AddV2(total, g)
    terms = list(g.op.inputs) if g.op.type == "AddN" else [g]
    rest = []
    for term in terms:
        if term.op.type == "TensorListSetItem" and term.op.inputs[0].op.type == "TensorListReserve":
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
    """The tensor that an index of one place is made of; numbers that differ by a constant name different places too."""
    while True:
        op = index.op
        moves = op.type in ("Reshape", "ExpandDims", "Identity") and op.inputs[0]._spec.shape in ((), (1,))
        adds = op.type in ("AddV2", "Add", "Sub")
        if moves or (adds and op.inputs[1].op.type == "Const"):
            index = op.inputs[0]
        elif adds and op.inputs[0].op.type == "Const":
            index = op.inputs[1]
        else:
            return index


registry["While"].grad(_while_grad)
