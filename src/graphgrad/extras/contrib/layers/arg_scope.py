"""`tf.contrib.framework.arg_scope`: default arguments for functions, within a `with` block."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from graphgrad.frontend.structure.structure_types import Lenient, P, R
from graphgrad.ir.context import Inherited
from graphgrad.ir.source import user_source

_Scope = dict[str, dict[str, Any]]


class _Stack(Inherited):
    def __init__(self) -> None:
        self.scopes: list[_Scope] = [{}]


_stack = _Stack()
_known: set[str] = set()  # the functions that `add_arg_scope` was applied to


def arg_scope_func_key(op: Any) -> str:
    """Returns the name of a function in scopes."""
    return str(getattr(op, "_key_op", f"{op.__module__}.{op.__qualname__}"))


def add_arg_scope(func: Callable[P, R]) -> Lenient[P, R]:
    """Decorates a function so that `arg_scope` can give it default arguments.

    Args:
      func: the function.

    >>> @add_arg_scope
    ... def scaled(x, by=1):
    ...     return x * by
    >>> with arg_scope([scaled], by=10):
    ...     scaled(2), scaled(2, by=3)
    (20, 6)
    """

    @functools.wraps(func)
    def scoped(*args: Any, **kwargs: Any) -> R:
        defaults = _stack.scopes[-1].get(key)
        if not defaults:
            return func(*args, **kwargs)
        given = _positional(func, len(args))
        return func(*args, **{**{k: v for k, v in defaults.items() if k not in given}, **kwargs})

    key = arg_scope_func_key(func)
    scoped._key_op = key  # type: ignore[attr-defined]  # functions take attributes
    _known.add(key)
    return scoped


def _positional(func: Callable[..., Any], count: int) -> set[str]:
    """Returns the names of the first arguments."""
    return set(list(inspect.signature(func).parameters)[:count])


def has_arg_scope(func: Any) -> bool:
    """Returns whether `arg_scope` can give the function default arguments."""
    return arg_scope_func_key(func) in _known


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """Returns the arguments of a function that can have defaults."""
    if not has_arg_scope(func):
        raise AssertionError(f"{func} is not decorated with @add_arg_scope")
    return tuple(n for n, p in inspect.signature(func).parameters.items() if p.default is not p.empty)


def current_arg_scope() -> _Scope:
    """Returns the current scope."""
    return _stack.scopes[-1]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[_Scope]:
    """Sets default arguments of functions, within a `with` block.

    Args:
      list_ops_or_scope: the functions, each decorated with `add_arg_scope`; or a scope that such a block yielded.
      **kwargs: the defaults.
    Yields: the scope, which a later block can enter again.
    Raises: ValueError for functions that are not decorated; TypeError for anything else.
    Reference: TensorFlow 1.15 `tf.contrib.framework.arg_scope`.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling a dictionary, kwargs must be empty.\n"
                             f"  Asked for at {user_source(3)}\n  Fix: open a second scope inside")
        scope = dict(list_ops_or_scope)
    else:
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict).\n"
                            f"  Asked for at {user_source(3)}\n  Fix: arg_scope([function], ...)")
        scope = dict(_stack.scopes[-1])
        for op in list_ops_or_scope:
            if not has_arg_scope(op):
                raise ValueError(f"{getattr(op, '__name__', op)} is not decorated with @add_arg_scope.\n"
                                 f"  Asked for at {user_source(3)}\n  Fix: decorate it, or leave it out")
            key = arg_scope_func_key(op)
            scope[key] = {**scope.get(key, {}), **kwargs}
    _stack.scopes.append(scope)
    try:
        yield scope
    finally:
        _stack.scopes.pop()
