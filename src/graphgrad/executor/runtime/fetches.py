"""Fetches of a run: nested structures of tensors, operations, composites and the user's own types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphgrad.executor.backend.xla import to_numpy
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.values.composite import Composite

conversions: list[tuple[type, Any, Any]] = []  # conversions of user types: type, of fetches, of feeds


def register_session_run_conversion_functions(tensor_type: Any, fetch_function: Any, feed_function: Any = None,
                                              feed_function_for_partial_run: Any = None) -> None:
    """Makes sessions fetch and feed objects of another type.

    Args:
      tensor_type: the type.
      fetch_function: object -> (list of what to fetch, function from the list of values to the result).
      feed_function: (object, value) -> list of pairs (tensor, value).
      feed_function_for_partial_run: accepted.
    Raises: ValueError for a type that is registered already.
    Reference: TensorFlow 2.21 tensorflow.python.client.session.
    """
    for known, _, _ in conversions:
        if issubclass(tensor_type, known):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    conversions.insert(0, (tensor_type, fetch_function, feed_function))


def structure_key(fetches: Any) -> Any:
    """Returns a hashable key for a fetch structure, by the identity of its leaves."""
    kind = type(fetches)
    if kind is Tensor or kind is Operation:
        return id(fetches)
    if kind is list or kind is tuple:
        return (kind, *[id(f) if type(f) is Tensor or type(f) is Operation else structure_key(f) for f in fetches])
    if isinstance(fetches, (list, tuple)):
        return (kind, *map(structure_key, fetches))
    if isinstance(fetches, Mapping):
        return (kind, *[(k, structure_key(v)) for k, v in fetches.items()])
    if isinstance(fetches, (str, bytes)):
        return fetches
    return id(fetches)


def kept(fetches: Any) -> Any:
    """Returns a fetch structure that stays as it is when the lists and dictionaries in it are changed."""
    kind = type(fetches)
    if kind is list or kind is tuple:
        return kind(map(kept, fetches))
    return {k: kept(v) for k, v in fetches.items()} if kind is dict else fetches


def places_in(fetches: Any, order: Mapping[int, int]) -> Any:
    """Returns the structure of fetches with places in the place of tensors.

    Args:
      fetches: a tensor, or a list or tuple of tensors and operations.
      order: id of a tensor -> its place.
    Returns: a place; or the class, and a place or None for each part; None for other structures.
    """
    if type(fetches) is Tensor:
        return order[id(fetches)]
    if type(fetches) in (list, tuple) and all(type(f) in (Tensor, Operation) for f in fetches):
        return type(fetches), [order.get(id(f)) for f in fetches]
    return None


class Fetches:
    """Turns a nested structure of fetches into a flat list and a function that rebuilds it."""

    def __init__(self, graph: Graph, elements: list[Any]):
        self.graph = graph
        self.elements = elements

    def structure(self, fetch: Any) -> Callable[[list[Any]], Any]:
        """Appends the leaves of `fetch` to `elements`; returns the function from values to structure."""
        if fetch is None:
            raise TypeError(
                'Argument `fetch` = None has invalid type "NoneType". Cannot be None. '
                "Fix: leave it out. If it is a gradient, print(tf.explain_gradient(y, x)) says why it is None"
            )
        if isinstance(fetch, (list, tuple)):
            parts = [self.structure(f) for f in fetch]
            if isinstance(fetch, tuple) and hasattr(fetch, "_fields"):
                cls: Any = type(fetch)
                return lambda values: cls(*[p(values) for p in parts])
            make = list if isinstance(fetch, list) else tuple
            return lambda values: make([p(values) for p in parts])
        if isinstance(fetch, Mapping):
            items = [(k, self.structure(v)) for k, v in fetch.items()]
            kind: Any = type(fetch)
            return lambda values: kind((k, p(values)) for k, p in items)
        for kind_of, convert, _ in conversions:
            if isinstance(fetch, kind_of):
                inner, contract = convert(fetch)
                parts = [self.structure(f) for f in inner]
                return lambda values: contract([p(values) for p in parts])
        if isinstance(fetch, Composite):
            leaves = [None if p is None else self._leaf(p) for p in fetch._fetched()]
            return lambda values: fetch._value_of([None if p is None else p(values) for p in leaves])
        return self._leaf(fetch)

    def _leaf(self, fetch: Any) -> Callable[[list[Any]], Any]:
        try:
            element = self.graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as e:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch).__name__!r}, must be a string or Tensor. ({e})"
            ) from None
        except ValueError as e:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({e})") from None
        except KeyError as e:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({e.args[0]})") from None
        place = len(self.elements)
        self.elements.append(element)
        return lambda values: values[place]


def fetched_array(value: Any) -> Any:
    """Converts a fetched value for the caller: to a NumPy scalar, or an array that the caller owns."""
    array = np.asarray(to_numpy(value))
    if array.ndim == 0:
        return array[()]
    # The caller may write into the results.
    if array.flags.writeable and array.base is None and array is not value:
        return array
    try:
        return np.array(array)
    except MemoryError:  # the run is over, and variables have changed
        return array


def replaced(t: Tensor) -> Tensor:
    """Returns the tensor that is computed where `t` is fetched."""
    found = t.graph._notes.replaced.get(id(t))
    return t if found is None else found[1]
