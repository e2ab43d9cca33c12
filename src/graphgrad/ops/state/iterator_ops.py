"""Iterators over data sets, kept by sessions. Data sets: extras/data/dataset.py."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

from graphgrad.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from graphgrad.ir.graphdef import declare_handle
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.values.tensor_list import TensorList
from graphgrad.ir.values.variable_store import kept

from .written_handles import iterator

_STATEFUL = ("stateful", "host", "unset", "python")


class Running:
    """A pass through a data set.

    Args:
      elements: an iterator over elements, lists of arrays, which has a place.
    """

    def __init__(self, elements: Any):
        self._elements = elements
        self._lock = threading.Lock()

    def next(self) -> Any:
        """Returns the next element, a list of arrays; raises OutOfRangeError after the last one."""
        with self._lock:
            element = next(self._elements, None)
        if element is None:
            raise OutOfRangeError(None, None, "End of sequence. Fix: catch tf.errors.OutOfRangeError where an epoch "
                                  "ends, or repeat() the data set")
        return element

    def place(self) -> Any:
        """Returns where it stands, an int64 vector."""
        with self._lock:
            return self._elements.place()

    def go_to(self, place: Any) -> None:
        """Continues as where `place` was returned."""
        with self._lock:
            self._elements.go_to(place)


class Place:
    """The place of a pass, found by the iterator's string handle; the same after reinitialization.

    Attributes:
      running: the pass, or None.
    """

    def __init__(self, running: Running | None):
        self.running = running


_places: weakref.WeakValueDictionary[bytes, Place] = weakref.WeakValueDictionary()


def _kept(ref: Any) -> Any:
    """Returns the object of a handle: a pass, its place, or None."""
    return None if ref.value is None else kept(ref, (Place, Running), "an iterator")


def _held(running: Any) -> Any:
    result = np.empty((), object)
    result[()] = running
    return result


@op("MakeIterator", "captured: list(Tcaptured), iterator: resource ->", flags=_STATEFUL)
def _make_iterator(xp, captured, ref, *, dataset):
    """Begins a pass through a data set."""
    running = Running(dataset._walk(captured))
    place = _kept(ref)
    if isinstance(place, Place):
        place.running = running
    else:
        ref.value = _held(running)


def _running(ref, one_shot):
    """Returns the pass of an iterator, begun if necessary; raises FailedPreconditionError if it cannot be."""
    cell = getattr(ref, "cell", ref)
    with cell.lock:
        if ref.value is None and cell.held is not None:  # another thread's run has begun the pass meanwhile
            ref.value = cell.held
        held = _kept(ref)
        running = held.running if isinstance(held, Place) else held
        if running is not None:
            ref.value = ref.value
            return running
        if one_shot is None:
            raise _not_initialized()
        running = Running(one_shot())
        if isinstance(held, Place):
            held.running = running
        else:
            ref.value = cell.held = _held(running)  # at once, so that others see it
        return running


def _not_initialized():
    return FailedPreconditionError(
        None, None, "GetNext() failed because the iterator has not been initialized. Ensure that you have run "
        "the initializer operation for this iterator before getting the next element. "
        "Fix: session.run(iterator.initializer)")


@op("IteratorGetNext", "iterator: resource -> components: list(output_types)", flags=_STATEFUL)
def _iterator_get_next(xp, ref, *, output_types, output_shapes, one_shot=None):
    """Returns the next element."""
    return _running(ref, one_shot).next()


@_iterator_get_next.shape
def _iterator_get_next_shape(iterator, output_shapes):
    return list(output_shapes)


_iterator_get_next.grad(NOT_DIFFERENTIABLE)
declare_handle(_iterator_get_next.name, iterator)


@op("IteratorGetNextAsOptional", "iterator: resource -> optional: variant", flags=_STATEFUL)
def _as_optional(xp, ref, *, one_shot=None):
    """Returns the next element as an optional, which holds nothing after the last one."""
    try:
        components = _running(ref, one_shot).next()
    except OutOfRangeError:
        components = []
    return TensorList(np.dtype(object), None, components)


@_as_optional.shape
def _as_optional_shape(iterator):
    return ()


_as_optional.grad(NOT_DIFFERENTIABLE)


@op("IteratorPlace", "iterator: resource -> place: int64", flags=_STATEFUL)
def _iterator_place(xp, ref, *, one_shot=None):
    """Returns where an iterator stands, for checkpoints."""
    return _running(ref, one_shot).place()


@_iterator_place.shape
def _iterator_place_shape(iterator):
    return (None,)


_iterator_place.grad(NOT_DIFFERENTIABLE)


@op("IteratorGoTo", "iterator: resource, place: int64 ->", flags=_STATEFUL)
def _iterator_go_to(xp, ref, place, *, one_shot=None):
    """Continues an iterator as where a place was returned."""
    _running(ref, one_shot).go_to(place)


@op("IteratorToStringHandle", "resource_handle: resource -> string_handle: string", flags=_STATEFUL)
def _to_string(xp, ref, *, one_shot=None):
    """Returns a string by which the iterator is found."""
    place = _kept(ref)
    if not isinstance(place, Place):
        place = Place(place)
        ref.value = _held(place)
    if place.running is None and one_shot is not None:
        place.running = Running(one_shot())
    key = b"iterator-%d" % id(place)
    _places[key] = place
    return np.asarray(key, object)


@_to_string.shape
def _to_string_shape(resource_handle):
    return ()


_to_string.grad(NOT_DIFFERENTIABLE)


@op("IteratorGetNextFromString", "string_handle: string -> components: list(output_types)",
    flags=("stateful", "host", "python"))
def _next_from_string(xp, handle, *, output_types, output_shapes):
    """Returns the next element of the iterator that a string names."""
    place = _places.get(handle.item())
    if place is None:
        raise InvalidArgumentError(None, None, f"no iterator has the handle {handle.item()!r}. Fix: feed what "
                                      "session.run(iterator.string_handle()) gave, in its session")
    if place.running is None:
        raise _not_initialized()
    return place.running.next()


@_next_from_string.shape
def _next_from_string_shape(string_handle, output_shapes):
    return list(output_shapes)


_next_from_string.grad(NOT_DIFFERENTIABLE)


@op("DatasetResult", "captured: list(Tcaptured) -> components: list(output_types)", flags=_STATEFUL,
    limits={"compute": callable})
def _dataset_result(xp, captured, *, compute, output_types, output_shapes):
    """Applies a function to a whole data set."""
    return compute(captured)


@_dataset_result.shape
def _dataset_result_shape(captured, output_shapes):
    return list(output_shapes)


_dataset_result.grad(NOT_DIFFERENTIABLE)


@op("DatasetVariant", "captured: list(Tcaptured) -> handle: variant", flags=("host", "python"),
    limits={"of_values": callable})
def _dataset_variant(xp, captured, *, of_values):
    """Returns a data set as a value."""
    return of_values(captured)


@_dataset_variant.shape
def _dataset_variant_shape(captured):
    return ()


_dataset_variant.grad(NOT_DIFFERENTIABLE)
