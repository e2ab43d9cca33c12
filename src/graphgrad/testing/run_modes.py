"""Decorators that run a test in graph mode and eagerly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

from graphgrad.frontend.structure.structure_types import S
from graphgrad.ir import context
from graphgrad.ir.graph import Graph


@overload
def run_in_graph_and_eager_modes(func: None = None, **_: Any) -> Callable[[S], S]: ...
@overload
def run_in_graph_and_eager_modes(func: S, **_: Any) -> S: ...
def run_in_graph_and_eager_modes(func: Any = None, **_: Any) -> Any:
    """Runs a test method eagerly, and in a graph of its own with a session.

    Args:
      func: the method, whose first argument is a `tf.test.TestCase`.
      **_: TensorFlow's options; accepted.
    Returns: the method that does both; a decorator if `func` is not given.
    """
    if func is None:
        return run_in_graph_and_eager_modes
    if isinstance(func, type):
        raise ValueError("`run_in_graph_and_eager_modes` only supports test methods. Did you mean to use "
                         "`run_all_in_graph_and_eager_modes`?")
    test = func

    @functools.wraps(func)
    def both(self: Any, *args: Any, **kwargs: Any) -> None:
        with context.use(None):
            test(self, *args, **kwargs)
        self.tearDown()
        self._tempdir = None
        with Graph().as_default():
            self.setUp()
            with self.test_session():
                test(self, *args, **kwargs)

    return both


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """Applies `run_in_graph_and_eager_modes` to each test method of a class.

    Args:
      cls: a subclass of `tf.test.TestCase`.
    Returns: the class.
    """
    for name in dir(cls):
        value = getattr(cls, name)
        if name.startswith("test") and callable(value) and name != "test_session":
            setattr(cls, name, run_in_graph_and_eager_modes(value))
    return cls
