"""Modules around modules, by which libraries warn of old names: `tensorflow.python.util.module_wrapper`."""

from __future__ import annotations

from types import ModuleType
from typing import Any


class TFModuleWrapper(ModuleType):
    """A module with the names of another one.

    Args:
      wrapped: that module.
      module_name: the name that users know it by.
      public_apis, deprecation, has_lite: accepted; there are no warnings.
    """

    def __init__(self, wrapped: ModuleType, module_name: str, public_apis: Any = None, deprecation: bool = True,
                 has_lite: bool = False):
        super().__init__(wrapped.__name__, wrapped.__doc__)
        self.__dict__.update(vars(wrapped))
        self._tfmw_wrapped_module = wrapped

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_tfmw_wrapped_module"], name)
