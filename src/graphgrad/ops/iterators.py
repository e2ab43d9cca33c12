"""Iterators over data sets, kept by sessions as variables are. What a data set is, frontend/dataset.py says."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..errors import FailedPreconditionError, OutOfRangeError
from ..ir.opdef import NOT_DIFFERENTIABLE, op

_STATEFUL = ("stateful", "host", "unset")


class Running:
    """A pass through a data set.

    Args:
      elements: an iterator over elements, lists of arrays.
    """

    def __init__(self, elements: Any):
        self._elements = elements
        self._lock = threading.Lock()

    def next(self) -> Any:
        """The next element, a list of arrays; OutOfRangeError after the last one."""
        with self._lock:
            element = next(self._elements, None)
        if element is None:
            raise OutOfRangeError(None, None, "End of sequence. Fix: catch tf.errors.OutOfRangeError where an epoch "
                                  "ends, or repeat() the data set")  # fmt: skip
        return element


def _held(running: Running) -> Any:
    result = np.empty((), object)
    result[()] = running
    return result


@op("MakeIterator", "captured: list(Tcaptured), iterator: resource ->", flags=_STATEFUL)
def _make_iterator(xp, captured, ref, *, dataset):
    """Begins a pass through a data set."""
    ref.value = _held(Running(dataset._start(captured)))


@op("IteratorGetNext", "iterator: resource -> components: list(output_types)", flags=_STATEFUL)
def _iterator_get_next(xp, ref, *, output_types, output_shapes, one_shot=None):
    """The next element."""
    held = ref.value
    if held is None:
        if one_shot is None:
            raise FailedPreconditionError(
                None, None, "GetNext() failed because the iterator has not been initialized. Ensure that you have run "
                "the initializer operation for this iterator before getting the next element. "
                "Fix: session.run(iterator.initializer)")  # fmt: skip
        held = _held(Running(one_shot()))
    ref.value = held
    return held.item().next()


@_iterator_get_next.shape
def _iterator_get_next_shape(iterator, output_shapes):
    return list(output_shapes)


_iterator_get_next.grad(NOT_DIFFERENTIABLE)
