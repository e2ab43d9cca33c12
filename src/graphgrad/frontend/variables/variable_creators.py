"""`variable_creator_scope`: user functions that create variables."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from graphgrad.ir.context import Inherited

_V = TypeVar("_V")

_VARIABLES = "graphgrad.frontend.variables.variable"


class _Creators(Inherited):
    """This thread's creator functions, the outermost first."""

    def __init__(self) -> None:
        self.stack: list[Callable[..., Any]] = []


_creators = _Creators()


class Created(type):
    """Metaclass of variables: a call of the class goes through the functions of `variable_creator_scope`."""

    @property
    def __signature__(cls) -> inspect.Signature:
        own = inspect.signature(cls.__init__)  # type: ignore[misc]  # of an instance
        return own.replace(parameters=list(own.parameters.values())[1:])

    def __call__(cls: type[_V], *args: Any, **kwargs: Any) -> _V:
        if cls.__name__ == "VariableV1":  # takes what libraries give to both classes of variables
            kwargs.pop("experimental_enable_variable_lifting", None)
        # Users' subclasses are called as they are; what refers to a variable after an assignment is no new one.
        if not (_creators.stack and cls.__module__ == _VARIABLES and cls.__name__ != "AssignedVariable"):
            made: _V = type.__call__(cls, *args, **kwargs)
            return made
        bound = inspect.signature(cls.__init__).bind(None, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        make: Callable[..., Any] = functools.partial(_make, cls)
        for creator in _creators.stack:
            make = functools.partial(creator, make)
        return make(**given)


def _make(cls: type, **kwargs: Any) -> Any:
    before, _creators.stack = _creators.stack, []
    try:
        return cls(**kwargs)
    finally:
        _creators.stack = before


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Lets a function create variables, or change the arguments of their creation, in a `with` block.

    Args:
      variable_creator: a function `f(next_creator, **kwargs)` that returns a variable; `kwargs` are the arguments of
        `tf.Variable`, and `next_creator(**kwargs)` makes one. The innermost of nested blocks is called first.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.variable_creator_scope`.

    >>> def frozen(next_creator, **kwargs):
    ...     return next_creator(**{**kwargs, "trainable": False})
    >>> with tf.variable_creator_scope(frozen):
    ...     v = tf.Variable(1.0)
    >>> v.trainable
    False
    """
    before = _creators.stack
    _creators.stack = [*before, variable_creator]
    try:
        yield
    finally:
        _creators.stack = before
