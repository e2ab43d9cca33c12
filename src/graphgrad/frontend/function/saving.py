"""Which functions of an object a SavedModel holds."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

from graphgrad.frontend.tracking.trackable import find_besides

from .concrete_function import ConcreteFunction
from .function import Function, _Method


def function_behind(value: Any) -> Any:
    """Returns the `Function` behind a bound method; other values as they are."""
    return value._function if isinstance(value, _Method) else value


def traces_of(function: Function[..., Any]) -> list[ConcreteFunction]:
    """Returns the traces of a function; one with an input signature is traced if it has none.

    Args:
      function: the function.
    """
    if function.input_signature is not None and not function._concretes:
        function.get_concrete_function()
    return list(function._concretes)


def is_function(value: Any) -> bool:
    """Returns whether a value is a `tf.function` or a trace of one."""
    return isinstance(function_behind(value), (Function, ConcreteFunction))


def attached_functions(value: Any) -> dict[str, Any]:
    """Returns the functions and traces among the attributes of an object, by name; traces those that have a signature.

    Args:
      value: the object.
    """
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in dir(value):
            with contextlib.suppress(Exception):  # a property of the user's may raise anything
                attribute = getattr(value, name)
                if is_function(attribute):
                    found[name] = function_behind(attribute)
    for function in found.values():
        if isinstance(function, Function):
            traces_of(function)
    return found


find_besides(attached_functions)
