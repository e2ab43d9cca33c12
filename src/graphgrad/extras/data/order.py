"""Which elements come in which order: repeated, selected, shuffled by TensorFlow's random numbers."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir import context
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.graph import Tensor
from graphgrad.ops.random.philox import Stream, host_blocks
from graphgrad.ops.random.seeds import get_seed

from .dataset_base import DatasetT, limited, times_
from .elements import Element, Values, _now, _value

_BLOCKS = 64  # at once


def seeds_of(seed: Any) -> tuple[int, int] | None:
    """Returns the two seeds of a data set; None if it has none."""
    first, second = get_seed(None if seed is None else whole(seed))
    if first is None and second is None:
        return None
    pair = int(first or 0), int(second or 0)
    return pair if any(pair) else (0, 2**31 - 1)


def numbers(seeds: tuple[int, int] | None) -> Iterator[int]:
    """Draws random numbers of 32 bits without end, from two seeds, or from the system's entropy."""
    if seeds is None:
        seeds = int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little")
    stream = Stream(seeds[0] % 2**64, 0, seeds[1] % 2**64)
    start = 0
    while True:
        words = host_blocks(stream, np.arange(start, start + _BLOCKS, dtype=np.uint64))
        yield from np.stack(words, 1).ravel().tolist()
        start += _BLOCKS


def shuffled(elements: Iterator[Any], size: int, draw: Iterator[int]) -> Iterator[Any]:
    """Draws each element from a buffer of the next ones.

    Args:
      elements: the elements.
      size: the size of the buffer.
      draw: random numbers.
    """
    buffer: list[Any] = [None] * size
    start = end = 0  # counted without end: the position in the buffer is the remainder
    over = False
    while True:
        while not over and end - start < size:
            try:
                buffer[end % size] = next(elements)
                end += 1
            except StopIteration:
                over = True
        if start == end:
            return
        at = (start + next(draw) % (end - start)) % size
        found, buffer[at] = buffer[at], buffer[start % size]
        buffer[start % size] = None
        start += 1
        yield found


def shuffle(self: DatasetT, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = True,
            name: str | None = None) -> DatasetT:
    """Makes a data set in random order: each element is drawn from a buffer of the next ones.

    Args:
      buffer_size: the size of the buffer.
      seed: an int; the order is TensorFlow's for the same seed.
      reshuffle_each_iteration: whether each repetition has another order.
      name: accepted.
    """
    size = _value(buffer_size)
    if not isinstance(size, Tensor) and int(size) < 1:
        raise InvalidArgumentError(None, None, f"buffer_size must be greater than zero, not {int(size)}. "
                                   "Fix: give 1 or more")
    seeds = seeds_of(seed)
    again = reshuffle_each_iteration in (None, True)
    own = numbers(seeds) if context.executing_eagerly() else None  # continues over passes

    def prepare(given: Values) -> None:
        if own is not None:  # as in TensorFlow, also for passes of which nothing is taken
            given.setdefault(id(prepare), []).append((next(own), next(own)))

    def passes(given: Values) -> Iterator[Element]:
        mine = seeds
        if given.get(id(prepare)):
            mine = given[id(prepare)].pop(0)
        elif again:
            draw = own if own is not None else given.setdefault(id(passes), numbers(seeds))
            mine = next(draw), next(draw)
        return shuffled(self._passes(given), int(_now(size, given)), numbers(mine))

    made = self._then(passes, captured=[size] if isinstance(size, Tensor) else [], size=self._size)
    made._kind = "ShuffleDatasetV3"
    if again:
        made._prepare = prepare
    return made


def repeat(self: DatasetT, count: Any = None, name: str | None = None) -> DatasetT:
    """Makes a data set of several passes; without end if `count` is None or -1."""
    times = None if count is None else _value(count)

    def passes(given: Values) -> Iterator[Element]:
        n = -1 if times is None else int(_now(times, given))
        for _ in itertools.count() if n < 0 else range(n):
            empty = True
            for element in self._passes(given):
                empty = False
                yield element
            if empty:
                return

    if isinstance(times, Tensor):
        return self._then(passes, captured=[times])
    return self._then(passes, size=times_(self._size, -1 if times is None else int(times)))


def take(self: DatasetT, count: Any, name: str | None = None) -> DatasetT:
    """Makes a data set of the first `count` elements; of all for -1."""
    return _slice(self, count, False)


def skip(self: DatasetT, count: Any, name: str | None = None) -> DatasetT:
    """Makes a data set without the first `count` elements; an empty one for -1."""
    return _slice(self, count, True)


def shard(self: DatasetT, num_shards: int, index: int, name: str | None = None) -> DatasetT:
    """Makes a data set of every `num_shards`-th element, from `index` on."""
    def passes(given: Values) -> Iterator[Element]:
        return itertools.islice(self._passes(given), whole(index), None, whole(num_shards))

    size = self._size if self._size < 0 else len(range(whole(index), self._size, whole(num_shards)))
    return self._then(passes, size=size)


def prefetch(self: DatasetT, buffer_size: Any, name: str | None = None) -> DatasetT:
    """Returns the data set itself: elements are computed on demand."""
    return self._then(self._passes, size=self._size)


def _slice(self: DatasetT, count: Any, skipped: bool) -> DatasetT:
    size = _value(count)

    def passes(given: Values) -> Iterator[Element]:
        n, elements = int(_now(size, given)), self._passes(given)
        if skipped:
            return itertools.islice(elements, n, None) if n >= 0 else iter(())
        return itertools.islice(elements, n) if n >= 0 else elements

    if isinstance(size, Tensor):
        return self._then(passes, captured=[size])
    count = int(size)
    if not skipped:
        return self._then(passes, size=self._size if count < 0 else limited(self._size, count))
    left = 0 if count < 0 else self._size if self._size < 0 else max(0, self._size - count)
    return self._then(passes, size=left)
