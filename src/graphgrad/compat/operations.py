"""The registry as a table: for each op type its dtypes, its gradient, where it runs, and what builds it."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import types
from typing import Any

import graphgrad.gradients  # noqa: F401  # the records of branches and loops have their gradients from there
from graphgrad.compat.lazy import names
from graphgrad.ir import dtypes
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, OpDef, registry
from graphgrad.ir.values import dispatch
from graphgrad.system.terminal import table

# The names of sets of dtypes, the smaller ones first.
_SETS = [(dtypes.INDEX, "int32, int64"), (dtypes.FLOATING, "floating"), (dtypes.COMPLEX, "complex"),
         (dtypes.INEXACT, "inexact"), (dtypes.INTEGER, "integer"), (dtypes.REAL, "real"), (dtypes.NUMERIC, "numeric"),
         (dtypes.ANY, "any")]


@dataclasses.dataclass(frozen=True)
class OpEntry:
    """A row of the table: the facts about one op type.

    Attributes:
      name: the op type.
      gradient: "rule", "not differentiable" or "none".
      dtypes: the dtypes of its operands: a named set, or a list.
      engine: "XLA, host" or "host".
      functions: the public functions whose documentation names it, as `tf.` names.
    """

    name: str
    gradient: str
    dtypes: str
    engine: str
    functions: tuple[str, ...]


def entries() -> list[OpEntry]:
    """Returns the table, sorted by names; it includes ops defined by users."""
    builders = _builders()
    return [
        OpEntry(name, _gradient(opdef), _dtypes(opdef), "host" if "host" in opdef.flags else "XLA, host",
              tuple(builders.get(name, ())))
        for name, opdef in sorted(registry.items())
    ]


def _gradient(opdef: OpDef) -> str:
    if opdef.gradient is None:
        return "none"
    return "not differentiable" if opdef.gradient is NOT_DIFFERENTIABLE else "rule"


def _dtypes(opdef: OpDef) -> str:
    """Returns the dtypes of the first type attribute, except those of indices; the fixed ones if there is none."""
    attrs = [a.type_attr or a.list_attr for a in (*opdef.inputs, *opdef.outputs)]
    free = [opdef.allowed[a] for a in attrs if a]
    chosen = next((f for f in free if f != dtypes.INDEX), None)
    if chosen is not None:
        return _named(chosen)
    fixed = dict.fromkeys(a.dtype.name for a in (*opdef.inputs, *opdef.outputs) if a.dtype)
    return ", ".join(fixed) or (_named(free[0]) if free else "-")


def _named(allowed: frozenset[dtypes.DType]) -> str:
    for members, name in _SETS:
        if allowed == members:
            return name
    for members, name in reversed(_SETS):  # a large set and a few more
        if members < allowed and len(allowed - members) <= 3 and len(members) > 2:
            return ", ".join([name, *sorted(t.name for t in allowed - members)])
        if allowed < members and len(members - allowed) <= 2 and len(allowed) > 4:
            return f"{name} but {', '.join(sorted(t.name for t in members - allowed))}"
    return ", ".join(t.name for t in sorted(allowed, key=int))


def _builders() -> dict[str, list[str]]:
    """Maps op types to the shortest public names of the functions whose docstrings refer to them."""
    names: dict[Any, str] = {}
    for face in ("v1", "v2"):  # a name of 2.x is preferred
        found: dict[Any, str] = {}
        _collect(importlib.import_module(f"graphgrad.compat.{face}"), "tf.", face, found)
        names.update(found if face == "v2" else {f: f"{n} (1.x)" for f, n in found.items()})
    builders: dict[str, list[str]] = {}
    for function, name in sorted(names.items(), key=lambda item: (len(item[1]), item[1])):
        for op_type in _ops_of(function):
            builders.setdefault(op_type, []).append(name)
    return {op_type: found[:4] for op_type, found in builders.items()}


def _collect(module: types.ModuleType, prefix: str, face: str, found: dict[Any, str]) -> None:
    for name in sorted(names(module)):
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            if value.__name__.startswith(f"graphgrad.compat.{face}."):
                _collect(value, f"{prefix}{name}.", face, found)
        elif inspect.isfunction(value):
            value = dispatch.plain(value)  # dispatched under one of its names, it is the same function
            known = found.get(value)
            if known is None or (len(prefix + name), prefix + name) < (len(known), known):
                found[value] = prefix + name


def _ops_of(function: Any) -> list[str]:
    reference = re.search(r"Reference: (?:TensorFlow [\d.]+ )?(.*?)\.?\n\s*\n", (function.__doc__ or "") + "\n\n", re.S)
    words = re.findall(r"\w+", reference.group(1)) if reference else []
    return [w for w in dict.fromkeys(words) if w in registry]


def _matching(pattern: str) -> list[OpEntry]:
    import fnmatch

    return [e for e in entries() if fnmatch.fnmatchcase(e.name.lower(), pattern.lower())]


def as_json(pattern: str = "*") -> str:
    """Formats the rows of the table whose op types match a pattern as JSON: a list of objects.

    Args:
      pattern: such as `*Grad`.
    """
    import json

    return json.dumps([dataclasses.asdict(e) for e in _matching(pattern)], indent=1)


def as_text(pattern: str = "*", columns: int | None = None) -> str:
    """Formats the lines of the table whose op types match a pattern such as `*Grad`, in columns.

    Args:
      pattern: the pattern.
      columns: how wide the table may be; long cells are wrapped.

    >>> print(as_text("Mul"))
    op type  gradient  dtypes   runs on    public functions
    Mul      rule      numeric  XLA, host  tf.multiply
    """
    rows: list[tuple[str, ...]] = [("op type", "gradient", "dtypes", "runs on", "public functions")]
    rows += [(e.name, e.gradient, e.dtypes, e.engine, " ".join(e.functions)) for e in _matching(pattern)]
    return table(rows, columns)
