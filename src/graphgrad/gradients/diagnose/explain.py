"""`explain_gradient`: finds where the gradient of y with respect to x ends, and why.

The sweep is repeated, not in the graph but in a temporary function graph around it, so the graph stays unchanged. It
visits all operations on paths from y to x, also those that carry no gradient; where a gradient arrives at an operation
and none leaves towards x, there is a cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.core.aggregate import AggregationMethod
from graphgrad.gradients.core.arguments import as_xs, as_ys
from graphgrad.gradients.core.gradient_paths import GraphView
from graphgrad.gradients.core.loop_zeros import zero_by_loops
from graphgrad.gradients.core.missing import MissingGradientError, problem, remedy, replacement
from graphgrad.gradients.core.outer_graphs import Outside, leave, open_entrances
from graphgrad.gradients.core.rules import Call, carries_gradient
from graphgrad.gradients.core.sweep import GraphSweep
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.funcgraph import FuncGraph, around
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE
from graphgrad.ir.source import Source, is_internal, line_of, user_source
from graphgrad.ir.values.indexed_slices import of_values
from graphgrad.system.garbage_collector import collector_paused

from .explanation import Cut, GradientExplanation, Ways
from .unrelated import how_unrelated

_OTHERWISE = "use another op, or give it a gradient with tf.custom_gradient or gradient_override_map"


def explain_gradient(y: Any, x: Any, stop_gradients: Any = None) -> GradientExplanation:
    """Explains why the gradient of `y` with respect to `x` is None or zero, or which path it takes.

    Adds nothing to the graph. Gradient functions are called once more, in a separate graph. A gradient that is zero
    only for some values, such as that of `tf.nn.relu` at negative numbers, is not detected.

    Args:
      y: a tensor, or a list of them, as for `gradients`.
      x: a tensor or variable.
      stop_gradients: a tensor or a list of tensors, as for `gradients`.
    Returns: a `GradientExplanation`: prints as text; `cuts` lists where the gradient ends, and
      `graphgrad.viz.draw(explanation, "why.svg")` draws the graph with the path and the cuts marked.
    Raises: TypeError for anything but tensors of a graph; ValueError for tensors of several graphs.
    Gradient: none; it builds nothing.
    Reference: graphgrad's own; TensorFlow has no such function.

    >>> x = tf.placeholder(tf.float32, name="x")
    >>> y = tf.reduce_sum(tf.round(x) * 2.0, name="y")
    >>> why = tf.explain_gradient(y, x)
    >>> why.is_none, [(cut.kind, cut.op.type) for cut in why.cuts]
    (True, [('returned None', 'Round')])
    >>> print(str(why).splitlines()[0])
    The gradient of y:0 with respect to x:0 is None: 1 cut, on every way from y to x.
    """
    graph = _graph_of(y, x)
    with use(graph):
        ys, xs = as_ys(graph, y), as_xs(graph, [x])
        stops = as_xs(graph, stop_gradients, "stop_gradients")
    outside, (ys, (x_tensor,), stops) = leave(graph, [x], ys, xs, stops)
    return _explained(graph, ys, x_tensor, stops, outside)


def _explained(graph: Graph, ys: list[Tensor], x: Tensor, stops: list[Tensor],
               outside: Outside) -> GradientExplanation:
    view = GraphView(graph, outside, [x])
    ways = Ways(view, ys, x)
    if any(id(y) in ways.live for y in ys):
        found = _Noting(graph, ways, stops).explain()
    else:
        found = GradientExplanation(ys, x, "none", (), (), how_unrelated(ys, x, GraphView(graph, outside)))
    if found.is_none:
        call = Call(graph, "explain", False, False, AggregationMethod.ADD_N, None)
        call.outside = outside
        if zero_by_loops(call, ys, [x], {t.op for t in stops} | open_entrances):
            found.verdict = "zero"
    return found


def _graph_of(y: Any, x: Any) -> Graph:
    """Returns the graph of y's first tensor, or the current one if that is within it."""
    here = current_graph()
    while isinstance(y, (list, tuple)) and y:
        y = y[0]
    for value in (y, getattr(x, "handle", x)):
        graph = getattr(getattr(value, "handle", value), "graph", None)
        if isinstance(graph, Graph):
            return here if here is not None and graph in around(here) else graph
    raise TypeError(
        f"explain_gradient needs tensors of a graph, not {y!r}: eager values do not know how they were computed.\n"
        f"  Asked for at {user_source(2)}\n  Fix: call it inside a tf.function or `with graph.as_default():`"
    )


