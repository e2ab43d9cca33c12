"""`tensorflow.python.saved_model.load_context`: the options of the model that is being loaded, for libraries."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class _Loading(threading.local):
    """This thread's options, the outermost first."""

    def __init__(self) -> None:
        self.options: list[Any] = []


_loading = _Loading()


@contextlib.contextmanager
def load_context(load_options: Any) -> Iterator[None]:
    """Sets the options for what is loaded in a `with` block.

    Args:
      load_options: `LoadOptions`.
    """
    _loading.options.append(load_options)
    try:
        yield
    finally:
        _loading.options.pop()


def get_load_options() -> Any:
    """Returns the options of the innermost `load_context`; None outside of any."""
    return _loading.options[-1] if _loading.options else None


def in_load_context() -> bool:
    """Returns whether there is one."""
    return bool(_loading.options)
