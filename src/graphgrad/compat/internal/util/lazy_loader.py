"""`tensorflow.python.util.lazy_loader`."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class LazyLoader(ModuleType):
    """A module that is imported when one of its names is first asked for.

    Args:
      local_name: the name under which another module has it.
      parent_module_globals: that module's names, among which the module itself then replaces this.
      name: what to import.
      warning: accepted.
    """

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str, warning: Any = None):
        super().__init__(name)
        self._place = parent_module_globals, local_name

    def _load(self) -> ModuleType:
        module = importlib.import_module(self.__name__)
        parent, local_name = self._place
        parent[local_name] = module
        self.__dict__.update(vars(module))
        return module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)

    def __dir__(self) -> list[str]:
        return dir(self._load())
