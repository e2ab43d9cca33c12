"""Iterators over data sets in eager mode."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError, OutOfRangeError
from graphgrad.frontend.function.autograph.loop_sources import LoopSource
from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import int64, variant
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.composite import Composite
from graphgrad.system.log import Log
from graphgrad.training.checkpoints.bundle import BundleReader
from graphgrad.training.checkpoints.saveable import Piece, Saveable

from .data_structure import flatten, pack
from .elements import Element

_log = Log("tensorflow")
_POSITION = (Piece("ITERATOR", "_POSITION", ""),)  # of `Walk.place`


def _read_position(bundle: BundleReader, key: str) -> Any:
    key += _POSITION[0].suffix
    if bundle.has(key):
        return bundle.read(key)
    _log.warning("The checkpoint %s holds an iterator in a form that cannot be read; it is not moved.", bundle.prefix)
    return None


class IteratorBase:
    """An iterator over a data set, as `iter(dataset)` returns it.

    Reference: TensorFlow 2.21 `tf.data.Iterator`.
    """

    @property
    def element_spec(self) -> Any:
        """The elements' structure, with a `TypeSpec` for each component."""
        raise NotImplementedError("Iterator.element_spec")

    def get_next(self) -> Any:
        """Returns the next element; raises OutOfRangeError after the last one."""
        raise NotImplementedError("Iterator.get_next()")

    def get_next_as_optional(self) -> Any:
        """Returns the next element as an `Optional`, which holds nothing after the last one."""
        raise NotImplementedError("Iterator.get_next_as_optional()")


class OwnedIterator(IteratorBase, LoopSource, Composite, Saveable):
    """An iterator over a data set in eager mode.

    Args:
      dataset: the data set.
    """

    _pieces = _POSITION
    _is_tensor = False

    def __init__(self, dataset: Any):
        if not hasattr(dataset, "_specs"):
            raise TypeError(f"`dataset` must be a tf.data.Dataset, not {dataset!r}")
        self._specs = dataset._specs
        self._spec = dataset.element_spec
        self._types = [s.dtype for s in flatten(self._specs)]
        self._dataset = dataset
        self._elements = dataset._walk([])
        held = np.empty((), object)
        held[()] = self
        self._handle = EagerTensor(held, variant)

    @property
    def element_spec(self) -> Any:
        """The elements' structure, with a `TypeSpec` for each component."""
        return self._spec

    @property
    def _type_spec(self) -> Any:
        from .dataset_specs import IteratorSpec

        return IteratorSpec.from_value(self)

    def _parts(self) -> list[Any]:
        return [self._handle]

    def __iter__(self) -> OwnedIterator:
        return self

    def __next__(self) -> Any:
        if current_graph() is not None:
            return self._loop_elements().item()
        return pack(self._specs, map(EagerTensor, self._take(), self._types))

    def _loop_elements(self) -> Any:
        from .in_function import ElementsLeft

        return ElementsLeft(self._handle, self._specs)

    def _take(self) -> Element:
        """Returns the arrays of the next element."""
        element: Element = next(self._elements)
        return element

    @property
    def _elements_left(self) -> bool:
        return bool(self._elements.has_more())

    def _take_or(self, default: Element) -> Element:
        """Returns the arrays of the next element, or a default after the last one."""
        try:
            return self._take()
        except StopIteration:
            return default

    def get_next(self) -> Any:
        """Returns the next element; raises OutOfRangeError after the last one."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence. Fix: catch tf.errors.OutOfRangeError where an epoch "
                                  "ends, or repeat() the data set") from None

    def get_next_as_optional(self) -> Any:
        """Returns the next element as an `Optional`, which holds nothing after the last one."""
        from .optional import made

        return made(raw.OwnedIteratorGetNextAsOptional(self._handle, []), self._spec)

    def _state(self, session: Any) -> list[tuple[Any, Any]]:
        return [(int64, self._elements.place())]

    def _read_state(self, bundle: BundleReader, key: str) -> Any:
        return _read_position(bundle, key)

    def _set_state(self, state: Any, session: Any) -> None:
        self._elements.go_to(state)


class NumpyIterator(Saveable):
    """An iterator over the elements of a data set as NumPy arrays.

    Args:
      dataset: the data set.
    Reference: TensorFlow 2.21 `tf.data.NumpyIterator`.

    >>> list(tf.data.NumpyIterator(tf.data.Dataset.range(2)))
    [np.int64(0), np.int64(1)]
    """

    _pieces = _POSITION

    def __init__(self, dataset: Any):
        self._iterator = OwnedIterator(dataset)

    def _state(self, session: Any) -> list[tuple[Any, Any]]:
        return self._iterator._state(session)

    def _read_state(self, bundle: BundleReader, key: str) -> Any:
        return _read_position(bundle, key)

    def _set_state(self, state: Any, session: Any) -> None:
        self._iterator._set_state(state, session)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        iterator = self._iterator
        return pack(iterator._specs, map(_array, next(iterator._elements)))

    def next(self) -> Any:
        """Returns the next element; raises StopIteration after the last one."""
        return next(self)

    def save(self) -> bytes:
        """Returns the place, for `restore`."""
        return json.dumps(self._iterator._elements.place().tolist()).encode()

    def restore(self, state: bytes) -> None:
        """Moves to a saved place.

        Args:
          state: the result of `save`, of an iterator over such a data set.
        Raises: InvalidArgumentError if it is anything else.
        """
        try:
            place = np.array(json.loads(state), np.int64)
        except (TypeError, ValueError, OverflowError, RecursionError) as e:
            raise InvalidArgumentError(None, None, f"the state of an iterator cannot be read ({e}). "
                                       "Fix: give what save() returned") from None
        self._iterator._elements.go_to(place)


def _array(value: Any) -> Any:
    array = np.asarray(value)
    if array.ndim == 0:
        return array[()]
    array = array.view()
    array.flags.writeable = False  # it may be a part of the data set's own
    return array
