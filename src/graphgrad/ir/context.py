"""The stacks of default graphs and sessions, one of each per thread, other state of threads, and eager mode."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from .graph import Graph

# TensorFlow 2 starts in eager mode, TensorFlow 1 with a graph; the v1 face switches this off.
_eager_by_default = True

EAGER: Any = None  # the stack entry for eager mode

_all: list[Inherited] = []  # made while modules are imported


class Inherited(threading.local):
    """The base of state that belongs to a thread, and that a thread made by `thread_state` and `take_over` begins with.

    Attributes:
      by_reference: the attributes whose lists both threads share; other lists are copied.
    """

    by_reference: tuple[str, ...] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        made = super().__new__(cls, *args, **kwargs)
        _all.append(made)
        return made


def thread_state() -> list[tuple[Inherited, dict[str, Any]]]:
    """Returns the state of this thread, for `take_over` in another one."""
    return [(state, {name: list(value) if type(value) is list and name not in state.by_reference else value
                     for name, value in vars(state).items()}) for state in _all]


def take_over(states: list[tuple[Inherited, dict[str, Any]]]) -> None:
    """Gives this thread the state of another one.

    Args:
      states: what `thread_state` has returned there.
    """
    for state, values in states:
        vars(state).update(values)


class _Stack(Inherited):
    """This thread's stack of graphs; `current` is its top, or None in eager mode."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.root: Graph | None = None
        self.current: Graph | None = None
        self.settled = False  # whether `current` is valid
        self.seed: int | None = None  # the seed set by set_random_seed in eager mode


class _Sessions(Inherited):
    """This thread's stack of default sessions."""

    def __init__(self) -> None:
        self.entries: list[Any] = []


stack = _Stack()
sessions = _Sessions()


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


def root_graph() -> Graph:
    """Returns this thread's outermost graph."""
    return _root_graph()


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


def session_of(graph: Graph, session: Any, what: str, method: str, colon: str = "") -> Any:
    """Returns the session in which `Tensor.eval` and `Operation.run` compute.

    Args:
      graph: the graph of the tensor or operation.
      session: the user's choice; None for the default session.
      what, method, colon: words for errors.
    Raises: ValueError if there is no session, or it is another graph's.
    """
    if session is None:
        if not sessions.entries:
            raise ValueError(f"Cannot {what} using `{method}()`: No default session is registered. Use `with "
                             f"sess.as_default()`{colon} or pass an explicit session to `{method}(session=sess)`")
        session = sessions.entries[-1]
        if session.graph is not graph:
            raise ValueError(f"Cannot use the default session to {what}: the tensor's graph is different from the "
                             f"session's graph. Pass an explicit session to `{method}(session=sess)`.")
    elif session.graph is not graph:
        raise ValueError(f"Cannot use the given session to {what}: the tensor's graph is different from the "
                         "session's graph.")
    return session


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
