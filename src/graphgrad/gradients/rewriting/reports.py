"""What was rewritten, and what was not, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from graphgrad.ir.graph import Operation, Tensor

from .coefficient_passes import Passes


class Finding(NamedTuple):
    """What became of one derivative.

    Attributes:
      name: the name of its tensor.
      source: the user's line, "" if it is not known.
      replaced: whether it comes from Taylor coefficients.
      reason: why it does not; else what it comes from.
    """

    name: str
    source: str
    replaced: bool
    reason: str

    def __str__(self) -> str:
        what = "replaced" if self.replaced else "left as it is"
        line = f"\n    {self.source}" if self.source else ""
        return f"{self.name}: {what}: {self.reason}{line}"


_all: dict[Finding, None] = {}


class Report:
    """The findings about the derivatives of a graph; its text has one paragraph for each.

    Attributes:
      findings: them.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def replaced(self, tensors: Sequence[tuple[Tensor, Any]], passes: Passes) -> None:
        """Adds derivatives that come from passes."""
        parts = [f"order {p.order} along {_counted(len(p.directions), 'direction')}"
                 + ("" if p.weights is None else ", the highest orders summed") for p in passes.list]
        self._add(tensors, True, f"Taylor coefficients of {' and '.join(parts)}")

    def left(self, tensors: Sequence[tuple[Tensor, Any]], reason: str) -> None:
        """Adds derivatives that stay nested."""
        self._add(tensors, False, reason)

    def stuck(self, ops: Sequence[Operation]) -> None:
        """Adds operations that go on reading nested derivatives."""
        for op in ops:
            self._add([(t, op.source) for t in op.outputs[:1]], False,
                      f"operation '{op.name}' (op type: {op.type}) has effects, sub-graphs or control inputs, and is "
                      "not repeated on replaced derivatives")

    def _add(self, tensors: Sequence[tuple[Tensor, Any]], replaced: bool, reason: str) -> None:
        for t, source in tensors:
            finding = Finding(t.name, str(source or ""), replaced, reason)
            if finding not in self.findings:
                self.findings.append(finding)
                _all.setdefault(finding)

    def __str__(self) -> str:
        if not self.findings:
            return "No nested derivatives were found."
        return "\n".join(map(str, self.findings))

    __repr__ = __str__


def of_all_graphs() -> Report:
    """Returns the findings about all graphs of the process."""
    found = Report()
    found.findings += _all
    return found


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
