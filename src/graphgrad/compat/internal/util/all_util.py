"""`tensorflow.python.util.all_util`."""

from __future__ import annotations

from typing import Any


def remove_undocumented(module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None) -> None:
    """Leaves a module as it is; TensorFlow removed what it did not document.

    Args:
      module_name, allowed_exception_list, doc_string_modules: accepted.
    """


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """Returns the public names of a module.

    Args:
      module_name: the module.
      doc_string_modules: accepted.
    """
    import sys

    return sorted(n for n in vars(sys.modules[module_name]) if not n.startswith("_"))
