"""Loop checkpointing: gradients of loops in sublinear memory, by nested loops over segments.

A loop of n iterations is the same as one over segments, whose body is a loop over the iterations of a segment. The
gradient of this form, taken as of any loop, keeps the loop variables at the beginning of each segment, and repeats one
segment at a time to keep its iterations: with segments of sqrt(n) iterations, 2 sqrt(n) states instead of n, for one
more forward pass. With D levels of nesting it is D n^(1/D) states and D - 1 more passes; D about log n makes that
O(log n).

The number of iterations need not be known before the run: lengths of segments follow from its bound.

Reference: Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse automatic
differentiation", 1992; Chen et al., "Training deep nets with sublinear memory cost", 2016.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.bodies.subgraphs import copy_ops, draws, in_graph_of
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, int32
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source

LEVELS = {"sqrt": 2, "log": 6}  # levels of nesting; that of 'log' is for loops without a known bound
_MOST = 8


def segmented(op: Operation, inputs: Sequence[Tensor], bound: Any) -> Operation | None:
    """Builds an operation that computes what a `While` does, as nested loops.

    Args:
      op: the loop, with an attribute `memory`.
      inputs: what to use instead of its inputs.
      bound: the number of iterations or a larger one, an int or a scalar int32.
    Returns: the outermost of the loops, whose outputs are the number of iterations and those of `op`; its inputs are
      the number 0, those of `op`, and some more. None where there is nothing to gain.
    """
    if op._attr("counter") is not None:
        return None
    if draws([op._attr("cond")]):  # the conditions of all levels would draw random numbers
        tell_kept(op, "its condition draws random numbers")
        return None
    levels = LEVELS[op._attr("memory")]
    known = constant_value(bound) if isinstance(bound, Tensor) else np.asarray(bound)
    if known is not None:
        n = int(known)
        if n < 4:
            return None
        if op._attr("memory") == "log":
            levels = min(_MOST, max(2, round(math.log(n))))
        length: Any = np.int32(segment_length(n, levels))
        segments: Any = np.int32(-(-n // int(length) ** (levels - 1)))
    else:
        length, segments = raw.LoopSegments(bound, levels=levels)
    # The lengths of lists give the loops their bounds when they are compiled.
    sizes = [raw.TensorListReserve(np.zeros(0, np.int32), n, element_dtype=float32) for n in (length, segments)]
    return _Segmented(op, inputs, levels, sizes).build()


def segment_length(n: int, levels: int) -> int:
    """Returns the smallest length whose power `levels` is at least n."""
    length: int = max(1, round(float(n) ** (1.0 / levels)))
    while length**levels < n:
        length += 1
    return length


def tell_kept(op: Operation, reason: str) -> None:
    """Warns that the gradient of a loop keeps every iteration, although checkpointing was requested.

    Args:
      op: the loop.
      reason: why, a clause about it.
    """
    told = op.graph._scoped_state.setdefault("loops_that_keep_all", set())
    current = current_graph()
    if op.index in told or (isinstance(current, FuncGraph) and current.discarded):
        return
    told.add(op.index)
    line = user_source(2)
    warnings.warn_explicit(
        f"checkpointed_loops: the gradient of '{op.name}' (op type: {op.type}) keeps every iteration: {reason}.\n"
        f"  Built at {op.source}\n  Fix: do that outside of the loop, or build the loop outside of checkpointed_loops",
        UserWarning, line.filename if line else "<unknown>", line.lineno if line else 1)


class _Segmented:
    """Builds the nest from the outside to the inside."""

    def __init__(self, op: Operation, inputs: Sequence[Tensor], levels: int, sizes: Sequence[Tensor]):
        self.op, self.inputs, self.levels, self.sizes = op, inputs, levels, sizes
        self.n = len(op.outputs)
        self.cond: FuncGraph = op._attr("cond")
        self.body: FuncGraph = op._attr("body")
        self.most = op._attr("maximum_iterations")

    def build(self) -> Operation:
        """Adds the nest to the graph that is being built."""
        start = [np.int32(0), *self.inputs[: self.n]]
        return self._loop(self.levels, current_graph(), start, [*self.inputs[self.n :], *self.sizes])

    def _loop(self, level: int, graph: Any, start: Sequence[Any], captured: Sequence[Tensor]) -> Operation:
        """Adds a loop whose body is the loop of the level below; on the lowest one, the iteration itself.

        Its variables are the number of iterations so far, those of the loop, and below the top the position in the
        segment.
        """
        top = level == self.levels
        types = [int32, *(t.dtype for t in self.op.outputs)] + ([] if top else [int32])
        shapes = [(), *(t._spec.shape for t in self.body.inputs[: self.n])] + ([] if top else [()])
        start = [*start] if top else [*start, np.int32(0)]
        count = len(types)
        own: dict[FuncGraph, list[Tensor]] = {}
        cond, body = (FuncGraph(f"{self.op.name}_segment{level}{what}", graph) for what in ("_cond", ""))
        for inner in (cond, body):
            given = [*zip(types, shapes, strict=True), *((t.dtype, t._spec.shape) for t in captured)]
            own[inner] = inner.inputs = [inner._placeholder(t, s, "arg") for t, s in given]
            inner.captured = [convert_to_tensor(t) for t in captured]
        with use(cond):
            args = cond.inputs
            inside = self._standing(self.cond, args[1 : 1 + self.n], args[count:])
            (more,) = copy_ops(cond, self.cond.outputs, inside)
            if self.most is not None:
                more = raw.LogicalAnd(raw.Less(args[0], np.int32(self.most)), more)
            if not top:
                more = raw.LogicalAnd(raw.Less(args[count - 1], raw.TensorListLength(args[-2])), more)
            cond.outputs = [more]
        with use(body):
            args = body.inputs
            if level > 1:
                below = self._loop(level - 1, body, args[: 1 + self.n], args[count:])
                after = list(below.outputs[: 1 + self.n])
            else:
                inside = self._standing(self.body, args[1 : 1 + self.n], args[count:])
                after = [raw.AddV2(args[0], np.int32(1)), *copy_ops(body, self.body.outputs, inside)]
            body.outputs = after if top else [*after, raw.AddV2(args[count - 1], np.int32(1))]
        results = raw.While([*start, *captured], cond=cond, body=body, Tout=tuple(types), output_shapes=tuple(shapes),
                            bounded_by=count + len(captured) - (1 if top else 2), counter=-1 if level > 1 else 0,
                            name="Segments")
        made: Operation = results[0].op
        return made

    def _standing(self, source: FuncGraph, variables: Sequence[Tensor],
                  captured: Sequence[Tensor]) -> dict[int, Tensor]:
        tensors = [*variables, *captured[: len(captured) - len(self.sizes)]]
        return {id(p): t for p, t in zip(source.inputs, tensors, strict=True)}


def through_segments(op: Operation, inputs: Sequence[Tensor], bound: Any, dys: Sequence[Any],
                     rule: Callable[..., list[Any]]) -> list[Any] | None:
    """Computes the gradient of a loop through its segmented form; None where it has none.

    Args:
      op, inputs, bound: as in `segmented`.
      dys: the gradients of its outputs.
      rule: the gradient rule of loops.
    """
    with in_graph_of(op):
        nest = segmented(op, inputs, bound)
    if nest is None:
        return None
    arrived = [None, *[raw.ZerosLike(t) if dy is None and t.dtype.kind in "fc" else dy
                       for dy, t in zip(dys, op.outputs, strict=True)]]
    return rule(nest, *arrived)[1 : 1 + len(op.inputs)]


