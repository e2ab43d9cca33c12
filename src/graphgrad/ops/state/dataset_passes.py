"""Iterates over data sets inside of functions.

Elements are identified by their numbers, so that the gradient of a loop, which repeats the iterations, finds the
same ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import FailedPreconditionError, OutOfRangeError
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.values.tensor_list import TensorList

_COMPARED = 8


def _end() -> OutOfRangeError:
    return OutOfRangeError(None, None, "End of sequence. Fix: catch tf.errors.OutOfRangeError where an epoch ends, or "
                                       "repeat() the data set")


class Pass:
    """A pass through a data set: its elements, by number.

    Args:
      start: gives an iterator over the elements, lists of arrays, in the same order each time.
    """

    shape = ()

    def __init__(self, start: Any):
        self._start = start
        self._elements = start()
        self._position = 0  # of the element that comes next
        self._next: Any = None  # that element, if it has been computed
        self._first: list[Any] = []  # elements
        self._taken = 0  # by `take`

    def get(self, position: int) -> Any:
        """Returns the element of a number, or None if there is none."""
        if position < self._position:
            self._begin_again()
        while True:
            if self._next is None:
                self._next = next(self._elements, None)
                if self._next is None:
                    return None
                if self._position < _COMPARED:
                    self._compare(self._next)
            if self._position == position:
                return self._next
            self._next, self._position = None, self._position + 1

    def take(self) -> Any:
        """Returns the next element; raises OutOfRangeError after the last one."""
        try:
            return self._take()
        except StopIteration:
            raise _end() from None

    def _take(self) -> Any:
        element = self.get(self._taken)
        if element is None:
            raise StopIteration
        self._taken += 1
        return element

    def _take_or(self, default: Any) -> Any:
        return default if self.get(self._taken) is None else self._take()

    @property
    def _elements_left(self) -> bool:
        return self.get(self._taken) is not None

    def _begin_again(self) -> None:
        self._elements, self._position, self._next = self._start(), 0, None

    def _compare(self, element: Any) -> None:
        """Checks that a second pass gives the same elements, as far as the first ones tell."""
        if len(self._first) <= self._position:
            self._first.append(element)
        elif not all(np.array_equal(a, b) for a, b in zip(self._first[self._position], element, strict=True)):
            raise FailedPreconditionError(
                None, None, "the gradient of a loop over a data set goes through it a second time, and it gives other "
                "elements then. Fix: take the gradient inside the loop, or shuffle with a seed and "
                "reshuffle_each_iteration=False")


@op("DatasetPass", "captured: list(Tcaptured) -> handle: variant", flags=("stateful", "host"))
def _dataset_pass(xp, captured, *, dataset):
    """Begins a pass through a data set."""
    return Pass(dataset._passes_alike(captured[: len(dataset._captured)]))  # others are handles that it knows


@op("DatasetHas", "handle: variant, position: int32 -> more: bool", flags=("host",))
def _dataset_has(xp, handle, position):
    """Returns whether there is an element of that number."""
    return np.bool_(handle.get(int(position)) is not None)


@op("DatasetItem", "handle: variant, position: int32 -> components: list(output_types)", flags=("host",))
def _dataset_item(xp, handle, position, *, output_types, output_shapes):
    """Returns the element of that number."""
    return handle.get(int(position))


@op("DatasetTake", "handle: variant -> components: list(output_types)", flags=("stateful", "host"))
def _dataset_take(xp, handle, *, output_types, output_shapes):
    """Returns the next element."""
    return handle.take()


@op("OwnedIteratorHas", "iterator: variant -> more: bool", flags=("stateful", "host"))
def _owned_iterator_has(xp, iterator):
    """Returns whether an iterator has another element."""
    return np.bool_(_held(iterator)._elements_left)


def _held(iterator):
    return iterator.item() if isinstance(iterator, np.ndarray) else iterator


@op("OwnedIteratorGetNext", "iterator: variant -> components: list(output_types)", flags=("stateful", "host"))
def _owned_iterator_get_next(xp, iterator, *, output_types, output_shapes):
    """Returns the next element of an iterator."""
    try:
        return _held(iterator)._take()
    except StopIteration:
        raise _end() from None


@op("OwnedIteratorGetNextAsOptional", "iterator: variant -> optional: variant", flags=("stateful", "host"))
def _owned_iterator_as_optional(xp, iterator):
    """Returns the next element as an optional, which holds nothing after the last one."""
    return TensorList(np.dtype(object), None, _held(iterator)._take_or([]))


@_owned_iterator_has.shape
@_owned_iterator_as_optional.shape
def _owned_iterator_has_shape(iterator):
    return ()


@_owned_iterator_get_next.shape
def _owned_iterator_get_next_shape(iterator, output_shapes):
    return list(output_shapes)


@_dataset_pass.shape
def _dataset_pass_shape(captured):
    return ()


@_dataset_has.shape
def _dataset_has_shape(handle, position):
    return ()


@_dataset_item.shape
def _dataset_item_shape(handle, position, output_shapes):
    return list(output_shapes)


@_dataset_take.shape
def _dataset_take_shape(handle, output_shapes):
    return list(output_shapes)


for _op in (_dataset_pass, _dataset_has, _dataset_item, _dataset_take, _owned_iterator_has,
            _owned_iterator_get_next):
    _op.grad(NOT_DIFFERENTIABLE)
