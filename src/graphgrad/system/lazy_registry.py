"""Registries of what modules register when they are imported: a module is imported when it is first needed."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

Record = TypeVar("Record")
Found = TypeVar("Found")


def settled(find: Callable[[], Found]) -> Found:
    """Returns what `find` imports, and waits where another thread is in the middle of importing it.

    Where two threads would wait for each other's modules, Python lets one see half a module, or raises.

    Args:
      find: imports something; called again if it fails on half a module.
    Raises: what `find` raises, after ten seconds.
    """
    end = time.monotonic() + 10
    while True:
        try:
            return find()
        except (ImportError, AttributeError, RuntimeError) as e:
            ours = isinstance(e, ImportError) and (e.name or "").startswith("graphgrad")
            in_the_middle = ours or "partially initialized module 'graphgrad" in str(e) or "by _ModuleLock" in str(e)
            if not in_the_middle or threading.active_count() == 1 or time.monotonic() > end:
                raise
        time.sleep(0.001)


class LazyRegistry(dict[str, Record]):
    """Name -> record. Names that are known and whose module is not imported yet count as being there.

    Only what needs a record imports: looking one up, and listing all with `items` or `values`.

    Args:
      index: which module registers which names: lines `module: name name ...`; one that is indented continues.
    """

    def __init__(self, index: str) -> None:
        super().__init__()
        self._waiting: dict[str, str] = {}  # name -> the module that registers it
        for line in index.replace("\n    ", " ").strip().splitlines():
            module, _, names = line.partition(": ")
            self._waiting.update(dict.fromkeys(names.split(), module))

    def __missing__(self, name: str) -> Record:
        module = self._waiting.get(name)
        if module is not None:
            settled(lambda: importlib.import_module(module))
        if dict.__contains__(self, name):  # by now, perhaps by another thread
            return dict.__getitem__(self, name)
        raise KeyError(name)

    def __setitem__(self, name: str, record: Record) -> None:
        super().__setitem__(name, record)
        self._waiting.pop(name, None)

    def __delitem__(self, name: str) -> None:
        self[name]  # one that comes later would be back
        super().__delitem__(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._waiting

    def get(self, name: str, default: Any = None) -> Any:
        """Returns the record of a name.

        Args:
          name: the name.
          default: the result if there is no such name.
        """
        try:
            return self[name]
        except KeyError:
            return default

    def __iter__(self) -> Iterator[str]:
        return iter([*super().__iter__(), *self._waiting])

    def __len__(self) -> int:
        return super().__len__() + len(self._waiting)

    def imported(self) -> list[Record]:
        """Returns the records that exist already."""
        return list(super().values())

    def _import_all(self) -> None:
        for name in list(self._waiting):
            self.get(name)

    def keys(self) -> Any:
        """Imports all; the names."""
        self._import_all()
        return super().keys()

    def values(self) -> Any:
        """Imports all; the records."""
        self._import_all()
        return super().values()

    def items(self) -> Any:
        """Imports all; names and records."""
        self._import_all()
        return super().items()


class Attributes(Generic[Record]):
    """The records of a registry as attributes.

    Args:
      registry: the registry.
    """

    def __init__(self, registry: LazyRegistry[Record]):
        self._registry = registry

    def __getattr__(self, name: str) -> Record:
        try:
            found = self._registry[name]
        except KeyError:
            raise AttributeError(f"no op type '{name}' is registered") from None
        setattr(self, name, found)
        return found
