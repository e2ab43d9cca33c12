"""What the faces export."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import types
from typing import Any

from graphgrad.compat import missing

FACES = ("v1", "v2")


def exported(face: str) -> dict[str, Any]:
    """The public names of `graphgrad.compat.<face>` and its modules: dotted name -> value."""
    root = importlib.import_module(f"graphgrad.compat.{face}")
    folder = pathlib.Path(next(iter(root.__path__)))
    for path in sorted(folder.rglob("*.py")):
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        if path.name != "__init__.py":
            importlib.import_module(f"graphgrad.compat.{face}.{module}")
    for module, later in list(missing._LAZY.items()):  # what is imported when somebody asks for it
        if module.startswith(f"graphgrad.compat.{face}"):
            for name in later:
                getattr(importlib.import_module(module), name)
    found: dict[str, Any] = {}
    _collect(root, "", found, face)
    return found


def _collect(module: types.ModuleType, prefix: str, found: dict[str, Any], face: str) -> None:
    for name in missing._LAZY.get(module.__name__, ()):
        getattr(module, name)  # is in `vars` from now on
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or name == "annotations":
            continue
        if isinstance(value, types.ModuleType):
            if value.__name__.startswith(f"graphgrad.compat.{face}"):
                _collect(value, f"{prefix}{name}.", found, face)
            continue
        found[prefix + name] = value


def methods(values: dict[str, Any], reference: dict[str, Any]) -> dict[str, Any]:
    """The methods of exported classes that the reference lists."""
    found = {}
    for name in reference:
        owner, _, method = name.rpartition(".")
        if inspect.isclass(values.get(owner)) and hasattr(values[owner], method):
            member = inspect.getattr_static(values[owner], method)
            if isinstance(member, (types.FunctionType, classmethod, staticmethod)):
                function = getattr(member, "__func__", member)
                found[name] = function
    return found
