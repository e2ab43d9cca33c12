"""What a face says about a name it does not have: the nearest one that it has."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def missing_attribute(module_name: str, lazy: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """A `__getattr__` for a face: raises AttributeError naming what was probably meant.

    Args:
      module_name: the `__name__` of the module.
      lazy: what is imported when first asked for: attribute -> module, or "module:name" for something in one.
    """
    later = dict(lazy or {})
    _LAZY[module_name] = later

    def __getattr__(name: str) -> Any:
        if name in later:
            module, _, inside = later[name].partition(":")
            value: Any = importlib.import_module(module)
            found = vars(sys.modules[module_name])[name] = getattr(value, inside) if inside else value
            return found
        # Python itself asks modules for names with underscores, and for submodules while it imports them.
        if name.startswith("__") or getattr(sys.modules[module_name].__spec__, "_initializing", False):
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        raise AttributeError(explain(sys.modules[module_name], module_name, name))

    return __getattr__


_LAZY: dict[str, dict[str, str]] = {}


def explain(module: ModuleType, shown_as: str, name: str) -> str:
    """The text of the error for a name that `module` does not have.

    Args:
      module: the face.
      shown_as: the name that the user knows it by.
      name: the attribute asked for.
    """
    text = f"module {shown_as!r} has no attribute {name!r}."
    for later in _LAZY.get(module.__name__, ()):
        getattr(module, later)
    elsewhere = _elsewhere(module, name)
    if elsewhere:
        return f"{text} Fix: use {elsewhere}"
    if _is_of_tensorflow_1(module, name):
        return f"{text} It is a name of TensorFlow 1. Fix: use tf.compat.v1.{name}, or `graphgrad run --tf 1`"
    import difflib

    near = difflib.get_close_matches(name, names(module), 1, 0.7)
    if near:
        return f"{text} Did you mean {near[0]!r}?"
    return f"{text} graphgrad has no such name (yet)."


def names(module: ModuleType) -> list[str]:
    """The public names of a face."""
    return [n for n in vars(module) if not n.startswith("_")]


def _elsewhere(module: ModuleType, name: str) -> str | None:
    """Where beneath the face the name is, e.g. 'math.log' for TensorFlow 1's `log`."""
    for child_name in names(module):
        child = vars(module)[child_name]
        if isinstance(child, ModuleType) and child_name not in ("compat", "raw_ops") and name in vars(child):
            if child.__name__.startswith("graphgrad."):
                return f"tf.{child_name}.{name}"
    return None


def _is_of_tensorflow_1(module: ModuleType, name: str) -> bool:
    v1 = sys.modules.get("graphgrad.compat.v1")
    return (
        v1 is not None
        and module is not v1
        and module.__name__ in ("graphgrad", "graphgrad.compat.v2")
        and name in vars(v1)
    )
