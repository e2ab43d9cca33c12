"""`init_scope`: leaving functions, control flow and control dependencies, to build initial state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from graphgrad.ir import context
from graphgrad.ir.context import current_graph
from graphgrad.ir.graph import Graph, listening
from graphgrad.ir.scopes import eager_scope


def outermost_graph() -> Graph | None:
    """Returns the graph around all functions and branches being built, or None in eager mode."""
    graph = current_graph()
    while graph is not None and graph.building_function:
        graph = graph._outer_graph
    return graph


def variables_graph() -> Graph | None:
    """Returns the graph in which variables are found by name: the outermost one, or one that `wrap_function` builds.

    In eager mode there is none.
    """
    graph = current_graph()
    while graph is not None and graph.building_function and not graph.names_variables:
        graph = graph._outer_graph
    return graph


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Lifts operations built inside out of functions, branches, loops and control dependencies.

    Tapes do not see them; name scopes stay.

    Reference: TensorFlow 2.21 `tf.init_scope`.

    >>> with tf.control_dependencies([tf.no_op()]):
    ...     with tf.init_scope():
    ...         c = tf.constant(1)
    >>> c.op.control_inputs
    ()
    """
    recorders, listening.recorders = listening.recorders, []  # tapes do not see what is built inside
    try:
        with _lifted():
            yield
    finally:
        listening.recorders = recorders


@contextlib.contextmanager
def _lifted() -> Iterator[None]:
    inner, graph = current_graph(), outermost_graph()
    if inner is None:
        yield
        return
    scope = inner.get_name_scope()
    scope = f"{scope}/" if scope else ""
    with context.use(graph):
        if graph is None:
            before, eager_scope.prefix = eager_scope.prefix, scope
            try:
                yield
            finally:
                eager_scope.prefix = before
        elif graph is inner:
            with graph.control_dependencies(None):
                yield
        else:
            with graph.name_scope(scope), graph.control_dependencies(None):
                yield
