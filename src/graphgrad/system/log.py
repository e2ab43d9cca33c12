"""A logger that imports `logging` on first use, to keep `import graphgrad` fast."""

from __future__ import annotations

from typing import Any


class Log:
    """A lazy `logging.getLogger(name)`.

    Args:
      name: the logger's name.
    """

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        import logging

        return getattr(logging.getLogger(self._name), attribute)
