"""`tensorflow.python.util.object_identity`: sets and dictionaries that tell objects apart by identity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any


class ObjectIdentitySet(MutableSet[Any]):
    """A set of objects, each once, whatever their equality.

    Args:
      *args: an iterable of objects.
    """

    def __init__(self, *args: Iterable[Any]):
        self._held: dict[int, Any] = {id(v): v for values in args for v in values}

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return cls(it)

    def __contains__(self, value: object) -> bool:
        return id(value) in self._held

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._held.values()))

    def __len__(self) -> int:
        return len(self._held)

    def add(self, value: Any) -> None:
        """Adds an object."""
        self._held[id(value)] = value

    def discard(self, value: Any) -> None:
        """Removes an object, if it is there."""
        self._held.pop(id(value), None)

    def update(self, items: Iterable[Any]) -> None:
        """Adds objects."""
        for value in items:
            self.add(value)

    def intersection(self, items: Iterable[Any]) -> Any:
        """Returns the objects that are among others, too."""
        return self & type(self)(items)

    def difference(self, items: Iterable[Any]) -> Any:
        """Returns the objects that are not among others."""
        return self - type(self)(items)


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are objects, whatever their equality.

    Args:
      *args, **kwargs: as for `dict`.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        self._held: dict[int, tuple[Any, Any]] = {}
        self.update(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        if id(key) not in self._held:
            raise KeyError(key)
        return self._held[id(key)][1]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._held[id(key)] = key, value

    def __delitem__(self, key: Any) -> None:
        del self._held[id(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._held.values()])

    def __len__(self) -> int:
        return len(self._held)
