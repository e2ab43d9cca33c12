"""Calls of functions whose arguments were seen before: the trace is found by the arguments as they are given.

Binding arguments to parameters, flattening them and describing each leaf takes several times as long as a small
function. Calls with tensors, arrays and literals in lists, tuples and dictionaries are therefore kept by a flat key;
everything else goes the long way each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphgrad.frontend.structure import nest
from graphgrad.ir import eager
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.eager import EagerTensor

if TYPE_CHECKING:
    from .concrete_function import ConcreteFunction

NOTHING = object()  # what is returned by a call that has to go the long way
_MOST = 1000  # calls with differing keys that a function keeps
_LITERALS = frozenset({bool, int, str, bytes, type(None)})  # also numbers other than NaN, which equals nothing
_NUMBERS = frozenset({float, complex})


def key_of(args: tuple[Any, ...], kwargs: dict[str, Any], given: list[Any]) -> tuple[Any, ...] | None:
    """Returns a key that decides which trace a call needs; None if that takes a longer look.

    Args:
      args, kwargs: the arguments.
      given: gets the tensors and arrays among them, in the order of the key.
    """
    parts: list[Any] = []
    if not _add(args, parts, given):
        return None
    if kwargs:
        parts.append(None)
        if not _add_dict(kwargs, parts, given):
            return None
    return tuple(parts)


def _add(values: Iterable[Any], parts: list[Any], given: list[Any]) -> bool:
    """Adds the keys of values; returns whether there are any."""
    for v in values:
        kind = type(v)
        if kind is EagerTensor:
            array = v._value
            if type(array) is not np.ndarray:  # the handle of a resource, perhaps
                return False
            given.append(v)
            parts += (v.dtype, array.shape)
        elif kind in _LITERALS or (kind in _NUMBERS and v == v):
            parts += (kind, v)
        elif kind is np.ndarray:
            if not v.flags.c_contiguous or v.dtype.kind not in "fiubc" or not v.dtype.isnative:
                return False
            given.append(v)
            parts += (np.ndarray, v.dtype, v.shape)
        elif kind is tuple or kind is list:
            parts += (kind, len(v))
            if not _add(v, parts, given):
                return False
        elif kind is not dict or not _add_dict(v, parts, given):
            return False
    return True


def _add_dict(values: dict[Any, Any], parts: list[Any], given: list[Any]) -> bool:
    parts += (dict, tuple(values))
    return _add(values.values(), parts, given)


class Shortcut:
    """How calls with a key are done.

    Args:
      concrete: the trace.
      order: for each argument of the trace its position among what is given.
      arrays: whether there are arrays among that.
    """

    __slots__ = ("_arrays", "_concrete", "_order")

    def __init__(self, concrete: ConcreteFunction, order: Sequence[int], arrays: bool):
        self._concrete = concrete
        self._order = None if list(order) == list(range(len(order))) else tuple(order)
        self._arrays = arrays

    def __call__(self, given: list[Any]) -> Any:
        """Calls the trace in eager mode.

        Args:
          given: tensors and arrays, as for `key_of`.
        """
        if self._order is not None:
            given = [given[i] for i in self._order]
        if not eager.listening.recorders:
            values = [v if type(v) is np.ndarray else v._value for v in given] if self._arrays else \
                [t._value for t in given]
            found = self._concrete._call_arrays(values)
            if found is not NOTHING:
                return found
        return self._concrete._call_flat(list(map(convert_to_tensor, given)) if self._arrays else given)


class Shortcuts:
    """The shortcuts of a function, or of a trace.

    Attributes:
      find: from a key to the shortcut, or None.
    """

    __slots__ = ("find", "_found")

    def __init__(self) -> None:
        self._found: dict[Any, Shortcut] = {}
        self.find = self._found.get

    def add(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], given: Sequence[Any],
            bind: Callable[[Any, Any], Any], concrete: ConcreteFunction, tensors: Sequence[Any]) -> None:
        """Keeps how a call was done, if its trace takes what was given, in some order and as it is.

        Args:
          key, given: the result of `key_of`, and what that has collected.
          args, kwargs: the arguments.
          bind: from arguments to the structure whose leaves the trace takes, nothing converted.
          concrete: the trace.
          tensors: what it takes in this call.
        """
        marks = iter(range(len(given)))
        bound = bind(_marked(args, marks), _marked(kwargs, marks))
        order = [leaf.position for leaf in nest.flatten(bound) if type(leaf) is _Mark]
        if len(order) != len(tensors) or not all(map(_is_same, [given[i] for i in order], tensors)):
            return  # defaults may be tensors, and a list may become one
        if len(self._found) >= _MOST:
            self._found.clear()
        self._found[key] = Shortcut(concrete, order, any(type(v) is np.ndarray for v in given))


def _is_same(given: Any, tensor: Any) -> bool:
    if type(given) is np.ndarray:
        return bool(given.shape == tensor._value.shape and given.dtype == tensor._value.dtype)
    return given is tensor


class _Mark:
    """Stands for a tensor."""

    def __init__(self, position: int):
        self.position = position


def _marked(value: Any, marks: Any) -> Any:
    """Returns a structure with marks for tensors and arrays, numbered in the order of `key_of`."""
    if isinstance(value, (EagerTensor, np.ndarray)):
        return _Mark(next(marks))
    if isinstance(value, dict):
        return {k: _marked(v, marks) for k, v in value.items()}
    return type(value)([_marked(v, marks) for v in value]) if isinstance(value, (tuple, list)) else value
