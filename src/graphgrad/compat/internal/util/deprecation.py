"""Marks of old names and arguments, `tensorflow.python.util.deprecation`: none warns."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

_T = TypeVar("_T")


def _same(function: _T) -> _T:
    return function


def deprecated(date: Any, instructions: Any, warn_once: bool = True) -> Callable[[_T], _T]:
    """Returns a decorator that returns the function.

    Args:
      date, instructions, warn_once: accepted.
    """
    return _same


def deprecated_args(date: Any, instructions: Any, *deprecated_arg_names_or_tuples: Any,
                    **kwargs: Any) -> Callable[[_T], _T]:
    """Returns a decorator that returns the function.

    Args:
      date, instructions, *deprecated_arg_names_or_tuples, **kwargs: accepted.
    """
    return _same


def deprecated_arg_values(date: Any, instructions: Any, warn_once: bool = True,
                          **deprecated_kwargs: Any) -> Callable[[_T], _T]:
    """Returns a decorator that returns the function.

    Args:
      date, instructions, warn_once, **deprecated_kwargs: accepted.
    """
    return _same


def deprecated_endpoints(*args: str) -> Callable[[_T], _T]:
    """Returns a decorator that returns the function.

    Args:
      *args: accepted.
    """
    return _same


def deprecated_alias(deprecated_name: str, name: str, func_or_class: _T, warn_once: bool = True) -> _T:
    """Returns the function or class.

    Args:
      deprecated_name, name, warn_once: accepted.
      func_or_class: the function or class.
    """
    return func_or_class


def hide_attribute_from_api(value: Any) -> Any:
    """Returns the value."""
    return value


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """Returns the value of an argument that has two names.

    Args:
      new_name, new_value: the new name and its value, or None.
      old_name, old_value: the old ones.
    Raises: ValueError if both are given.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """Returns a docstring with another name for an argument.

    Args:
      old_doc: the docstring.
      old_argument, new_argument: the names.
    """
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(f"{old_argument}:", f"{new_argument}:")


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Opens a block without warnings of old names; there are none anyway."""
    yield
