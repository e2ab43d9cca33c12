"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, with names that it had once."""

from __future__ import annotations

import collections
import inspect
from inspect import *  # noqa: F403  # the module has all of inspect's names
from typing import Any

from graphgrad.compat import importing
from graphgrad.ir.dtypes import int32

_inspect = inspect  # which libraries take from there
ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


# Libraries of TensorFlow 1's time compare signatures with those of 1.15: last arguments that it did not have yet, and
# defaults that were others, by function and argument.
_LATER = ("layout",)
_DEFAULTS_OF_1 = {("shape", "out_type"): int32, ("size", "out_type"): int32}


def getfullargspec(obj: Any) -> Any:
    """Returns the arguments of a function, beneath its decorators, without annotations.

    Args:
      obj: the function.
    """
    found = inspect.getfullargspec(inspect.unwrap(obj))._replace(annotations={})
    return _of_1(obj, found) if found.defaults and importing.face() == 1 and _is_ours(obj) else found


def _is_ours(obj: Any) -> bool:
    return str(getattr(obj, "__module__", "")).startswith("graphgrad.")


def _of_1(function: Any, found: Any) -> Any:
    args, defaults = found.args, found.defaults
    if args[-1] in _LATER:
        args, defaults = args[:-1], defaults[:-1]
    names = args[len(args) - len(defaults) :]
    then = [_DEFAULTS_OF_1.get((function.__name__, n), d) for n, d in zip(names, defaults, strict=True)]
    return found._replace(args=args, defaults=tuple(then))


def getargspec(obj: Any) -> Any:
    """Returns the arguments of a function, without keyword-only ones.

    Args:
      obj: the function.
    """
    full = getfullargspec(obj)
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """Returns what the arguments of a function are in a call, with defaults; further named ones beside the others.

    Args:
      *func_and_positional: the function, and the arguments by position.
      **named: the arguments by name.
    """
    function, positional = func_and_positional[0], func_and_positional[1:]
    full = getfullargspec(function)
    if full.args and inspect.ismethod(function):
        positional = (function.__self__, *positional)
    found = {**dict(zip(full.args, positional, strict=False)), **named}
    for name, value in zip(reversed(full.args), reversed(full.defaults or ()), strict=False):
        found.setdefault(name, value)
    for name, value in (full.kwonlydefaults or {}).items():
        found.setdefault(name, value)
    return found
