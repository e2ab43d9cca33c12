"""What differentiates Python functions, for rooms beneath the one that can; `frontend.core_hooks` says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_derivative: Callable[..., Any]


def made_with(derivative: Callable[..., Any]) -> None:
    """Declares what differentiates Python functions (`frontend.autodiff.functional.derivative`)."""
    global _derivative
    _derivative = derivative


def is_function(value: Any) -> bool:
    """Returns whether a value is a function to be differentiated, and not a tensor or what converts to one."""
    return callable(value) and not hasattr(value, "dtype") and not hasattr(value, "handle")


def derivative_of(what: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Differentiates a Python function.

    Args:
      what: the name of the public function that was called.
      function: the function to differentiate.
      arguments: where, and along which vectors; without any, the result is a function of these.
      options: those of the public function.
    """
    return _derivative(what, function, *arguments, **options)
