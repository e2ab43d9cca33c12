"""The elements of a picture: boxes, arrows, and the parts of a graph."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphgrad.ir.graph import Operation, Tensor


def is_variable(op: Operation) -> bool:
    """Returns whether an operation stands for a variable."""
    return op.opdef.variable == "handle"


def is_source(op: Operation) -> bool:
    """Returns whether an operation is a variable, a constant or a placeholder."""
    return is_variable(op) or op.type == "Const" or op.opdef.placeholder


class GraphPart(NamedTuple):
    """The part of the graph that an operation belongs to; parts are ordered as they depend on each other.

    `order` is the number of differentiations; `kind` is "forward" (depends on no gradient
    of its order), "gradient" or "update" (uses a gradient of its order).
    """

    order: int
    rank: int  # 0: a gradient (or the forward part), 1: its users

    @property
    def kind(self) -> str:
        """One of "forward", "gradient", "update"."""
        return "update" if self.rank else "gradient" if self.order else "forward"


FORWARD = GraphPart(0, 0)


class Box:
    """One box of the picture.

    Attributes:
      key: its part and its path of scopes, which identify it.
      ops: the operations it represents, in creation order.
      folded: whether it represents a scope.
      part: the `GraphPart` of its operations.
      name: the scope's or the operation's name.
      main: the operation whose name is the title.
      copies: the number of boxes bundled into this one.
    """

    __slots__ = ("copies", "folded", "key", "main", "name", "ops", "part")

    main: Operation

    def __init__(self, key: tuple[Any, ...], part: GraphPart, name: str, folded: bool):
        self.key = key
        self.part = part
        self.name = name
        self.folded = folded
        self.ops: list[Operation] = []
        self.copies = 1

    @property
    def kind(self) -> str:
        """The style: "variable", "input", or the part's kind."""
        one_kind = not self.folded or self.copies > 1
        if one_kind and is_variable(self.main):
            return "variable"
        if one_kind and is_source(self.main) and self.part.kind != "gradient":
            return "input"
        return self.part.kind

    def __repr__(self) -> str:
        return f"<Box {self.name} {len(self.ops)} ops>"


@dataclass(eq=False, slots=True)
class Arrow:
    """The flow from one box to another: tensors, or only an order when `tensors` is empty."""

    source: Box
    target: Box
    tensors: tuple[Tensor, ...]


class View(NamedTuple):
    """The content of a picture: boxes, arrows, and the number of auxiliary operations not shown."""

    boxes: list[Box]
    arrows: list[Arrow]
    shown: int
    total: int


def pattern(path: tuple[str, ...]) -> str:
    """Removes numbers and '_grad' from a path."""
    return re.sub(r"_?\d+|_grad$", "", "/".join(path))


def types_in(box: Box) -> list[tuple[str, int]]:
    """Returns the types of the operations in a box with their counts, the most frequent first."""
    return Counter(op.type for op in box.ops).most_common()


class Marks(NamedTuple):
    """The result of `explain_gradient`, in boxes.

    `way` and `beyond` hold pairs (nearer to y, nearer to x): where the gradient goes, and where it would go after a
    cut. `cuts` has the reason for each box with a cut.
    """

    way: set[tuple[Box, Box]]
    beyond: set[tuple[Box, Box]]
    cuts: dict[Box, str]


NO_MARKS = Marks(set(), set(), {})


def marks_of(explanation: Any, view: View) -> Marks:
    """Locates the paths and cuts of a `GradientExplanation` in a view."""
    box_of = {op: box for box in view.boxes for op in box.ops}
    marks = Marks(set(), set(), {})

    def mark(pairs: set[tuple[Box, Box]], path: Any) -> None:
        boxes = [box_of[op] for op in path if op in box_of]
        pairs.update((a, b) for a, b in itertools.pairwise(boxes) if a is not b)

    mark(marks.way, explanation.path)
    for cut in explanation.cuts[:_MANY_CUTS]:
        path = cut.path
        at = path.index(cut.op) if cut.op in path else 0
        mark(marks.way, path[: at + 1])
        mark(marks.beyond, path[at:])
        if cut.op in box_of:
            box = box_of[cut.op]
            told = f"{cut.op.name}: {cut.why}. Fix: {cut.fix}"
            marks.cuts[box] = f"{marks.cuts[box]}\n{told}" if box in marks.cuts else told
    return marks


_MANY_CUTS = 50  # more are not drawn
