"""The text of boxes and tooltips of the picture."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor

from .boxes import Box, is_source, types_in


class Words(NamedTuple):
    """The two lines in a box."""

    title: str
    detail: str


def words(box: Box) -> Words:
    """Returns the text of a box."""
    if box.copies > 1:
        what = {"variable": "variable", "input": "placeholder"}.get(box.kind, box.main.type)
        what = "constant" if box.main.type == "Const" else what
        return Words(f"{box.copies} × {what}", f"{_in_panel(box.name, box)}, …")
    if box.folded:
        above, _, last = _in_panel(box.name, box).rpartition("/")
        n = f"{len(box.ops)} ops"
        return Words(last, f"{above} · {n}" if above else n)
    op = box.main
    if op.type == "Const":
        value = np.asarray(op.attrs.get("value", ()))
        told = f"constant {value.item()!s:.12}" if value.size == 1 else _sized("constant", op)
        return Words(op.name, told)
    if box.kind == "variable":
        return Words(op.name, _sized("variable", op))
    if is_source(op):
        return Words(captured_name(op) or op.name, _sized("placeholder", op))
    name = _in_panel(op.name, box)
    if op.type == "NoOp":
        return Words(name, f"NoOp · {len(box.ops)} ops" if len(box.ops) > 1 else "NoOp")
    if box.part.kind != "forward":  # the type repeats the last piece
        above, _, last = name.rpartition("/")
        name = above if above and re.fullmatch(rf"{re.escape(op.type)}(_\d+)?", last) else name
    return Words(op.type, name if name != op.type else "")


def _in_panel(name: str, box: Box) -> str:
    """Returns a name without the scope of the first gradients call, which the panel shows."""
    name = name.removeprefix("all operations/")
    return name.removeprefix("gradients/") if box.part.kind == "gradient" else name


def width_of(box: Box) -> float:
    """Returns the width that a box needs for its text."""
    title, detail = words(box)
    return max(60.0, text_width(title, 12.0, True) + 22, text_width(detail, 9.5, False) + 18)


def shape_text(t: Tensor) -> str:
    """Formats a static shape as 'rows×columns'; '' for scalars and unknown shapes."""
    shape = _shape(t)
    return "×".join("?" if d is None else str(d) for d in shape) if shape else ""


def _shape(t: Tensor) -> Any:
    if t.op.type == "VarHandleOp":
        shape = t.op.attrs.get("shape")
        return tuple(getattr(shape, "as_list", lambda: shape)() or ()) if shape is not None else None
    return t._spec.shape


def _sized(what: str, op: Operation) -> str:
    text = shape_text(op.outputs[0])
    return f"{what} {text}" if text else what


def captured_name(op: Operation) -> str:
    """Returns the name of the variable or tensor that a placeholder in a sub-graph stands for; '' for others."""
    graph: Any = op.graph
    if not isinstance(graph, FuncGraph) or not op.outputs:
        return ""
    outer = graph.outside.get(id(op.outputs[0]))
    if outer is None:
        return ""
    if isinstance(outer, Tensor):
        inner = captured_name(outer.op) if outer.op.opdef.placeholder else ""
        return inner or outer.op.name
    cell = getattr(outer, "_value", None)
    name = getattr(cell, "name", None)
    return str(name).partition(":")[0] if isinstance(name, str) else ""


def text_width(text: str, size: float, bold: bool) -> float:
    """Estimates the width of a text in pixels, rather too large."""
    units = 0.0
    for c in text:
        if c in "iljtfI.,:;|'!()[]/ ":
            units += 0.36
        elif c in "mwMW…":
            units += 0.92
        elif c.isupper() or c == "_":
            units += 0.72
        else:
            units += 0.60
    return units * size * (1.06 if bold else 1.0)


def tooltip(box: Box) -> str:
    """Returns the tooltip of a box."""
    if box.folded:
        counts = ", ".join(f"{n} {t}" if n > 1 else t for t, n in types_in(box)[:12])
        return f"{box.name}: {len(box.ops)} operations\n{counts}"
    op = box.main
    lines = [f"{op.type} '{op.name}'"]
    lines += [f"input {t.name}  {typed(t)}" for t in op.inputs[:8]]
    lines += [f"after {c.name}" for c in op.control_inputs[:8]]
    lines += [f"output {t.name}  {typed(t)}" for t in op.outputs[:8]]
    if op._original_op is not None:
        lines.append(f"gradient of '{op._original_op.name}'")
    if op.device:
        lines.append(f"device {op.device}")
    if op.source is not None:
        lines.append(f"built at {op.source.line}")
    others = [o.name for o in box.ops if o is not op]
    if others:
        lines.append("with " + ", ".join(others[:8]) + (" …" if len(others) > 8 else ""))
    return "\n".join(lines)


def typed(t: Tensor) -> str:
    shape = _shape(t)
    dims = "unknown shape" if shape is None else f"({', '.join('?' if d is None else str(d) for d in shape)})"
    return f"{t.dtype.name} {dims}"
