"""What libraries ask about functions: `tensorflow.python.util.function_utils`."""

from __future__ import annotations

import functools
import inspect
from typing import Any

_NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_ONLY


def fn_args(fn: Any) -> tuple[str, ...]:
    """Returns the names of a function's arguments, without those of a method's object and those that are given.

    Args:
      fn: a function, method, `functools.partial` or object that can be called.
    """
    if isinstance(fn, functools.partial):
        given = fn_args(fn.func)[len(fn.args) :]
        return tuple(name for name in given if name not in fn.keywords)
    if not inspect.isroutine(fn) and not inspect.isclass(fn):
        fn = fn.__call__
    parameters = inspect.signature(fn).parameters.values()
    return tuple(p.name for p in parameters if p.kind in _NAMED)


def has_kwargs(fn: Any) -> bool:
    """Returns whether a function takes arguments by any name.

    Args:
      fn: a function, `functools.partial` or object that can be called.
    Raises: TypeError for what cannot be called.
    """
    if isinstance(fn, functools.partial):
        fn = fn.func
    if not callable(fn):
        raise TypeError(f"Argument `fn` should be a callable. Received: fn={fn} (of type {type(fn)})")
    return any(p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


def get_func_name(func: Any) -> str:
    """Returns a function's name.

    Args:
      func: a function, `functools.partial` or object that can be called.
    """
    if isinstance(func, functools.partial):
        return get_func_name(func.func)
    return getattr(func, "__qualname__", type(func).__name__)


def get_func_code(func: Any) -> Any:
    """Returns a function's code, None if it has none.

    Args:
      func: a function, `functools.partial` or object that can be called.
    """
    while isinstance(func, functools.partial):
        func = func.func
    return getattr(func, "__code__", None)
