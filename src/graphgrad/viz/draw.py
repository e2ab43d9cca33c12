"""`draw`: draws a graph as a picture."""

from __future__ import annotations

import os
from typing import Any

from graphgrad.gradients.diagnose.explanation import GradientExplanation

from .box_text import width_of
from .boxes import NO_MARKS, marks_of
from .chosen import ends_of, explained_ends, upstream
from .fold import fold
from .layout import place
from .picture import Picture
from .svg import write

_WIDEST = 3740.0  # with margins, two screens
_FEWEST = 4  # boxes


def draw(
    graph_or_tensors: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    depth: int | None = None,
    max_boxes: int = 60,
    title: str | None = None,
    initializers: bool = False,
) -> Picture:
    """Draws a graph, or what some tensors need, as an SVG picture.

    The forward part, gradients and what is built on them have panels of their own, with each gradient
    in the row of its forward operations. Name scopes and repeated parts are folded until at most `max_boxes` boxes
    remain, and the picture is at most two screens wide; pointing at a box or an arrow shows the rest: op type,
    name, inputs, shapes, the line of the program that built it.

    Args:
      graph_or_tensors: the result of `explain_gradient`, to draw the paths from y to x with the cuts marked in red; or
        a `Graph`; or tensors, operations, or lists of them, to draw with all that they depend on; None for the
        default graph.
      path: the file to write, usually `*.svg`; None only returns the text.
      depth: the number of levels of name scopes to show, instead of a choice by `max_boxes`.
      max_boxes: the largest number of boxes after folding; more only where there are more panels.
      title: the heading; by default it shows the counts.
      initializers: whether to show the operations that only initialize variables.
    Returns: the SVG document, a `str` that shows itself in notebooks.
    Raises: ValueError where there is nothing to draw, or tensors of several graphs are given;
      TypeError for anything else; ImportError without the package igraph.

    >>> x = tf.placeholder(tf.float32, [None, 3], name="x")
    >>> svg = draw(tf.gradients(tf.nn.relu(x), x))
    >>> "ReluGrad" in svg
    True
    """
    if depth is not None and depth < 1:
        raise ValueError(f"depth must be 1 or more, not {depth}")
    explanation = graph_or_tensors if isinstance(graph_or_tensors, GradientExplanation) else None
    graph, ends = ends_of(explained_ends(explanation) if explanation else graph_or_tensors)
    ops = upstream(ends) if ends else graph.get_operations()
    if not ops:
        raise ValueError("the graph has no operations to draw. Fix: build some, or name the graph that holds them")
    budget = max_boxes
    while True:
        view = fold(graph, ops, depth, budget, initializers)
        widths = {box: width_of(box) for box in view.boxes}
        placed = place(view, widths)
        if depth is not None or placed.width <= _WIDEST or budget < _FEWEST:
            break
        budget = min(budget, len(view.boxes)) * 9 // 10
    marked = {box for box in view.boxes if any(op in ends for op in box.ops)}
    marks = marks_of(explanation, view) if explanation else NO_MARKS
    heading = title or (str(explanation).partition("\n")[0].rstrip(".:") if explanation else "Graph")
    if explanation:
        text = write(view, placed, widths, heading, marked, marks)
        return _save(text, path)
    left_out = view.total - view.shown
    heading += f": {view.shown} operations in {len(view.boxes)} boxes"
    heading += f" ({left_out} others, such as initialisers, left out)" if left_out else ""
    text = write(view, placed, widths, heading, marked)
    return _save(text, path)


def _save(text: str, path: str | os.PathLike[str] | None) -> Picture:
    if path is not None:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    return Picture(text)
