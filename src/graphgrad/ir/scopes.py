"""Name scopes that work in graph and eager mode alike."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from .context import current_graph


class _EagerScope(threading.local):
    """The name scope of eager mode, with a slash at its end; it stands before the names of variables."""

    def __init__(self) -> None:
        self.prefix = ""


eager_scope = _EagerScope()


@contextlib.contextmanager
def name_scope(name: str | None, default: str | None = None, values: Any = None) -> Iterator[str]:
    """Puts the operations made inside under a name; does nothing in eager mode.

    Args:
      name: the user's wish; None or '' for `default`.
      default: the name when the user gave none.
      values: accepted as TensorFlow 1 does; not needed.
    Yields: the scope's full name with its slash.
    """
    graph = current_graph()
    wish = name if name is not None else default
    if graph is None:
        yield f"{wish}/" if wish else ""
        return
    with graph.name_scope(wish) as scope:
        yield scope
