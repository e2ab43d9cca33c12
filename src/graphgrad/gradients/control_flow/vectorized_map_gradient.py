"""Builds the sub-graphs of `VectorizedMap`, and its gradient.

The gradient of a map over rows is a map over the same rows, on the differentiated sub-graph: so maps are closed under
differentiation. It recomputes what it needs of the forward sub-graph (XLA merges the two in one program). The gradient
of an input shared by all rows is summed over the rows; it stays `IndexedSlices` where the rows only gather.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.bodies.subgraphs import Copy, copy_list, kept_outputs, needed_ops
from graphgrad.gradients.core.backprop import gradients_inside
from graphgrad.gradients.core.forward_values import inputs_of_gradient
from graphgrad.gradients.core.loop_zeros import AS_FIT, is_loop, touched
from graphgrad.gradients.core.rules import carries_gradient
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import constant_in, convert_to_tensor
from graphgrad.ir.dtypes import resource, variant
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.funcgraph import FuncGraph, in_their_turn
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.indexed_slices import IndexedSlices, dense

_SMALL = 1024  # elements: known values of at most this size are not captured


class MapBody(FuncGraph):
    """The sub-graph that computes one row.

    Known integers become constants in it, so that shapes follow from them there too. Everything else is captured, small
    eager tensors as well: gradients may flow to them.
    """

    def capture(self, tensor: Any, name: str | None = None) -> Tensor:
        """Returns the placeholder, or the constant, for a tensor outside."""
        known = self._captures.get(id(tensor))
        if known is not None:
            return known
        inner: Tensor
        if tensor.dtype.kind in "iub":
            value = constant_value(tensor)
            if value is not None and value.size <= _SMALL:
                with self._around.having(control=[]):
                    inner = constant_in(self, value, self.unique_name("Const"), tensor.dtype)
                self._captures[id(tensor)] = inner
                self.outside[id(inner)] = tensor
                self._keep_alive(tensor)
                return inner
        if not isinstance(tensor, EagerTensor):
            return super().capture(tensor, name)
        inner = self._placeholder(tensor.dtype, tensor._spec.shape, name or "captured")
        self.inputs.append(inner)
        self.captured.append(tensor)
        self._captures[id(tensor)] = inner
        self.outside[id(inner)] = tensor
        self._keep_alive(tensor)
        return inner

    def add_row(self, rows: Any, name: str) -> Tensor:
        """Adds a placeholder for a row of the tensor `rows`."""
        shape = rows._spec.shape
        return self.add_input(rows.dtype, None if shape is None else shape[1:], name)

    def own(self, value: Any) -> Tensor:
        """Converts `value` to a tensor of this graph; IndexedSlices become dense."""
        with use(self):
            t = convert_to_tensor(dense(value))
            return t if isinstance(t, Tensor) and t.graph is self else self.capture(t)


def map_rows(body: MapBody, rows: Sequence[Any], chunk: int | None = None, draws: bool = True,
             name: str | None = None) -> list[Any]:
    """Builds the `VectorizedMap` of a finished body in the current graph (or runs it, in eager mode).

    Args:
      body: its inputs are placeholders for a row of each of `rows`, then its captures.
      rows: tensors (n, ...).
      chunk: the number of rows computed at a time; None for all.
      draws: whether each row draws its own random numbers.
      name: a name for the operation.
    Returns: for each output of the body a tensor (n, ...).
    """
    if current_graph() is None:
        _take_values(body, len(rows))
    mapped = (True,) * len(rows) + (False,) * len(body.captured)
    with in_their_turn(current_graph(), body):
        found: list[Any] = raw.VectorizedMap([*rows, *body.captured], body=body, mapped=mapped, chunk=chunk,
                                             draws=draws, Tout=tuple(t.dtype for t in body.outputs),
                                             name=name)
    return found


def _take_values(body: MapBody, n_rows: int) -> None:
    """Replaces variables by their values in a map that runs eagerly: a tape needs these values later."""
    for i, handle in enumerate(body.captured):
        variable = getattr(handle, "_variable", None)
        if variable is not None:
            inner = body.inputs[n_rows + i].op
            value = body.captured[i] = raw.ReadVariableOp(handle, dtype=variable.dtype, shape=variable._shape)
            with body.before(inner):
                place = body.inputs[n_rows + i] = body._placeholder(value.dtype, value._spec.shape, "captured")
            inner.opdef, inner.inputs, inner.attrs = raw.VariableOf, (place,), {"T": value.dtype}


def rows_at_once(body: FuncGraph, rows: Sequence[Any], lists: Sequence[Tensor]) -> list[Any] | None:
    """Vectorizes the body of a loop over rows to a map over all rows.

    Args:
      body: takes the row's number, then lists, into which it writes the results for that row.
      rows: tensors with equally many rows.
      lists: the lists that the body returns.
    Returns: a tensor (n, ...) for each list; None if rows have to be computed one after the other, since the body has
      effects, draws random numbers, holds loops or branches, or cannot be compiled.
    """
    counts = {t._spec.shape[0] if t._spec.shape else None for t in rows}
    if len(counts) > 1 or (None in counts and len(rows) > 1):
        return None
    if any(lst.op.opdef.tensor_list != "set" for lst in lists):
        return None
    items = [lst.op.inputs[2] for lst in lists]
    outside = dict(zip(map(id, body.inputs[1 + len(lists) :]), body.captured, strict=True))
    target = MapBody("map_body", body._outer_graph)
    places = {id(t): target.add_row(t, f"row_{i}") for i, t in enumerate(rows)}
    inside = _rows_read(body, outside, places)
    needed = needed_ops(items, inside)
    if not _computes_only(body, needed):
        return None
    for op in needed:
        if op.type == "Placeholder":
            if id(op.outputs[0]) not in outside:
                return None  # it reads its index, or another row's result
            inside[id(op.outputs[0])] = target.capture(outside[id(op.outputs[0])])
    copy_list(target, [op for op in needed if op.type != "Placeholder"], inside, as_it_is=True)
    target.outputs = [target.own(inside[id(t)]) for t in items]
    return map_rows(target, rows, AS_FIT)


def _rows_read(body: FuncGraph, outside: dict[int, Tensor], places: dict[int, Tensor]) -> dict[int, Tensor]:
    """Finds where the body of a loop over rows reads its own row.

    Args:
      body: takes the row's number first.
      outside: the tensors behind its placeholders.
      places: placeholders for a row, by the id of the tensor of all rows.
    Returns: the id of a tensor that is the own row -> its placeholder.
    """
    number = body.inputs[0]
    found = {}
    for op in body._operations:
        if op.opdef is raw.GatherV2 and op.inputs[1] is number and not op._attr("batch_dims"):
            row = places.get(id(outside.get(id(op.inputs[0]))))
            if row is not None:
                found[id(op.outputs[0])] = row
    return found


def _computes_only(body: FuncGraph, needed: Sequence[Operation]) -> bool:
    """Returns whether a body, of which some operations are needed, can compute all rows together."""
    flags = {f for op in (*needed, *body._operations) for f in op.opdef.flags if op.opdef.variable != "read"}
    if flags & {"stateful", "random", "host", "functional", "unset"}:
        return False
    return not any(t.dtype.kind == "o" for op in needed for t in op.outputs if t.dtype is not resource)


class _RowGradient:
    """The gradient of one row of a map: the body of another map.

    Attributes:
      body: the sub-graph; its inputs are those of the map's, then kept values, then incoming gradients.
      given, mapped: what the other map gets for these, and which of that is mapped.
      found: position of an input of the map -> its gradient for one row, for all that have one.
      touched: for a loop, see `loop_zeros.touched`; else None.
    """

    def __init__(self, op: Operation, dys: Sequence[Any]):
        source, mapped, summed = (op._attr(name) for name in ("body", "mapped", "summed"))
        self.body = body = MapBody(f"{op.name}_grad", current_graph())
        ys = [i for i, dy in enumerate(dys) if dy is not None and carries_gradient(op.outputs[i])]
        xs = [i for i, t in enumerate(op.inputs) if carries_gradient(t)]
        is_record = not isinstance(op, Operation)  # of a tape; the map has values instead of variables
        inputs, again = (op.inputs, {}) if is_record else inputs_of_gradient(op, is_loop(op))
        kept = [] if is_record else kept_outputs(op)
        used = [dense(dys[i]) for i in ys]
        self.given = [*inputs, *again.values(), *kept, *used]
        self.mapped = (*mapped, *(mapped[i] for i in again), *[True] * len(kept), *[i not in summed for i in ys])
        with use(body), none_allowed():  # a row may not use all inputs
            self._copy = copy = Copy(body, source, kept, lambda t: body.add_row(t, "kept"), again)
            grad_ys = [body.add_input(dy.dtype, dy._spec.shape, f"grad_{i}") if y in summed else
                       body.add_row(dy, f"grad_{i}") for i, (y, dy) in enumerate(zip(ys, used, strict=True))]
            first = len(body._operations)
            grads = gradients_inside([copy.inside[id(source.outputs[i])] for i in ys], [body.inputs[i] for i in xs],
                                     grad_ys, colocate=False)
            shared = [i for i in range(len(mapped)) if not mapped[i]]
            self.touched = (touched(op, body, first, body.inputs, shared, grad_ys)
                            if not is_record and is_loop(op) else None)
        self.found = {i: g for i, g in zip(xs, grads, strict=True) if g is not None}

    def results(self, op: Operation, summed: Sequence[int]) -> list[Any]:
        """Adds the map, once the outputs of the body are set; returns its results for all rows."""
        body = self.body
        self._copy.settle()
        results: list[Any] = raw.VectorizedMap(
            [*self.given, *body.captured], body=body, mapped=(*self.mapped, *[False] * len(body.captured)),
            chunk=op._attr("chunk"), draws=op._attr("draws"), summed=tuple(summed),
            Tout=tuple(t.dtype for t in body.outputs))
        if self.touched is not None:
            made = results[0].op
            made.graph._notes.touched[made.index] = self.touched
        return results


def _vectorized_map_grad(op: Operation, *dys: Any) -> list[Any]:
    """Builds a `VectorizedMap` over the gradient of the sub-graph."""
    row, mapped = _RowGradient(op, dys), op._attr("mapped")
    outputs = row.body.outputs
    summed: list[int] = []  # which outputs of the new map are summed over the rows
    places = {}  # where they have the gradient of an input: the first of them, and how many there are
    for i, g in row.found.items():
        parts = [g.values, g.indices] if isinstance(g, IndexedSlices) and not mapped[i] else [g]
        if (op._attr("chunk") == AS_FIT or g.dtype is variant) and not mapped[i] and len(parts) == 1:
            summed.append(len(outputs))
        places[i] = len(outputs), len(parts)
        outputs.extend(row.body.own(t) for t in parts)
    in_grads: list[Any] = [None] * len(op.inputs)
    if not outputs:
        return in_grads
    results = row.results(op, summed)
    for i, (start, count) in places.items():
        if mapped[i] or start in summed:
            in_grads[i] = results[start]
        elif count == 1:
            in_grads[i] = raw.Sum(results[start], np.int32(0))
        else:
            in_grads[i] = _slices_of_all_rows(results[start], results[start + 1], op.inputs[i])
    return in_grads


def _slices_of_all_rows(values: Any, indices: Any, x: Any) -> IndexedSlices:
    """Concatenates the rows' IndexedSlices, which sums them: values (n, k, ...) and indices (n, k)."""
    shape = values._spec.shape
    if shape is not None and None not in shape[2:]:
        target: Any = np.array([-1, *shape[2:]], np.int32)
    else:
        rest = raw.StridedSlice(raw.Shape(values), [2], [0], [1], end_mask=1)
        target = raw.ConcatV2([[-1], rest], np.int32(0))
    dense = raw.VariableShape(x) if x.dtype is resource else raw.Shape(x)
    return IndexedSlices(raw.Reshape(values, target), raw.Reshape(indices, np.array([-1], np.int32)), dense)


raw.VectorizedMap.grad(_vectorized_map_grad)
