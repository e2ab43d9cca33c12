"""Gives classes the module and name that TensorFlow's have, while `import tensorflow` means this package.

Libraries for several frameworks recognize an object of TensorFlow's by `type(x).__module__` and `type(x).__name__`,
so as not to import TensorFlow for the question.
"""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

# A module here -> its class -> what TensorFlow calls it.
_NAMES = {
    "graphgrad.extras.data.dataset": {"Dataset": "tensorflow.python.data.ops.dataset_ops.DatasetV2"},
    "graphgrad.extras.ragged.ragged_tensor": {
        "RaggedTensor": "tensorflow.python.ops.ragged.ragged_tensor.RaggedTensor"},
    "graphgrad.ir.eager": {"EagerTensor": "tensorflow.python.framework.ops.EagerTensor"},
    "graphgrad.ir.operation": {"SymbolicTensor": "tensorflow.python.framework.ops.SymbolicTensor"},
    "graphgrad.ir.tensor": {"Tensor": "tensorflow.python.framework.tensor.Tensor"},
    "graphgrad.ir.values.indexed_slices": {
        "IndexedSlices": "tensorflow.python.framework.indexed_slices.IndexedSlices"},
    "graphgrad.ops.common.sparse_tensor": {"SparseTensor": "tensorflow.python.framework.sparse_tensor.SparseTensor"},
}
_before: dict[type, tuple[str, str]] = {}


def _rename(module: ModuleType) -> None:
    for own, known_as in _NAMES[module.__name__].items():
        found = getattr(module, own)
        _before.setdefault(found, (found.__module__, found.__qualname__))
        found.__module__, _, name = known_as.rpartition(".")
        found.__name__ = found.__qualname__ = name


def rename() -> None:
    """Renames the classes of modules that are loaded; `renaming_spec` does so for those that are loaded later."""
    for name in _NAMES:
        if name in sys.modules:
            _rename(sys.modules[name])


def restore() -> None:
    """Gives all classes their own names again."""
    for found, (module, name) in _before.items():
        found.__module__, found.__name__, found.__qualname__ = module, name, name
    _before.clear()


def renaming_spec(fullname: str, path: Sequence[str] | None) -> importlib.machinery.ModuleSpec | None:
    """Returns how to load a module whose classes are renamed after it is loaded; None for other modules.

    Args:
      fullname: the module.
      path: where the import system looks for it.
    """
    if fullname not in _NAMES:
        return None
    found = importlib.machinery.PathFinder.find_spec(fullname, path)
    loader: Any = found and found.loader
    if loader is not None:
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            _rename(module)

        loader.exec_module = exec_module
    return found


__all__ = ["rename", "renaming_spec", "restore"]
