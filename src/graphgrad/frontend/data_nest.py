"""Structures of data sets' elements: tuples and dictionaries. Lists are values here, unlike in `tf.nest`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure of tuples and dictionaries."""
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    return [leaf for part in structure for leaf in flatten(part)] if isinstance(structure, tuple) else [structure]


def pack(structure: Any, leaves: Iterator[Any]) -> Any:
    """The leaves, arranged like `structure`."""
    if isinstance(structure, Mapping):
        found = {key: pack(structure[key], leaves) for key in sorted(structure)}
        return {key: found[key] for key in structure}
    if not isinstance(structure, tuple):
        return next(leaves)
    parts = [pack(part, leaves) for part in structure]
    return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)


def mapped(function: Callable[[Any], Any], structure: Any) -> Any:
    """The structure with `function` of each leaf."""
    return pack(structure, map(function, flatten(structure)))
