"""The content of a live picture as columns of numbers and tables of texts, which the page reads."""

from __future__ import annotations

import linecache
from collections.abc import Hashable
from typing import Any

import numpy as np

from graphgrad.errors import shown_name
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.viz.box_text import captured_name, typed
from graphgrad.viz.groups import Group
from graphgrad.viz.nesting import Nesting

_VALUE = 24  # characters of a constant's value
_KINDS = ("graph", "section", "scope", "of", "repeat", "part", "piece", "calls", "body")  # as the page numbers them


class Texts:
    """A table of texts, each with a number."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, text: str) -> int:
        """Returns the number of a text, which is added if it is new."""
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self.all)
            self.all.append(text)
        return found


def columns(nesting: Nesting) -> dict[str, Any]:
    """Returns the operations and groups as lists, by the names under which the page reads them.

    Inputs are counted back from the operation: 3 is the first output of the operation three before it, [3, 1] the
    second one. `of` says how far before it the operation is whose gradient it is, 0 if it is none.
    """
    ops = nesting.ops
    at = {id(op): i for i, op in enumerate(ops)}
    texts, lines, specs = Texts(), Texts(), Texts()
    types, scopes, names, inputs, outputs, source, group, of = ([] for _ in range(8))
    waits: dict[int, list[int]] = {}
    devices: dict[int, str] = {}
    notes: dict[int, str] = {}
    source_of: dict[Any, int] = {}
    for i, op in enumerate(ops):
        scope, _, last = op.name.rpartition("/")
        types.append(texts.number(op.type))
        scopes.append(texts.number(scope))
        names.append("" if last == op.type else last)
        inputs.append([_back(i, at, t) for t in op.inputs if id(t.op) in at])
        outputs.append([specs.number(typed(t)) for t in op.outputs])
        group.append(nesting.home[id(op)].number)
        original = at.get(id(op._original_op))
        of.append(0 if original is None else i - original)
        if op.source not in source_of:
            source_of[op.source] = lines.number(_line(op))
        source.append(source_of[op.source])
        control = [i - at[id(c)] for c in op.control_inputs if id(c) in at]
        if control:
            waits[i] = control
        if op.device:
            devices[i] = op.device
        note = _note(op)
        if note:
            notes[i] = note
    return {"texts": texts.all, "specs": specs.all, "lines": lines.all,
            "type": types, "scope": scopes, "name": names, "in": inputs,
            "out": [o[0] if len(o) == 1 else o for o in outputs], "line": source, "group": group, "of": of,
            "wait": waits, "device": devices, "note": notes, "groups": _groups(nesting, at)}


def _back(i: int, at: dict[int, int], t: Tensor) -> Any:
    distance = i - at[id(t.op)]
    return [distance, t.value_index] if t.value_index else distance


def _line(op: Operation) -> str:
    """Returns 'file:line<tab>text' of the program's line that built an operation."""
    if op.source is None:
        return ""
    number = op.source.lineno
    text = linecache.getline(op.source.filename, number).strip()
    return f"{shown_name(op.source.filename)}:{number}\t{text}"


def _note(op: Operation) -> str:
    """Returns the value of a constant, the name of what a placeholder stands for; '' for other operations."""
    if op.type == "Const":
        value = np.asarray(op.attrs.get("value", ()))
        if value.size <= 8 and value.dtype.kind in "biufc":
            text = str(value[()]) if value.ndim == 0 else np.array2string(value, separator=", ").replace("\n", "")
            return text if len(text) <= _VALUE else text[: _VALUE - 1] + "…"
        return ""
    return captured_name(op) if op.opdef.placeholder else ""


def _groups(nesting: Nesting, at: dict[int, int]) -> dict[str, Any]:
    groups = list(nesting.root.everything())
    like: dict[int, Any] = {}
    for g in groups:
        if isinstance(g.like, Group):
            like[g.number] = [g.like.number]
        elif g.like is not None:
            like[g.number] = at[id(g.like)]
    return {"parent": [-1 if g.parent is None else g.parent.number for g in groups],
            "kind": [_KINDS.index(g.kind) for g in groups], "label": [g.label for g in groups],
            "main": {g.number: at[id(g.main)] for g in groups if g.main is not None},
            "style": {g.number: g.style for g in groups if g.style}, "like": like}


