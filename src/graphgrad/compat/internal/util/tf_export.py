"""The names under which libraries export what they define; `tensorflow.python.util.tf_export`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .decorator import unwrap

_T = TypeVar("_T")
ESTIMATOR_API_NAME = "estimator"
_NAMES = {"tensorflow": "_tf_api_names", "keras": "_keras_api_names", ESTIMATOR_API_NAME: "_estimator_api_names"}
_symbols: dict[str, Any] = {}


class _Export:
    """A decorator that notes the names of a function or a class.

    Args:
      *args: its names; the first one is canonical.
      api_name: "tensorflow", "keras" or "estimator".
      v1: its names in 1.x; the same by default.
      allow_multiple_exports: accepted.
    """

    def __init__(self, *args: str, api_name: str = "tensorflow", v1: Any = None, allow_multiple_exports: bool = True):
        self._names, self._names_v1, self._api = args, args if v1 is None else tuple(v1), api_name

    def __call__(self, func: _T) -> _T:
        target = unwrap(func)[1]
        setattr(target, _NAMES[self._api], self._names)
        setattr(target, f"{_NAMES[self._api]}_v1", self._names_v1)
        _symbols.update(dict.fromkeys(self._names, func))
        _symbols.update({f"compat.v1.{name}": func for name in self._names_v1})
        return func

    def export_constant(self, module_name: str, name: str) -> None:
        """Does nothing: a constant has no place for its name."""


api_export = _Export
tf_export: Callable[..., Any] = _Export
keras_export: Callable[..., Any] = functools.partial(_Export, api_name="keras")


def get_symbol_from_name(name: str) -> Any:
    """Returns what a name stands for; None for unknown names.

    Args:
      name: the name, such as "keras.optimizers.Adam" or "math.add".
    """
    if name in _symbols:
        return _symbols[name]
    import graphgrad.compat.v2 as found

    try:
        return functools.reduce(getattr, name.split("."), found)
    except AttributeError:
        return None


def get_canonical_name_for_symbol(symbol: Any, api_name: str = "tensorflow",
                                  add_prefix_to_v1_names: bool = False) -> str | None:
    """Returns the first name under which something is exported; None for what is not exported.

    Args:
      symbol: a function or a class.
      api_name: "tensorflow" or "keras".
      add_prefix_to_v1_names: whether names that only 1.x has begin with "compat.v1.".
    """
    target = unwrap(symbol)[1]
    own = getattr(target, "__dict__", {})
    attribute = _NAMES[api_name]
    if names := own.get(attribute):
        return str(names[0])
    if names := own.get(f"{attribute}_v1"):
        return f"compat.v1.{names[0]}" if add_prefix_to_v1_names else str(names[0])
    return _names_here().get(id(target)) if api_name == "tensorflow" else None


@functools.cache
def _names_here() -> dict[int, str]:
    """Returns the names of the functions and classes of the face of 2.x, by identity."""
    import graphgrad.compat.v2 as face
    from graphgrad.compat.lazy import names

    found: dict[int, str] = {}
    waiting: list[tuple[Any, str]] = [(face, "")]
    while waiting:
        module, prefix = waiting.pop(0)
        for name in names(module):
            value = getattr(module, name)
            if isinstance(value, type(face)):
                if f"{prefix}{name}".count(".") < 3 and name not in ("compat", "raw_ops"):
                    waiting.append((value, f"{prefix}{name}."))
            elif callable(value):
                found.setdefault(id(unwrap(value)[1]), prefix + name)
    return found


__all__ = ["ESTIMATOR_API_NAME", "api_export", "get_canonical_name_for_symbol", "get_symbol_from_name", "keras_export",
           "tf_export"]
