"""Which parts of a formula get names of their own, and so lines of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .expressions import FormulaNode

_REPEATED = 4  # nodes: what occurs more than once gets a name if it has so many
_LONG = 30  # so does what would be longer
_DEEP = 8
_NEVER = frozenset({"number", "name", "text", "tuple", "list"})


class FormulaLines(NamedTuple):
    """A formula as lines.

    Attributes:
      parts: nodes with names of their own, in the order in which they are computed; the last one is the result.
      names: their names by node, without the result.
    """

    parts: list[FormulaNode]
    names: dict[FormulaNode, str]


def lines(root: FormulaNode, taken: Iterable[str]) -> FormulaLines:
    """Chooses the parts that get names.

    Args:
      root: the result.
      taken: names that are in use.
    """
    nodes = _reachable(root)
    uses = Counter(arg for node in nodes for arg in node.args)
    sizes: dict[FormulaNode, tuple[int, int]] = {}  # how many nodes would be written there, and how deep
    parts = []
    for node in nodes:
        inner = [sizes[arg] for arg in node.args]
        size, depth = 1 + sum(n for n, _ in inner), 1 + max((d for _, d in inner), default=0)
        named = node.kind not in _NEVER and ((uses[node] > 1 and size >= _REPEATED) or size > _LONG or depth > _DEEP)
        if named and node is not root:
            parts.append(node)
            size, depth = 1, 1
        sizes[node] = size, depth
    free = _free_names(set(taken))
    return FormulaLines([*parts, root], {node: next(free) for node in parts})


def _free_names(taken: set[str]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        if (name := f"t{number}") not in taken:
            yield name


def _reachable(root: FormulaNode) -> list[FormulaNode]:
    """Returns the nodes that a node consists of, each after its arguments."""
    seen, waiting = {root}, [root]
    while waiting:
        new = [arg for arg in waiting.pop().args if arg not in seen]
        seen.update(new)
        waiting += new
    return sorted(seen, key=lambda node: node.order)
