"""`view_graph`: writes a graph as a page in which boxes open and close."""

from __future__ import annotations

import html
import os
from typing import Any

from graphgrad.gradients.diagnose.explanation import GradientExplanation
from graphgrad.ir.graph import Operation
from graphgrad.viz.chosen import ends_of, explained_ends, upstream
from graphgrad.viz.nesting import Nesting

from .columns import columns
from .marks import explained, failed
from .measured import measured
from .page import page


class GraphPage:
    """A page that shows a graph; notebooks show it in place.

    Attributes:
      html: the document: one file that needs no network.
      operations: how many operations it shows, those of sub-graphs included.
    """

    def __init__(self, text: str, operations: int):
        self.html = text
        self.operations = operations

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file.

        Args:
          path: the file, usually `*.html`; folders that are missing are made.
        """
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.html)

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" '
                'style="width: 100%; height: 640px; border: 1px solid #ccc" title="Graph"></iframe>')

    def __repr__(self) -> str:
        return f"<GraphPage of {self.operations} operations, {len(self.html.encode()) // 1000} kB>"


def view_graph(graph_or_tensors: Any = None, path: str | os.PathLike[str] | None = None, *, title: str | None = None,
               run_metadata: Any = None, error: BaseException | None = None) -> GraphPage:
    """Writes a graph as a page in which scopes, repeated layers, loops, branches and functions open and close.

    Pointing at a box lights up its gradient, or what it is the gradient of. The page also has a search, the lines of
    the program, shapes, and a table of all operations. It is one file, works offline, and obeys the keyboard.

    Args:
      graph_or_tensors: a `Graph`; tensors, operations, or lists of them, for all that they depend on; the result of
        `explain_gradient`, to mark the paths from y to x and the cuts; None for the default graph.
      path: the file to write, usually `*.html`; None only returns the page.
      title: the heading.
      run_metadata: the `RunMetadata` of a run with a `RunOptions.trace_level`, or its `report`: the page then shows
        times, bytes, devices, and memory over time.
      error: an error of a run, such as that of `locate_nonfinite`; its operation is marked, with the message.
    Returns: a `GraphPage`: `html` is the document, `save(path)` writes it; notebooks display it.
    Raises: ValueError where there is nothing to show, or tensors of several graphs are given; TypeError for anything
      else.
    Gradient: none; it builds nothing.
    Reference: graphgrad's own; TensorFlow has no such function.

    >>> x = tf.placeholder(tf.float32, [None, 3], name="x")
    >>> view = tf.view_graph(tf.gradients(tf.nn.relu(x), x), title="relu")
    >>> view.operations, "ReluGrad" in view.html
    (6, True)
    """
    explanation = graph_or_tensors if isinstance(graph_or_tensors, GradientExplanation) else None
    graph, ends = ends_of(explained_ends(explanation) if explanation else graph_or_tensors)
    ops: list[Operation] = sorted(upstream(ends), key=_index) if ends else graph.get_operations()
    if not ops:
        raise ValueError("the graph has no operations to show. Fix: build some, or name the graph that holds them")
    heading = title or (str(explanation).partition("\n")[0].rstrip(".:") if explanation else "Graph")
    nesting = Nesting(graph, ops, heading)
    data = {"title": heading, **columns(nesting), **measured(nesting, run_metadata)}
    data["why"] = explained(nesting, explanation) if explanation else failed(nesting, error) if error else None
    view = GraphPage(page(data, heading), len(nesting.ops))
    if path is not None:
        view.save(path)
    return view


def _index(op: Operation) -> int:
    return op.index
