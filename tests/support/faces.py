"""What the faces export."""

from __future__ import annotations

import importlib
import inspect
import types
from typing import Any

from graphgrad.compat import lazy

FACES = ("v1", "v2")


def exported(face: str) -> dict[str, Any]:
    """The public names of `graphgrad.compat.<face>` and its modules: dotted name -> value."""
    root = importlib.import_module(f"graphgrad.compat.{face}")
    found: dict[str, Any] = {}
    _collect(root, "", found, face)
    return found


def _collect(module: types.ModuleType, prefix: str, found: dict[str, Any], face: str) -> None:
    for name in sorted(lazy.names(module)):
        value = getattr(module, name)
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
