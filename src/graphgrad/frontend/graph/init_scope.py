"""`init_scope`: leaving functions, control flow and control dependencies, to build initial state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from graphgrad.ir import context
from graphgrad.ir.context import current_graph
from graphgrad.ir.graph import Graph


def outermost_graph() -> Graph | None:
    """Returns the graph around all functions and branches being built, or None in eager mode."""
    graph = current_graph()
    while graph is not None and graph.building_function:
        graph = graph.outer_graph
    return graph


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Lifts operations built inside out of functions, branches, loops and control dependencies.

    Reference: TensorFlow 2.21 `tf.init_scope`.

    >>> with tf.control_dependencies([tf.no_op()]):
    ...     with tf.init_scope():
    ...         c = tf.constant(1)
    >>> c.op.control_inputs
    ()
    """
    graph = outermost_graph()
    with context.use(graph):
        if graph is None:
            yield
        else:
            with graph.control_dependencies(None):
                yield
