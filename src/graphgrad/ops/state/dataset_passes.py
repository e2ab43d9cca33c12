"""Iterates over data sets inside of functions.

Elements are identified by their numbers, so that the gradient of a loop, which repeats the iterations, finds the
same ones. What acts, or uses variables, counts as stateful, and gets the variables at each step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import FailedPreconditionError, OutOfRangeError
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.values.tensor_list import TensorList
from graphgrad.ir.values.variable_store import VariablesInRun

_COMPARED = 8


def _end() -> OutOfRangeError:
    return OutOfRangeError(None, None, "End of sequence. Fix: catch tf.errors.OutOfRangeError where an epoch ends, or "
                                       "repeat() the data set")


class Pass:
    """A pass through a data set: its elements, by number.

    Args:
      start: gives an iterator over the elements, lists of arrays, in the same order each time.
      variables: those that its functions use, as they are where it begins.
    """

    shape = ()

    def __init__(self, start: Any, variables: VariablesInRun):
        self._start = start
        self._variables = variables
        self._elements = start()
        self._position = 0  # of the element that comes next
        self._next: Any = None  # that element, if it has been computed
        self._first: list[Any] = []  # elements
        self._taken = 0  # by `take`

    def seeing(self, used: Sequence[Any]) -> contextlib.AbstractContextManager[None]:
        """Lets its functions see variables as an operation sees them.

        Args:
          used: what the operation got for their handles.
        """
        return self._variables.seen_by(used) if used else contextlib.nullcontext()

    def has(self, position: int) -> bool:
        """Returns whether there is an element of a number."""
        return position < self._position or self.get(position) is not None

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
    variables = VariablesInRun()
    with variables.seen_by(captured):
        # Others than its own are handles that it knows.
        return Pass(dataset._passes_alike(captured[: len(dataset._captured)], variables), variables)


@op("DatasetHas", "handle: variant, position: int32 -> more: bool", flags=("host",))
def _dataset_has(xp, handle, position):
    """Returns whether there is an element of that number."""
    return np.bool_(handle.has(int(position)))


@op("DatasetItem", "handle: variant, position: int32 -> components: list(output_types)", flags=("host",))
def _dataset_item(xp, handle, position, *, output_types, output_shapes):
    """Returns the element of that number."""
    return handle.get(int(position))


_USED = "used: list(Tused)"  # the variables that functions of the data set use


@op("DatasetHasActing", f"handle: variant, position: int32, {_USED} -> more: bool", flags=("stateful", "host"))
def _dataset_has_acting(xp, handle, position, used):
    """Returns whether there is an element of that number, which has effects."""
    with handle.seeing(used):
        return np.bool_(handle.has(int(position)))


@op("DatasetItemActing", f"handle: variant, position: int32, {_USED} -> components: list(output_types)",
    flags=("stateful", "host"))
def _dataset_item_acting(xp, handle, position, used, *, output_types, output_shapes):
    """Returns the element of that number, which has effects."""
    with handle.seeing(used):
        return handle.get(int(position))


@op("DatasetTake", f"handle: variant, {_USED} -> components: list(output_types)", flags=("stateful", "host"))
def _dataset_take(xp, handle, used, *, output_types, output_shapes):
    """Returns the next element."""
    with handle.seeing(used):
        return handle.take()


@op("OwnedIteratorHas", f"iterator: variant, {_USED} -> more: bool", flags=("stateful", "host"))
def _owned_iterator_has(xp, iterator, used):
    """Returns whether an iterator has another element."""
    held = _held(iterator)
    with _seeing(held, used):
        return np.bool_(held._elements_left)


def _held(iterator):
    return iterator.item() if isinstance(iterator, np.ndarray) else iterator


def _seeing(held, used):
    return held.seeing(used) if used else contextlib.nullcontext()  # only passes are told


@op("OwnedIteratorGetNext", f"iterator: variant, {_USED} -> components: list(output_types)", flags=("stateful", "host"))
def _owned_iterator_get_next(xp, iterator, used, *, output_types, output_shapes):
    """Returns the next element of an iterator."""
    held = _held(iterator)
    try:
        with _seeing(held, used):
            return held._take()
    except StopIteration:
        raise _end() from None


@op("OwnedIteratorGetNextAsOptional", f"iterator: variant, {_USED} -> optional: variant", flags=("stateful", "host"))
def _owned_iterator_as_optional(xp, iterator, used):
    """Returns the next element as an optional, which holds nothing after the last one."""
    held = _held(iterator)
    with _seeing(held, used):
        return TensorList(np.dtype(object), None, held._take_or([]))


@_owned_iterator_has.shape
@_owned_iterator_as_optional.shape
def _owned_iterator_has_shape(iterator, used):
    return ()


@_owned_iterator_get_next.shape
def _owned_iterator_get_next_shape(iterator, used, output_shapes):
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
def _dataset_take_shape(handle, used, output_shapes):
    return list(output_shapes)


@_dataset_has_acting.shape
def _dataset_has_acting_shape(handle, position, used):
    return ()


@_dataset_item_acting.shape
def _dataset_item_acting_shape(handle, position, used, output_shapes):
    return list(output_shapes)


for _op in (_dataset_pass, _dataset_has, _dataset_item, _dataset_has_acting, _dataset_item_acting, _dataset_take,
            _owned_iterator_has, _owned_iterator_get_next):
    _op.grad(NOT_DIFFERENTIABLE)
