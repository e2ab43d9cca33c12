"""What Keras tells TensorFlow of itself; `tensorflow.python.util.keras_deps`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_registered: dict[str, Callable[..., Any]] = {}


def register_call_context_function(func: Callable[..., Any]) -> None:
    """Notes a function that says which layer is being called.

    Args:
      func: the function.
    """
    _registered["call_context"] = func


def register_clear_session_function(func: Callable[..., Any]) -> None:
    """Notes a function that forgets all layers.

    Args:
      func: the function.
    """
    _registered["clear_session"] = func


def register_get_session_function(func: Callable[..., Any]) -> None:
    """Notes a function that returns the library's session.

    Args:
      func: the function.
    """
    _registered["get_session"] = func


def register_load_model_function(func: Callable[..., Any]) -> None:
    """Notes a function that loads a model.

    Args:
      func: the function.
    """
    _registered["load_model"] = func


def get_get_session_function() -> Callable[..., Any] | None:
    """Returns the function that returns the library's session; None if there is none."""
    return _registered.get("get_session")


def get_clear_session_function() -> Callable[..., Any] | None:
    """Returns the function that forgets all layers; None if there is none."""
    return _registered.get("clear_session")


def get_call_context_function() -> Callable[..., Any] | None:
    """Returns the function that says which layer is being called; None if there is none."""
    return _registered.get("call_context")


def get_load_model_function() -> Callable[..., Any] | None:
    """Returns the function that loads a model; None if there is none."""
    return _registered.get("load_model")