def _inside(op: Operation, i: int) -> tuple[str, Cut] | None:
    """Finds where the gradient ends in a sub-graph of a loop or branch, on its path to input `i`."""
    parts = (("body", 0, "body"), ("then_branch", 1, "true branch"), ("else_branch", 1, "false branch"))
    for name, before, part in parts:
        inner = op.attrs.get(name)
        if not isinstance(inner, FuncGraph) or op.type not in ("While", "If"):
            continue
        x = inner.inputs[i - before]
        for y in inner.outputs:
            if carries_gradient(x) and carries_gradient(y):
                found = _explained(inner, [y], x, [], {}).cuts
                if found:
                    return part, found[0]
    return None


class _Noting(GraphSweep):
    """One repetition of the sweep, which notes where gradients end."""

    def __init__(self, graph: Graph, ways: Ways, stops: list[Tensor]):
        self.scratch = FuncGraph("explain_gradient", graph, discarded=True)
        call = Call(self.scratch, "explain", False, False, AggregationMethod.ADD_N, None)
        call.scope, call.fresh = "explain", False
        super().__init__(call, ways)
        self.ways = ways
        self.stops = {t.op: i for i, t in reversed(list(enumerate(stops)))}  # operation -> entry of stop_gradients
        self.live: set[int] = set()  # ids of tensors with a gradient that is not known to be zero
        self.cuts: dict[tuple[str, Operation], Cut] = {}
        self.raises = False

    def explain(self) -> GradientExplanation:
        """Sweeps and summarizes."""
        ways, x = self.ways, self.ways.x
        with use(self.scratch), collector_paused():
            seeds = [self.scratch.add_input(y.dtype, y._spec.shape, f"dy_{i}") for i, y in enumerate(ways.ys)]
            ways.came_by.update((y.op, None) for y in ways.ys)
            self.live.update(map(id, ways.ys))
            self.run(seeds, reversed(ways.ops))
        arrived, live = id(x) in self.arrived, id(x) in self.live
        verdict = "raises" if self.raises else "flows" if live else "zero" if arrived else "none"
        cuts = [c for c in self.cuts.values() if c.kind not in ("shape only", "custom gradient")]
        if not live and not cuts:  # where there is no other reason
            cuts = list(self.cuts.values())
        way = tuple(ways.from_y(x.op)) if arrived else ()
        return GradientExplanation(list(ways.ys), x, verdict, tuple(cuts), way, ())

    def visit(self, op: Operation) -> None:
        """Visits an operation, if nothing stops the gradient there; records errors."""
        inputs = self.ways.view.inputs(op)
        on_way = [i for i, t in enumerate(inputs) if id(t) in self.ways.live]
        carrying = [i for i in on_way if carries_gradient(inputs[i])]
        if op in self.stops:
            entry = f"stop_gradients[{self.stops[op]}]"
            self._cut("stop_gradients", op, on_way[0], f"{entry} stops here", f"leave {entry} out")
            return
        if op in open_entrances:
            self._cut("argument", op, on_way[0], "gradients that are asked for inside of a function begin with its "
                      "arguments", "differentiate with respect to the argument, or ask outside of the function")
            return
        for i in on_way:
            if i not in carrying:
                self._cut_integer(op, i)
        if not carrying:
            return
        try:
            super().visit(op)
        except MissingGradientError as error:
            self.raises = True
            inside = "" if error.op is op else f"; it is inside, built at {line_of(error.op.source)}"
            self._cut("no gradient", op, carrying[0], f"{problem(error.op)}: gradients() raises LookupError{inside}",
                      remedy(error.op))
        except Exception as error:  # `gradients` would raise whatever a user's function raises, too
            self.raises = True
            text = str(error).split("\n")[0]
            self._cut("raises", op, carrying[0], f"its gradient function raises {type(error).__name__}: {text}",
                      "see that error")

    def expose(self, op: Operation) -> None:
        """Leaves an operation as it is: explaining changes no graph."""

    def in_grads(self, op: Operation, rule: Any, out_grads: list[Any]) -> Sequence[Any]:
        """Applies the rule; records its results, and which of them are zero."""
        live = any(id(t) in self.live for t in op.outputs)
        found = super().in_grads(op, rule, out_grads)
        for i, t in enumerate(self.ways.view.inputs(op)):
            if found[i] is None or id(t) not in self.ways.live or not carries_gradient(t):
                continue
            self.ways.came_by.setdefault(t.op, op)
            if not live:
                continue
            if _is_zero(found[i]):
                self._cut("zero", op, i, f"{_rule(rule)} gives zeros for input {i}", replacement(op) or _OTHERWISE)
            else:
                self.live.add(id(t))
        return found

    def ended(self, op: Operation, i: int, rule: Any) -> None:
        """Notes that an operation has no gradient for an input."""
        super().ended(op, i, rule)
        if rule is not NOT_DIFFERENTIABLE:
            self._cut_none(op, i, rule)
        elif op.opdef.alias:
            fix = "leave tf.stop_gradient out where the gradient is to pass"
            self._cut("stop_gradient", op, i, "tf.stop_gradient stops here", fix)
        elif _is_about_shapes(op):
            self._cut_shape(op, i, op)
        else:
            self._cut("not differentiable", op, i, f"op type {op.type} is declared not differentiable",
                      replacement(op) or _OTHERWISE)

    # -- cuts ----------------------------------------------------------------------

    def _cut(self, kind: str, op: Operation, i: int, why: str, fix: str, at: Operation | None = None) -> None:
        """Notes that input `i` of `op` gets no gradient; `at` is the op to blame if it is another one."""
        self.cuts.setdefault((kind, at or op), Cut(kind, at or op, i, why, fix, self.ways, op))

    def _cut_none(self, op: Operation, i: int, rule: Any) -> None:
        if i < getattr(rule, "n_results", 0):
            self._cut("custom gradient", op, i, "tf.custom_gradient does not differentiate the function's inside, and "
                      "x is none of its arguments", "pass x as an argument, or use a variable")
        elif op.opdef.zero_preserving and not carries_gradient(op.outputs[0]):
            source, result = op.inputs[i].dtype.name, op.outputs[0].dtype.name
            self._cut("integer", op, i, f"{source} is cast to {result}, which carries no gradient",
                      "keep the value floating")
        else:
            why, fix = f"{_rule(rule)} gives None for input {i}", replacement(op) or _OTHERWISE
            inner = _inside(op, i)
            if inner is not None:
                part, cut = inner
                why = f"{why}: in its {part}, {cut.why}, at {cut.op.type} '{cut.op.name}', {line_of(cut.op.source)}"
                fix = cut.fix
            self._cut("returned None", op, i, why, fix)

    def _cut_integer(self, op: Operation, i: int) -> None:
        """Notes a cut at a tensor that carries no gradient: where, towards x, it stopped being floating."""
        t, x = self.ways.view.inputs(op)[i], self.ways.x
        at = x.op if t is x else self.ways.integer_since[t.op]
        if at is x.op:
            self._cut("integer", op, i, f"x is {x.dtype.name}, which carries no gradient",
                      "differentiate with respect to a floating tensor", at)
        elif _is_about_shapes(at):
            self._cut_shape(op, i, at)
        else:
            result = next(t.dtype.name for t in at.outputs if not carries_gradient(t))
            self._cut("integer", op, i, f"its output is {result}, which carries no gradient",
                      replacement(at) or "keep the value floating", at)

    def _cut_shape(self, op: Operation, i: int, at: Operation) -> None:
        self._cut("shape only", op, i, "only the shape of its input matters, not the values",
                  "let y depend on the values of x", at)


def _rule(rule: Any) -> str:
    """Describes a gradient function, with its place if it is the user's."""
    code = getattr(rule, "__code__", None)
    if code is None or is_internal(code.co_filename):
        return "its gradient function"
    return f"its gradient function {rule.__name__} ({Source(code, -1)})"


def _is_about_shapes(op: Operation) -> bool:
    """Returns whether an operation reads only the shapes of its inputs."""
    return op.opdef.shape_only or op.opdef.fill is not None


def _is_zero(g: Any) -> bool:
    """Returns whether a gradient is zero by the way it is computed."""
    g = of_values(g)
    if not isinstance(g, Tensor):
        return not np.any(g)
    waiting, seen = [g], {g.op}
    while waiting:
        op = waiting.pop().op
        if op.opdef.zero_preserving:
            floating = [t for t in op.inputs if t.dtype.kind in "fc"]
            if not floating:
                return False
            waiting += [t for t in floating if t.op not in seen]
            seen.update(t.op for t in floating)
        elif op.opdef.fill != 0 and (op.type != "Const" or np.any(op.attrs["value"])):
            return False
    return True
