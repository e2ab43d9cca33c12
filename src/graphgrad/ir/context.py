"""The stack of default graphs, one per thread, and eager mode."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .graph import Graph

# TensorFlow 2 starts in eager mode, TensorFlow 1 with a graph; the v1 face switches this off.
_eager_by_default = True

EAGER: Any = None  # the stack entry for eager mode


class _Stack(threading.local):
    """This thread's stack of graphs; `current` is its top, or None in eager mode."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.root: Graph | None = None
        self.current: Graph | None = None
        self.settled = False  # whether `current` is valid
        self.seed: int | None = None  # the seed set by set_random_seed in eager mode


stack = _Stack()


def current_graph() -> Graph | None:
    """Returns the graph that operations are added to, or None in eager mode."""
    return stack.current if stack.settled else _settle()


def _settle() -> Graph | None:
    if stack.entries:
        stack.current = stack.entries[-1]
    elif _eager_by_default:
        stack.current = None
    else:
        stack.current = _root_graph()
    stack.settled = True
    return stack.current


def _root_graph() -> Graph:
    if stack.root is None:
        from .graph import Graph

        stack.root = Graph()
    return stack.root


def get_default_graph() -> Graph:
    """Returns the current graph; in eager mode, this thread's outermost one."""
    return current_graph() or next((g for g in reversed(stack.entries) if g is not None), None) or _root_graph()


def reset_default_graph() -> None:
    """Replaces this thread's outermost graph by an empty one.

    Raises: AssertionError inside a `with graph.as_default()` block.
    """
    if stack.entries:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. "
                             "If you need a cleared graph, exit the nesting and create a new graph.")
    stack.root = stack.current = None
    stack.settled = False


@contextlib.contextmanager
def use(graph: Graph | None) -> Iterator[Graph | None]:
    """Makes `graph` (or `EAGER`) the current one inside a `with` block."""
    stack.entries.append(graph)
    stack.settled = False
    try:
        yield graph
    finally:
        stack.entries.pop()
        stack.settled, stack.current = False, None  # so that the graph can be freed


def executing_eagerly() -> bool:
    """Returns whether operations run at once instead of being added to a graph."""
    return current_graph() is None


def inside_function() -> bool:
    """Returns whether operations are added to the graph of a `tf.function`.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.inside_function`.

    >>> tf.executing_eagerly_outside_functions()
    False
    """
    graph = current_graph()
    return graph is not None and bool(graph.building_function)


def executing_eagerly_outside_functions() -> bool:
    """Returns whether operations outside of all functions run at once.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.compat.v1.executing_eagerly_outside_functions`.

    >>> tf.executing_eagerly_outside_functions()
    False
    """
    graph = current_graph()
    if graph is None or not graph.building_function:
        return graph is None
    outer = next((g for g in reversed(stack.entries) if g is EAGER or not g.building_function), None)
    return outer is EAGER and (_eager_by_default or EAGER in stack.entries)


def set_eager_default(on: bool) -> None:
    """Selects the meaning of an empty stack: eager mode (2.x) or a default graph (1.x)."""
    global _eager_by_default
    _eager_by_default = on
    stack.settled = False


def eager_by_default() -> bool:
    """Returns whether an empty stack means eager mode."""
    return _eager_by_default
