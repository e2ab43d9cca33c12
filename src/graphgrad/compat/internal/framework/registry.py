"""Registries of functions by name, as `tensorflow.python.framework.registry` has them, and that of gradients.

Libraries that change what gradients are (guided backpropagation, attributions) write into the registry of gradients:
`ops._gradient_registry._registry["Relu"]["type"] = rule`. It is a view of the rules themselves.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, MutableMapping
from typing import Any

import graphgrad.gradients  # gives the records of branches and loops their gradients
from graphgrad.gradients.core import registry as gradients
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE
from graphgrad.ir.source import Source, user_source

_NOWHERE = ("UNKNOWN",) * 5


def _location(source: Source | None) -> Any:
    if source is None:
        return _NOWHERE
    return traceback.FrameSummary(source.filename, source.lineno, source.code.co_name)


class Registry:
    """Functions by name.

    Args:
      name: what the functions are, for errors.
    """

    _registry: MutableMapping[str, MutableMapping[str, Any]]

    def __init__(self, name: str):
        self._name = name
        self._registry = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Registers a function.

        Args:
          candidate: the function.
          name: its name here; by default its own.
        Raises: KeyError if there is one of this name.
        """
        key = name or candidate.__name__
        if key in self._registry:
            raise KeyError(f"Registering two {self._name} with name '{key}'!")
        self._registry[key] = {"type": candidate, "location": _location(user_source(2))}

    def list(self) -> Any:
        """Returns all names."""
        return self._registry.keys()

    def lookup(self, name: Any) -> Any:
        """Returns the function of a name.

        Args:
          name: the name, text or bytes.
        Raises: LookupError if there is none.
        """
        key = name.decode() if isinstance(name, bytes) else name
        if key not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {key}")
        return self._registry[key]["type"]


class _Entry(MutableMapping[str, Any]):
    """What is registered for a name: "type", its gradient (None where there is no derivative), and "location"."""

    def __init__(self, name: str):
        self._op = name

    def __getitem__(self, key: str) -> Any:
        if key == "type":
            found = gradients.registered(self._op)
            return None if found is NOT_DIFFERENTIABLE else found
        if key == "location":
            return _location(gradients.place_of(self._op))
        raise KeyError(key)

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "type":
            gradients.replace(self._op, NOT_DIFFERENTIABLE if value is None else value)

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"an entry of the registry of gradients keeps its {key!r}. Fix: delete the entry")

    def __iter__(self) -> Iterator[str]:
        return iter(("type", "location"))

    def __len__(self) -> int:
        return 2


class _Gradients(MutableMapping[str, MutableMapping[str, Any]]):
    """The gradients of all op types, and those of other names."""

    def __getitem__(self, name: str) -> MutableMapping[str, Any]:
        if name not in self:
            raise KeyError(name)
        return _Entry(name)

    def __setitem__(self, name: str, entry: MutableMapping[str, Any]) -> None:
        _Entry(name)["type"] = entry["type"]

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        gradients.remove(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and gradients.registered(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(gradients.names())

    def __len__(self) -> int:
        return len(gradients.names())


gradient_registry = Registry("gradient")
gradient_registry._registry = _Gradients()
_gradient_registry = gradient_registry
