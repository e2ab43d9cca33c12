"""The collections of a graph."""

from __future__ import annotations

import re
from typing import Any


class Collections:
    """Lists of values by key; the sub-graphs of a program share them."""

    __slots__ = ("_lists",)

    def __init__(self) -> None:
        self._lists: dict[Any, list[Any]] = {}

    def ref(self, name: Any) -> list[Any]:
        """Returns the collection itself."""
        return self._lists.setdefault(name, [])

    def items(self, name: Any, scope: str | None) -> list[Any]:
        """Returns a copy of a collection; of items with a `name`, those where it begins with a match of `scope`."""
        items = self._lists.get(name, [])
        if scope is None:
            return list(items)
        pattern = re.compile(scope)
        return [i for i in items if hasattr(i, "name") and pattern.match(i.name)]

    def keys(self) -> list[Any]:
        """Returns the keys of the collections that were added to, or asked for by reference."""
        return list(self._lists)

    def clear(self, name: Any) -> None:
        """Empties a collection."""
        self._lists.pop(name, None)
