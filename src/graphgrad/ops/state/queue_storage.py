"""Storage of queues: their elements, and the callers that wait for elements or capacity.

Each change of a queue completes all requests that it can, so that no thread wakes up only to wait again.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from graphgrad.ir.blocking import Attempt, located
from graphgrad.ir.dtypes import DType
from graphgrad.ir.shape import Shape, compatible, is_fully_defined
from graphgrad.ops.random import philox

Element = tuple[np.ndarray[Any, Any], ...]


class _Enqueue(Attempt):
    """Elements that wait for capacity."""

    __slots__ = ("elements",)
    elements: deque[Element]


class _Close(Attempt):
    """A request to close the queue, completed after those before it in line."""

    __slots__ = ()


class _Dequeue(Attempt):
    """A request for elements.

    Attributes:
      wanted: the number of elements.
      up_to: whether fewer suffice when the queue is closed.
      many: whether they become one array for each component.
      found: the elements collected so far.
    """

    __slots__ = ("wanted", "up_to", "many", "found")
    wanted: int
    up_to: bool
    many: bool
    found: list[Element]


class Queue:
    """A queue of tuples of arrays, first in, first out.

    Args:
      name: for messages.
      capacity: the largest number of elements; None or -1 for no limit.
      types: the dtype of each component.
      shapes: the shape of each component, or nothing if they differ.
    """

    family = "queue"
    kind = "FIFOQueue"

    def __init__(self, name: str, capacity: int | None, types: Sequence[DType], shapes: Sequence[Shape]):
        self.name = name
        self.capacity = None if capacity is None or capacity < 0 else capacity
        self.types, self.shapes = tuple(types), tuple(shapes)
        self.closed = False
        self._lock = threading.RLock()
        self._elements: Any = deque()
        self._enqueuers: deque[_Enqueue | _Close] = deque()
        self._dequeuers: deque[_Dequeue] = deque()
        self._cancelled = False

    def size(self) -> int:
        """Returns the number of elements."""
        return len(self._elements)

    # -- called by operations --------------------------------------------------------

    def enqueue(self, components: Sequence[Any], many: bool) -> Attempt:
        """Begins to add an element, or with `many` one for each row of the components."""
        elements = self._rows(components) if many else [tuple(np.array(c) for c in components)]
        self._check(elements, components, many)
        attempt = _Enqueue(self._lock, self._withdraw)
        attempt.elements = deque(elements)
        with self._lock:
            self._enqueuers.append(attempt)
            self._serve()
        return attempt

    def dequeue(self, wanted: int, many: bool, up_to: bool) -> Attempt:
        """Begins to remove elements."""
        if many:
            self._check_many()
        attempt = _Dequeue(self._lock, self._withdraw)
        attempt.wanted, attempt.many, attempt.up_to, attempt.found = wanted, many, up_to, []
        with self._lock:
            self._dequeuers.append(attempt)
            self._serve()
        return attempt

    def close(self, cancel: bool) -> Attempt:
        """Begins to close the queue; with `cancel`, requests that wait for capacity are cancelled."""
        attempt = _Close(self._lock, self._withdraw)
        with self._lock:
            if cancel:
                self.closed = True
                waiting, self._enqueuers = list(self._enqueuers), deque()
                for other in waiting:
                    other.finish(_cancelled("Enqueue"))
                attempt.finish()
            else:
                self._enqueuers.append(attempt)
            self._serve()
        return attempt

    def cancel(self) -> None:
        """Cancels all requests, now and later: the session is closed."""
        with self._lock:
            self._cancelled = True
            self._serve()

    # -- the lines ------------------------------------------------------------------

    def _withdraw(self, attempt: Any) -> None:
        line: Any = self._dequeuers if isinstance(attempt, _Dequeue) else self._enqueuers
        line.remove(attempt)
        if isinstance(attempt, _Dequeue):
            self._put_back(attempt.found)
        self._serve()

    def _serve(self) -> None:
        """Completes requests in both lines as far as possible."""
        if self._cancelled:
            for what, line in (("Enqueue", self._enqueuers), ("Dequeue", self._dequeuers)):
                while line:
                    line.popleft().finish(_cancelled(what))
            return
        while self._serve_enqueuers() or self._serve_dequeuers():
            pass

    def _serve_enqueuers(self) -> bool:
        moved = False
        while self._enqueuers:
            first = self._enqueuers[0]
            if isinstance(first, _Close):
                error = self._closed(f"Queue '{self.name}' is already closed") if self.closed else None
                self.closed = True
                moved = True
            elif self.closed:
                error = self._closed(f"{self.kind} '{self.name}' is closed")
            else:
                error = None
                while first.elements and (self.capacity is None or len(self._elements) < self.capacity):
                    self._add(first.elements.popleft())
                    moved = True
                if first.elements:
                    break
            self._enqueuers.popleft()
            first.finish(error)
        return moved

    def _serve_dequeuers(self) -> bool:
        moved = False
        while self._dequeuers:
            first = self._dequeuers[0]
            left, error = first.wanted - len(first.found), None
            if self.closed and left > self.size() and not (first.up_to and (first.found or self.size())):
                error = located(OutOfRangeError, f"{self.kind} '{self.name}' is closed and has insufficient elements "
                                f"(requested {left}, current size {self.size()})", "catch tf.errors.OutOfRangeError "
                                "where the data end; if there should be data, look for the error of what fills the "
                                "queue")
            while error is None and len(first.found) < first.wanted and self._available():
                first.found.append(self._take())
                moved = True
            if error is None and len(first.found) < first.wanted and not self.closed:
                break
            self._dequeuers.popleft()
            if error is not None:
                self._put_back(first.found)
            else:
                first.value = self._joined(first)
            first.finish(error)
        return moved

    @staticmethod
    def _closed(text: str) -> Any:
        return located(CancelledError, text, "enqueue before the queue is closed, and close it once")

    # -- elements -------------------------------------------------------------------

    def _available(self) -> bool:
        return bool(self._elements)

    def _add(self, element: Element) -> None:
        self._elements.append(element)

    def _take(self) -> Element:
        element: Element = self._elements.popleft()
        return element

    def _put_back(self, elements: Sequence[Element]) -> None:
        self._elements.extendleft(reversed(elements))

    def _joined(self, attempt: _Dequeue) -> list[Any]:
        if not attempt.many:
            return list(attempt.found[0])
        if not attempt.found:
            return [np.zeros((0, *(s or ())), t.np_dtype) for t, s in zip(self.types, self.shapes, strict=True)]
        return [self._stacked(rows) for rows in zip(*attempt.found, strict=True)]

    def _stacked(self, rows: Sequence[Any]) -> Any:
        return np.stack(rows)

    # -- checks ---------------------------------------------------------------------

    def _rows(self, components: Sequence[Any]) -> list[Element]:
        arrays = [np.array(c) for c in components]
        sizes = [a.shape[0] if a.ndim else None for a in arrays]
        if len(set(sizes)) != 1 or sizes[0] is None:
            raise located(InvalidArgumentError, "All input tensors must have the same size in the 0th dimension. "
                          f"They have {sizes}", "enqueue arrays with one row for each element")
        rows = [[a[i : i + 1].reshape(a.shape[1:]) for i in range(sizes[0])] for a in arrays]
        return list(zip(*rows, strict=True))

    def _check(self, elements: Sequence[Element], components: Sequence[Any], many: bool) -> None:
        for element in elements[:1]:
            for i, (part, shape) in enumerate(zip(element, self.shapes or (None,) * len(element), strict=True)):
                if not compatible(part.shape, shape):
                    rows, got = ([len(elements)] if many else []), np.shape(components[i])
                    expected = None if shape is None else (*rows, *shape)
                    raise located(InvalidArgumentError, f"Shape mismatch in tuple component {i}. Expected "
                                  f"{_brackets(expected)}, got {_brackets(got)}", "reshape the value, or make the "
                                  "queue with other shapes")

    def _check_many(self) -> None:
        if not self.shapes or not all(map(is_fully_defined, self.shapes)):
            raise located(InvalidArgumentError, f"{self.kind}'s DequeueMany and DequeueUpTo require the components to "
                          "have specified shapes", "make the queue with shapes=, or use a PaddingFIFOQueue")

    def settings(self) -> dict[str, Any]:
        """Returns the properties in which all queues of a shared name must agree."""
        return {"capacity": self.capacity, "component types": [t.name for t in self.types],
                "component shapes": [_brackets(s) for s in self.shapes]}


class PaddingQueue(Queue):
    """A queue of arrays of different shapes, which are padded with zeros when many are taken at once."""

    kind = "PaddingFIFOQueue"

    def _check_many(self) -> None:
        pass

    def _stacked(self, rows: Sequence[Any]) -> Any:
        shape = np.max([r.shape for r in rows], axis=0).astype(int) if rows[0].ndim else ()
        result = np.full((len(rows), *shape), b"" if rows[0].dtype == object else 0, rows[0].dtype)
        for target, row in zip(result, rows, strict=True):
            if row.ndim:
                target[tuple(map(slice, row.shape))] = row
        if not rows[0].ndim:
            result[:] = [r[()] for r in rows]
        return result


class ShufflingQueue(Queue):
    """A queue that gives its elements in random order.

    Args:
      keep: the number of elements that remain to choose among until the queue is closed.
      seed, seed2: the seeds of the choices.
    """

    kind = "RandomShuffleQueue"

    def __init__(self, name: str, capacity: int | None, types: Sequence[DType], shapes: Sequence[Shape], keep: int,
                 seed: int, seed2: int):
        super().__init__(name, capacity, types, shapes)
        self.keep = keep
        self._elements: list[Element] = []
        if not seed and not seed2:
            seed, seed2 = int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little")
        self._numbers = _words(philox.Stream(seed % 2**64, 0, seed2 % 2**64))

    def _available(self) -> bool:
        return len(self._elements) > (0 if self.closed else self.keep)

    def _take(self) -> Element:
        elements = self._elements
        index = next(self._numbers) % len(elements)
        elements[index], elements[-1] = elements[-1], elements[index]
        return elements.pop()

    def _put_back(self, elements: Sequence[Element]) -> None:
        self._elements.extend(elements)

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "min_after_dequeue": self.keep}


def _words(stream: Any) -> Any:
    """Yields the 32-bit words of a stream, one after the other."""
    for start in itertools.count(0, 16):
        blocks = philox.host_blocks(stream, np.arange(start, start + 16, dtype=np.uint64))
        yield from np.stack(blocks, 1).ravel().tolist()


class SortingQueue(Queue):
    """A queue that gives the element with the lowest priority, its first component, first."""

    kind = "PriorityQueue"

    def __init__(self, name: str, capacity: int | None, types: Sequence[DType], shapes: Sequence[Shape]):
        super().__init__(name, capacity, types, shapes)
        self._elements: list[tuple[int, int, Element]] = []
        self._order = itertools.count()

    def _add(self, element: Element) -> None:
        heapq.heappush(self._elements, (int(element[0]), next(self._order), element))

    def _take(self) -> Element:
        return heapq.heappop(self._elements)[2]

    def _put_back(self, elements: Sequence[Element]) -> None:
        for element in elements:
            self._add(element)


def _cancelled(what: str) -> Any:
    return located(CancelledError, f"{what} operation was cancelled", "it was waiting when its queue was closed with "
                   "cancel_pending_enqueues=True, or its session; catch tf.errors.CancelledError where that is meant")


def _brackets(shape: Shape) -> str:
    return "<unknown>" if shape is None else "[" + ",".join("?" if n is None else str(n) for n in shape) + "]"
