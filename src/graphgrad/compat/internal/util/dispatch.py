"""Functions that libraries can take over for types of theirs; `tensorflow.python.util.dispatch`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

from graphgrad.frontend.structure.structure_types import S
from graphgrad.ir.values import dispatch

from .decorator import make_decorator

_NOT_SUPPORTED = object()


def _or_not(result: Any) -> Any:
    return NotImplemented if result is _NOT_SUPPORTED else result


class OpDispatcher:
    """The base of handlers for the calls of one function that it cannot answer itself."""

    NOT_SUPPORTED = _NOT_SUPPORTED

    def handle(self, args: Any, kwargs: Any) -> Any:
        """Returns the result for given arguments, or NOT_SUPPORTED.

        Args:
          args, kwargs: the arguments.
        """
        return self.NOT_SUPPORTED

    def register(self, op: Callable[..., Any]) -> None:
        """Makes this a handler of a function.

        Args:
          op: a function of a face, or one made by `add_dispatch_support`; nothing happens for others.
        """
        api = dispatch.api_of(op)
        if api is not None:
            api.last.append(lambda args, kwargs: _or_not(self.handle(args, kwargs)))


class GlobalOpDispatcher:
    """The base of handlers for the calls of all functions that they cannot answer themselves."""

    NOT_SUPPORTED = _NOT_SUPPORTED

    def handle(self, op: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Returns the result of a function for given arguments, or NOT_SUPPORTED.

        Args:
          op: the function.
          args, kwargs: the arguments.
        """
        return self.NOT_SUPPORTED

    def register(self) -> None:
        """Makes this a handler of all functions."""
        dispatch.add_fallback(lambda op, args, kwargs: _or_not(self.handle(op, args, kwargs)))


class _ForTypes(OpDispatcher):
    def __init__(self, function: Callable[..., Any], types: tuple[type, ...]):
        self._function, self._types = function, types

    def handle(self, args: Any, kwargs: Any) -> Any:
        given = [v for a in (*args, *kwargs.values()) for v in (a if isinstance(a, (list, tuple)) else [a])]
        return self._function(*args, **kwargs) if any(isinstance(v, self._types) for v in given) else _NOT_SUPPORTED


def dispatch_for_types(op: Callable[..., Any], *types: type) -> Callable[[Any], Any]:
    """Returns a decorator that makes a function take the calls of another one with arguments of some types.

    Args:
      op: as for `OpDispatcher.register`.
      *types: the types.
    """

    def decorate(function: Any) -> Any:
        _ForTypes(function, types).register(op)
        return function

    return decorate


@overload
def add_dispatch_support(target: None = None, iterable_parameters: Any = None) -> Callable[[S], S]: ...
@overload
def add_dispatch_support(target: S, iterable_parameters: Any = None) -> S: ...
def add_dispatch_support(target: Any = None, iterable_parameters: Any = None) -> Any:
    """Makes a function whose calls handlers may take over, where it raises TypeError or ValueError.

    Args:
      target: the function.
      iterable_parameters: accepted.
    Returns: the function; a decorator without `target`.
    """
    if target is None:
        return functools.partial(add_dispatch_support, iterable_parameters=iterable_parameters)
    return make_decorator(target, dispatch.api(target.__name__, target).call, "add_dispatch_support")


__all__ = ["GlobalOpDispatcher", "OpDispatcher", "add_dispatch_support", "dispatch_for_types"]
