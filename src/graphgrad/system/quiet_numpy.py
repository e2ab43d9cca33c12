"""Calls functions in which NumPy flushes subnormal numbers and does not warn, at little cost."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import subnormals

# What a call takes for itself, and puts back: a context in which NumPy does not warn, quicker to enter than
# `np.errstate`, and memory for the processor's modes.
_rooms: list[tuple[Any, ...]] = []


def quietly(function: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Calls a function that calls no code of users', which would see other context variables than they do.

    Args:
      function: the function.
      values: its arguments.
    Returns: its result.
    """
    try:
        room = _rooms.pop()
    except IndexError:
        room = _new_room()
    run, get, put, words, address, word, bits = room
    if get is None:
        return run(function, *values)
    get(address)
    before = words[word]
    try:
        words[word] = before | bits
        put(address)
        return run(function, *values)
    finally:
        words[word] = before
        put(address)
        _rooms.append(room)


def _new_room() -> tuple[Any, ...]:
    context = contextvars.Context()
    context.run(np.seterr, all="ignore")
    return (context.run, *subnormals.modes())
