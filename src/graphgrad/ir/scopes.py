"""Name scopes that work in graph and eager mode alike."""

from __future__ import annotations

from typing import Any

from .context import Inherited, current_graph
from .source import STRAY, raise_in_words


class _EagerScope(Inherited):
    """The name scope of eager mode, with a trailing slash; it prefixes the names of variables."""

    def __init__(self) -> None:
        self.prefix = ""


eager_scope = _EagerScope()


class name_scope:  # a class: a generator takes a microsecond longer
    """Prefixes the names of operations built inside; without effect in eager mode.

    Functions of several operations use such a block. It turns errors that Python raises for their arguments into
    TensorFlow's.

    Args:
      name: the user's choice; None or '' for `default`.
      default: the name when the user gave none.
      values: accepted as in TensorFlow 1; not needed.
    Yields: the scope's full name with its slash.
    """

    __slots__ = ("_name", "_scope")

    def __init__(self, name: str | None, default: str | None = None, values: Any = None):
        self._name = name if name is not None else default

    def __enter__(self) -> str:
        graph = current_graph()
        if graph is None:
            self._scope = None
            return f"{self._name}/" if self._name else ""
        self._scope = graph.name_scope(self._name)
        return self._scope.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if self._scope is not None:
            self._scope.__exit__()
        if isinstance(error, STRAY):
            raise_in_words(error)
