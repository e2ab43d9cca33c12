"""Modules whose names are a table: what a name stands for is imported when the name is first asked for.

The tables are written by `make faces`; the lines say `module: name name=attribute`, where `name=.` stands for the
module itself.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from graphgrad.ir import tensor
from graphgrad.ir.values import dispatch
from graphgrad.system.lazy_registry import settled


class Face(NamedTuple):
    """What a module whose names are a table consists of: its `__all__`, `__getattr__` and `__dir__`."""

    all: list[str]
    getattr: Callable[[str], Any]
    dir: Callable[[], list[str]]


# Module -> name -> where it is, `module:attribute` or `module`.
_tables: dict[str, Mapping[str, str]] = {}
_FACES = "graphgrad.compat.v1", "graphgrad.compat.v2"
_CONTRIB = "graphgrad.compat.contrib"
_FACES_OF = {"graphgrad": _FACES[1], "graphgrad.v1": _FACES[0]}  # modules that mirror them


def face(module_name: str, text: str) -> Face:
    """Returns the contents of a module of the faces.

    Args:
      module_name: its `__name__`.
      text: its names, a line for each module that has some of them; a line that is indented continues.
    """
    return _face(module_name, _parsed(text))


def mirror(module_name: str, of: str, text: str = "") -> Face:
    """Returns the contents of a module that has the names of another one.

    Args:
      module_name: its `__name__`.
      of: the other module's `__name__`.
      text: names that it has besides, as for `face`.
    """
    importlib.import_module(of)
    table = {name: f"{of}:{name}" for name in _tables[of]} | _parsed(text)
    return _face(module_name, table)


def names(module: ModuleType) -> list[str]:
    """Returns the public names of a module of the faces, without importing their targets.

    Args:
      module: the module.
    """
    found = [n for n, v in vars(module).items() if not _is_room(v)]
    return [n for n in dict.fromkeys([*_tables.get(module.__name__, ()), *found]) if not n.startswith("_")]


def has(module: ModuleType, name: str) -> bool:
    """Returns whether a module of the faces has a name, without importing its target.

    Args:
      module: the module.
      name: the name.
    """
    return name in _tables.get(module.__name__, ()) or name in vars(module)


def modules(module: ModuleType) -> list[str]:
    """Returns the names of the modules of its face inside a module.

    Args:
      module: the module.
    """
    return [n for n in _tables.get(module.__name__, ()) if _is_module(module.__name__, n)]


def _is_module(face_name: str, name: str) -> bool:
    """Returns whether a name of a face stands for one of the faces' modules."""
    place = _tables.get(face_name, {}).get(name, "")
    other, colon, _ = place.partition(":")
    return place.startswith(_FACES) and (not colon or _is_module(other, name))


def _is_room(value: Any) -> bool:
    """Returns whether it is a module of this package that belongs to no face."""
    if not isinstance(value, ModuleType) or not value.__name__.startswith("graphgrad."):
        return False
    return not value.__name__.startswith("graphgrad.compat") or value.__name__ not in _tables


def _parsed(text: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for line in text.replace("\n    ", " ").strip().splitlines():
        module, _, listed = line.partition(": ")
        for entry in listed.split():
            name, _, attribute = entry.partition("=")
            table[name] = module if attribute == "." else f"{module}:{attribute or name}"
    return table


def _face(module_name: str, table: Mapping[str, str]) -> Face:
    _tables[module_name] = table
    public = [n for n in table if not n.startswith("_")]

    def __getattr__(name: str) -> Any:
        module = sys.modules[module_name]
        if name in table:
            return vars(module).setdefault(name, settled(lambda: _load(module_name, name, table[name])))
        # Python itself asks modules for names with underscores, and for submodules while it imports them.
        if name.startswith("__") or getattr(module.__spec__, "_initializing", False):
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        from graphgrad.compat.libraries import find
        from graphgrad.compat.missing import explain

        library = find(_FACES_OF.get(module_name, module_name), name)
        if getattr(library, "__name__", "") in sys.modules:
            return vars(module).setdefault(name, library)
        if library is not None:  # it is there as long as `import tensorflow` means this package
            return library
        raise AttributeError(explain(module, module_name, name))

    def __dir__() -> list[str]:
        module = sys.modules[module_name]
        found = {*names(module), *(n for n in (*table, *vars(module)) if n.startswith("__"))}
        if module_name.startswith(_CONTRIB):
            from graphgrad.compat.libraries import names_of_contrib

            found |= names_of_contrib(module_name)
        return sorted(found)

    return Face(public, __getattr__, __dir__)


def _shown(value: Any) -> str | None:
    from graphgrad.notebook.html import html

    return html(value)


tensor.shown_with(_shown)


def _load(module_name: str, name: str, place: str) -> Any:
    from graphgrad.frontend import core_hooks as core_hooks  # it completes the core

    origin, _, attribute = place.partition(":")
    if f"{module_name}.".startswith(f"{_CONTRIB}.") and not origin.startswith(_CONTRIB):
        from graphgrad.compat.libraries import of_contrib

        library = of_contrib(module_name, name)
        if library is not None:
            return library
    found: Any = importlib.import_module(origin)
    if not attribute:
        return found
    return _in_face(module_name, name, getattr(found, attribute))


def _in_face(module_name: str, name: str, found: Any) -> Any:
    for face_name in _FACES:
        if module_name == face_name or module_name.startswith(f"{face_name}."):
            return dispatch.in_face(module_name[len(face_name) + 1 :], name, found)
    return dispatch.known(found)


def _replace(function: Any, by: Any) -> None:
    """Replaces a function wherever it is in the faces."""
    for module_name in _tables:
        loaded = vars(sys.modules.get(module_name, ModuleType("")))
        loaded.update({name: by for name, value in loaded.items() if value is function})


def _renew() -> None:
    """Gives the faces the functions that dispatch."""
    for module_name, table in list(_tables.items()):
        loaded = vars(sys.modules.get(module_name, ModuleType("")))
        for name in [n for n in table if hasattr(loaded.get(n), "__code__")]:
            loaded[name] = _in_face(module_name, name, loaded[name])


dispatch.replacers.append(_replace)
dispatch.renewers.append(_renew)
