"""Common-subexpression elimination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.executor.program.fingerprint import Unspeakable, token
from graphgrad.ir.graph import Operation


class Merger:
    """Remembers pure operations by their op, attributes and slots."""

    def __init__(self) -> None:
        self._seen: dict[Any, list[int]] = {}
        self._tokens: dict[int, Any] = {}  # id(attrs): operations without attributes share one
        self._key: Any = None

    def find(self, op: Operation, ins: Sequence[int], mark: Any = None) -> list[int] | None:
        """Returns the slots of the results of an equal operation, or None; then `remember` stores this one's.

        Args:
          op: a pure operation without control inputs.
          ins: the slots of its inputs.
          mark: its recomputation and its device; operations with different marks are not equal.
        """
        attrs = op.attrs
        known = self._tokens.get(id(attrs), self)
        if known is self:
            try:
                known = self._tokens[id(attrs)] = token({k: v for k, v in attrs.items() if not k.startswith("_")})
            except Unspeakable:
                self._key = None
                return None
        self._key = (op.opdef, known, tuple(ins), mark)
        return self._seen.get(self._key)

    def remember(self, outs: list[int]) -> None:
        """Stores the slots of the results of the operation passed to `find` last."""
        if self._key is not None:
            self._seen[self._key] = outs
