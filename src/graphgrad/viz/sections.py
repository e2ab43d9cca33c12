"""The sections of a graph: the forward part, each call of `gradients`, and what is built on its results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from graphgrad.ir.graph import Operation

GRADIENT_SCOPE = re.compile(r"(?:^|/)gradients(?:_\d+)?(?=/|$)")


class Section(NamedTuple):
    """A part of a graph; sections are ordered such that each depends on earlier ones only.

    Attributes:
      call: the number of the last call of `gradients` that it depends on, or is; 0 for the forward part.
      rank: 0 for the forward part and gradients, 1 for what is built on these.
      scope: the name scope of the call.
      order: how often it was differentiated.
    """

    call: int
    rank: int
    scope: str
    order: int

    @property
    def kind(self) -> str:
        """One of "forward", "gradient", "update"."""
        return "update" if self.rank else "gradient" if self.call else "forward"


FORWARD = Section(0, 0, "", 0)


def is_copy(op: Operation) -> bool:
    """Returns whether an operation computes once more what another one does, for the gradient of a loop or a branch."""
    original = op._original_op
    if original is None or f"{original.name}_grad" in op.name or GRADIENT_SCOPE.search(op.name) is not None:
        return False
    return original.type == op.type or original.name == op.name


def is_gradient(op: Operation) -> bool:
    """Returns whether an operation was built by `gradients`."""
    return (op._original_op is not None and not is_copy(op)) or GRADIENT_SCOPE.search(op.name) is not None


def gradients_scope(op: Operation) -> str:
    """Returns the name scope of the call of `gradients` that built an operation; one above it without such a scope."""
    original = op._original_op
    if original is not None:
        at = op.name.find(f"/{original.name}_grad")
        if at >= 0:
            return op.name[:at]
    found = list(GRADIENT_SCOPE.finditer(op.name))
    if found:
        last = found[0] if original is None else found[-1]
        return op.name[: last.end()] if last.end() < len(op.name) else op.name[: last.start()].rstrip("/")
    return op.name.rpartition("/")[0]


def sections_of(ops: Sequence[Operation]) -> list[Section]:
    """Returns the section of each operation of a graph; the operations are in creation order."""
    at = {id(op): i for i, op in enumerate(ops)}
    before = [[i for i in (at.get(id(t)) for t in _waits_for(op)) if i is not None] for op in ops]
    order = [0] * len(ops)
    calls: dict[str, int] = {}
    section: list[Section] = []
    for i, op in enumerate(ops):
        latest = max((section[b] for b in before[i]), default=FORWARD)
        if is_gradient(op):
            original = at.get(id(op._original_op))
            order[i] = max(1, 1 + order[original] if original is not None and original < i else latest.order)
            scope = gradients_scope(op)
            if not GRADIENT_SCOPE.search(scope):
                scope = f"tape {order[i]}" if order[i] > 1 else "tape"
            section.append(Section(calls.setdefault(scope, len(calls) + 1), 0, scope, order[i]))
        else:
            order[i] = latest.order
            section.append(latest if latest == FORWARD else Section(latest.call, 1, latest.scope, latest.order))
    deepest: dict[int, int] = {}
    for s in section:
        deepest[s.call] = max(deepest.get(s.call, 0), s.order)
    section = [s._replace(order=deepest[s.call]) for s in section]
    return _where_used(ops, before, section)


def _where_used(ops: Sequence[Operation], before: list[list[int]], section: list[Section]) -> list[Section]:
    """Moves what was built after a gradient, for what is built on it alone, to there, such as a learning rate."""
    begun: dict[int, int] = {}
    for i, s in enumerate(section):
        begun.setdefault(s.call, i)
    first: list[Section | None] = [None] * len(ops)
    for i in range(len(ops) - 1, -1, -1):
        use = first[i]
        if use is not None and use.rank and use > section[i] and not is_gradient(ops[i]):
            if i > begun[use.call] and not ops[i].opdef.placeholder:
                section[i] = use
        for b in before[i]:
            known = first[b]
            first[b] = section[i] if known is None or section[i] < known else known
    return section


def _waits_for(op: Operation) -> list[Operation]:
    return [t.op for t in op.inputs] + list(op.control_inputs)
