"""What a notebook shows of graphs, tensors, gradients, explanations, reports and plans, as HTML.

It takes its colours from the page, so that it can be read on a light and on a dark one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

import numpy as np

from graphgrad.executor.program.plan_types import Plan
from graphgrad.executor.runtime.run_report import RunReport, size_str
from graphgrad.frontend.function.concrete_function import ConcreteFunction
from graphgrad.frontend.variables.variable import Variable
from graphgrad.gradients.diagnose.explanation import GradientExplanation
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.shape import shape_str
from graphgrad.ir.values.indexed_slices import IndexedSlices

from .computed_by import computed_by
from .pictures import picture

_TENSORS = (Tensor, EagerTensor, IndexedSlices)
_DRAWN = 2_000  # graphs of at most as many operations are drawn
_TENSOR_DRAWN = 40  # tensors that need at most as many operations are
_BOXES = 16
_LARGEST_PICTURE = 300_000  # characters
_ROWS = 30
_LINES = 10  # of a value's text


def html(value: Any) -> str | None:
    """Writes an object as HTML.

    Args:
      value: the object.
    Returns: the HTML; None for other objects.
    """
    for cls, write in _WRITERS:
        if isinstance(value, cls):
            return f'<div class="graphgrad">{write(value)}</div>'
    return None


def html_of_list(values: list[Any]) -> str | None:
    """Writes a list of tensors and None, such as `tf.gradients` returns; None for other lists."""
    if not 0 < len(values) <= _ROWS or not any(isinstance(v, _TENSORS) for v in values):
        return None
    if not all(v is None or isinstance(v, _TENSORS) for v in values):
        return None
    return "".join(f"<div><b>[{i}]</b> {html(v) or _code(v)}</div>" for i, v in enumerate(values))


def _facts(title: str, facts: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f'<tr><th style="text-align:left">{escape(k)}</th><td style="text-align:left">{v}</td></tr>'
                   for k, v in facts if v)
    return f"<b>{escape(title)}</b><table>{rows}</table>"


def _code(text: Any) -> str:
    return f'<code style="white-space:pre-wrap">{escape(str(text))}</code>'


def _lines(source: Any) -> str:
    return _code(source) if source is not None else ""


def _frame(inner: str) -> str:
    return f'<div style="max-height:560px;max-width:100%;overflow:auto;background:#fff">{inner}</div>' if inner else ""


def _drawn(what: Any) -> str:
    """Draws something; '' without the package igraph, or where there is nothing to see."""
    from graphgrad.viz import draw

    try:
        svg = draw(what, max_boxes=_BOXES)
    except (ImportError, ValueError):
        return ""
    return _frame(svg[svg.find("<svg"):]) if len(svg) <= _LARGEST_PICTURE else ""


def _graph(graph: Graph) -> str:
    ops = graph.get_operations()
    kinds = Counter(op.type for op in ops)
    facts = [("operations", f"{len(ops):,}"),
             ("placeholders", _code(", ".join(op.name for op in ops if op.type == "Placeholder")[:200])),
             ("variables", f"{sum(kinds[t] for t in ('VarHandleOp', 'Variable', 'VariableV2')):,}"),
             ("most frequent", _code(", ".join(f"{n} {kind}" for kind, n in kinds.most_common(8))))]
    title = f"{type(graph).__name__} {getattr(graph, 'name', '')}".strip()
    return _facts(title, facts) + (_drawn(graph) if 0 < len(ops) <= _DRAWN else "")


def _upstream(op: Operation, most: int) -> int:
    """Counts the operations that an operation needs, up to `most` and one more."""
    seen = {op}
    todo = [op]
    while todo and len(seen) <= most:
        for t in todo.pop().inputs:
            if t.op not in seen:
                seen.add(t.op)
                todo.append(t.op)
    return len(seen)


def _symbolic(t: Tensor) -> str:
    op = t.op
    for_op = op._original_op
    facts = [("shape, dtype", _code(f"{shape_str(t._spec.shape)} {t.dtype.name}")),
             ("computed by", computed_by(t)),
             ("for the gradient of", _code(f"{for_op.type} '{for_op.name}'") if for_op is not None else ""),
             ("built at", _lines(op.source))]
    drawn = _drawn(t) if _upstream(op, _TENSOR_DRAWN) <= _TENSOR_DRAWN else ""
    return _facts(f"Tensor {t.name}", facts) + drawn


def _operation(op: Operation) -> str:
    facts = [("type", _code(op.type)), ("inputs", _code(", ".join(t.name for t in op.inputs))),
             ("results", _code(", ".join(f"{shape_str(t._spec.shape)} {t.dtype.name}" for t in op.outputs))),
             ("device", _code(op.device) if op.device else ""), ("built at", _lines(op.source))]
    return _facts(f"Operation {op.name}", facts)


def _eager(t: EagerTensor) -> str:
    value = np.asarray(t.numpy())
    return _facts("Tensor", [("shape, dtype", _code(f"{shape_str(value.shape)} {t.dtype.name}")),
                             ("values", _statistics(value)), ("", _text(value))]) + picture(value)


def _variable(variable: Variable) -> str:
    facts = [("shape, dtype", _code(f"{shape_str(variable._shape)} {variable.dtype.name}")),
             ("trainable", "yes" if variable.trainable else "no")]
    if variable._graph is not None:
        return _facts(f"Variable {variable.name}", [*facts, ("built at", _lines(variable.op.source))])
    value = np.asarray(variable.numpy())
    return _facts(f"Variable {variable.name}", [*facts, ("values", _statistics(value)), ("", _text(value))]) + picture(
        value)


def _concrete(function: ConcreteFunction) -> str:
    return _facts(f"Function {function.name}", [("signature", _code(function))]) + _graph(function.graph)


def _text(value: np.ndarray[Any, Any]) -> str:
    with np.printoptions(threshold=20, edgeitems=3, precision=4):
        lines = str(value).splitlines()
    text = "\n".join(lines if len(lines) <= _LINES else [*lines[:_LINES - 1], "..."])
    return _code(text[:1000])


def _statistics(value: np.ndarray[Any, Any]) -> str:
    if value.dtype.kind not in "fiu" or value.size < 2:
        return ""
    finite = value[np.isfinite(value)].astype(float)
    others = value.size - finite.size
    with np.errstate(over="ignore"):
        text = f"{finite.min():.4g} to {finite.max():.4g}, mean {finite.mean():.4g}" if finite.size else ""
    return escape(text + (f"; {others} not finite" if others else ""))


def _slices(slices: IndexedSlices) -> str:
    values = slices.values
    facts = [("rows", _code(values)), ("indices", _code(slices.indices)), ("of a tensor", _code(slices.dense_shape))]
    return _facts("IndexedSlices: rows of a tensor that is zero elsewhere", facts)


_VERDICTS = {"flows": ("#2e7d32", "flows"), "zero": ("#b26a00", "is zero"), "none": ("#c62828", "is None"),
             "raises": ("#c62828", "cannot be built")}


def _explanation(why: GradientExplanation) -> str:
    colour, verdict = _VERDICTS[why.verdict]
    ys = " + ".join(y.name for y in why.ys[:4])
    head = (f'<b>The gradient of {escape(ys)} with respect to {escape(why.x.name)} '
            f'<span style="color:{colour}">{verdict}</span></b>')
    cuts = "".join(f"<li>{_code(f'{cut.op.type} {cut.op.name!r}')}: {escape(cut.why)}. "
                   f"<i>Fix: {escape(cut.fix)}</i></li>" for cut in why.cuts[:_ROWS])
    reasons = "".join(f"<li>{escape(line)}</li>" for line in why.unrelated)
    details = f"<details><summary>the whole explanation</summary><pre>{escape(str(why))}</pre></details>"
    return head + (f"<ol>{cuts}{reasons}</ol>" if cuts or reasons else "") + details + _drawn(why)


def _bar(share: float) -> str:
    return (f'<div style="background:#3b6ea5;height:10px;width:{max(1, round(120 * share))}px" '
            f'title="{100 * share:.1f} %"></div>')


def _table(heads: list[str], rows: list[list[str]], left_out: int) -> str:
    head = "".join(f"<th>{escape(h)}</th>" for h in heads)
    cells = ["".join(f'<td style="text-align:left">{cell}</td>' for cell in row) for row in rows]
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    more = f"<i>... and {left_out} more</i>" if left_out > 0 else ""
    return f"<table><tr>{head}</tr>{body}</table>{more}"


def _report(report: RunReport) -> str:
    steps = report.steps
    longest = max((s.seconds for s in steps), default=0) or 1
    total = sum(s.seconds for s in steps)
    shown = sorted(sorted(range(len(steps)), key=lambda i: -steps[i].seconds)[:_ROWS])
    rows = [[str(i), s.kind, s.origin, f"{1e3 * s.seconds:.3g} ms", _bar(s.seconds / longest), size_str(s.output_bytes),
             size_str(s.live_bytes), _code(_kinds(s.operations))] for i, s in ((i, steps[i]) for i in shown)]
    head = (f"<b>{len(steps)} steps, {report.programs} programs, {1e3 * total:.3g} ms, at most "
            f"{size_str(report.peak_bytes)} alive</b>")
    return head + _table(["step", "kind", "program", "time", "", "results", "alive", "operations"], rows,
                         len(steps) - len(shown))


def _kinds(operations: Counter[str]) -> str:
    return ", ".join(f"{n} {kind}" if n > 1 else kind for kind, n in operations.most_common(4)) + (
        ", ..." if len(operations) > 4 else "")


def _plan(plan: Plan) -> str:
    kinds = Counter(type(step).__name__ for step in plan.steps)
    rows = [[str(i), type(step).__name__, _code(_kinds(Counter(it.op.type for it in getattr(step, "program", ()))))]
            for i, step in enumerate(plan.steps[:_ROWS])]
    head = f"<b>Plan of {len(plan.steps)} steps: {', '.join(f'{n} {kind}' for kind, n in kinds.items())}</b>"
    return head + _table(["step", "kind", "operations"], rows, len(plan.steps) - len(rows))


_WRITERS: list[tuple[type, Callable[[Any], str]]] = [
    (Tensor, _symbolic), (EagerTensor, _eager), (Operation, _operation), (IndexedSlices, _slices), (Graph, _graph),
    (GradientExplanation, _explanation), (RunReport, _report), (Plan, _plan), (Variable, _variable),
    (ConcreteFunction, _concrete)]
