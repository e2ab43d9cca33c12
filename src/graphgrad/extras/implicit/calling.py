"""What all solvers share: a graph to be built in, also in eager mode, and the checks of their options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from graphgrad.frontend.function.function import Function
from graphgrad.ir.context import current_graph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source


class Info(NamedTuple):
    """How an iteration went.

    Attributes:
      iterations: their number, int32.
      residual: the norm of what should be zero.
    """

    iterations: Tensor
    residual: Tensor


def staged(name: str | None, default: str, build: Callable[[str], Any]) -> Any:
    """Builds a solver in the current graph; in eager mode in a function that is run at once.

    Args:
      name: a name scope, or None.
      default: the scope's name otherwise.
      build: takes the name of the scope.
    Returns: what `build` returns.
    """
    def scoped() -> Any:
        with name_scope(name, default) as scope:
            return build(scope.rstrip("/"))

    return Function(scoped, name=default, autograph=False)() if current_graph() is None else scoped()


def checked(function: str, **options: tuple[Any, Any]) -> None:
    """Raises ValueError for an option that is not among its allowed values: name=(value, allowed)."""
    for option, (value, allowed) in options.items():
        if value not in allowed:
            raise ValueError(f"{function}: {option}={value!r}.\n  Called at {user_source(2)}\n"
                             f"  Fix: give one of {', '.join(map(repr, allowed))}")


def function_given(function: str, f: Any, what: str = "f") -> None:
    """Raises TypeError unless f can be called."""
    if not callable(f):
        raise TypeError(f"{function}: {what} must be a function of tensors, not {f!r}.\n  Called at {user_source(2)}\n"
                        "  Fix: give a Python function, e.g. a lambda")
