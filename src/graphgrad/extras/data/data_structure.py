"""Structures of data sets' elements: tuples and dictionaries. Lists are values here, unlike in `tf.nest`.

A component may consist of several arrays (`Parts`): sparse and ragged tensors do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from graphgrad.ir.op_signature import Spec


class Parts:
    """A component that consists of several leaves; subclasses define how.

    Args:
      parts: the leaves, or a `Spec` for each.
    """

    def __init__(self, parts: Any):
        self.parts = list(parts)

    def made(self, parts: Any) -> Any:
        """Makes the component of its leaves; for specs, such `Parts`."""
        parts = list(parts)
        return self._like(parts) if all(isinstance(p, Spec) for p in parts) else self._value(parts)

    def _like(self, parts: list[Any]) -> Any:
        return type(self)(parts)

    def _value(self, parts: list[Any]) -> Any:
        raise NotImplementedError  # each subclass has its own

    def spec(self) -> Any:
        """Returns the `TypeSpec` of the component."""
        raise NotImplementedError  # each subclass has its own


# How composite values are split: class -> function that returns `Parts`.
takers: dict[type, Callable[[Any], Parts]] = {}


def taken_apart(leaf: Any) -> Any:
    """Splits a value into `Parts` if it has some; else returns the leaf itself."""
    if takers and not isinstance(leaf, Parts):
        for kind in type(leaf).__mro__:
            if kind in takers:
                return takers[kind](leaf)
    return leaf


def components(structure: Any) -> list[Any]:
    """Returns the components of a structure: leaves, and `Parts`."""
    structure = taken_apart(structure)
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in components(structure[key])]
    return [leaf for part in structure for leaf in components(part)] if isinstance(structure, tuple) else [structure]


def flatten(structure: Any) -> list[Any]:
    """Returns the leaves of a structure of tuples and dictionaries."""
    leaves: list[Any] = []
    for component in components(structure):
        leaves.extend(component.parts if isinstance(component, Parts) else [component])
    return leaves


def pack(structure: Any, leaves: Iterator[Any]) -> Any:
    """Arranges leaves like `structure`."""

    def next_one(component: Any) -> Any:
        if isinstance(component, Parts):
            return component.made(next(leaves) for _ in component.parts)
        return next(leaves)

    return arranged(structure, next_one)


def arranged(structure: Any, function: Callable[[Any], Any], whole: tuple[type, ...] = ()) -> Any:
    """Applies `function` to each component of a structure; values of the classes `whole` are not split."""
    if not isinstance(structure, whole):
        structure = taken_apart(structure)
    if isinstance(structure, Mapping):
        found = {key: arranged(structure[key], function, whole) for key in sorted(structure)}
        return {key: found[key] for key in structure}
    if not isinstance(structure, tuple):
        return function(structure)
    parts = [arranged(part, function, whole) for part in structure]
    return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)


def mapped(function: Callable[[Any], Any], structure: Any) -> Any:
    """Applies `function` to each leaf of a structure."""
    return pack(structure, map(function, flatten(structure)))
