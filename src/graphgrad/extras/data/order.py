"""Which elements come in which order: repeated, selected, shuffled by TensorFlow's random numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir import context
from graphgrad.ir.graph import Tensor
from graphgrad.ir.source import user_source

from .dataset_base import UNKNOWN, DatasetT, limited, number, times_
from .elements import Element, _now, integer, positive
from .passes import SeedsOfPasses, Values, entropy, numbers, seeds_of


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
      buffer_size: the size of the buffer; `tf.data.UNKNOWN_CARDINALITY` for all elements.
      seed: an int; the order is TensorFlow's for the same seed.
      reshuffle_each_iteration: whether each repetition has another order.
      name: accepted.
    """
    size = integer(buffer_size, "buffer_size")
    if size != UNKNOWN:
        positive(size, "buffer_size")
    seeds = seeds_of(seed)
    again = reshuffle_each_iteration in (None, True)
    eager = context.executing_eagerly()
    if eager and not again:
        seeds = seeds or entropy()  # all passes have one order
    return reordered(self, size, seeds, again, eager)


def reordered(self: DatasetT, size: Any, seeds: Any, again: bool, eager: bool) -> DatasetT:
    """Makes the data set of `shuffle`.

    Args:
      size: the size of the buffer.
      seeds: the two seeds; None for the system's entropy.
      again: whether each repetition has another order.
      eager: whether these go on over passes.
    """
    own = SeedsOfPasses(seeds) if again and eager else None  # continues over passes

    def prepare(given: Values) -> None:
        if own is not None:  # as in TensorFlow, also for passes of which nothing is taken
            given.setdefault(id(prepare), []).append(given.draws.draw(own))

    def passes(given: Values) -> Iterator[Element]:
        if given.get(id(prepare)):
            mine = given[id(prepare)].pop(0)
        elif not again:
            if id(passes) not in given:
                given[id(passes)] = given.draws.draw(lambda: seeds) if seeds is not None else given.draws.draw_any()
            mine = given[id(passes)]
        elif own is not None:
            mine = given.draws.draw(own)
        elif seeds is not None:
            mine = given.draws.draw(given.setdefault(id(passes), SeedsOfPasses(seeds)))
        else:
            mine = given.draws.draw_any()
        elements, wanted = self._passes(given), int(_now(size, given))
        if wanted == UNKNOWN:
            everything = list(elements)
            elements, wanted = iter(everything), max(1, len(everything))
        return shuffled(elements, positive(wanted, "buffer_size"), numbers(mine))

    made = self._then(passes, captured=[size] if isinstance(size, Tensor) else [], size=self._size)
    made._kind = "ShuffleDatasetV3"
    first, second = seeds or (0, 0)
    made._as("ShuffleDatasetV3", self, number(size), np.int64(first), np.int64(second), "DummySeedGenerator",
             attrs={"reshuffle_each_iteration": again})
    made._source = own
    if again:
        made._prepare = prepare
    return made


def repeat(self: DatasetT, count: Any = None, name: str | None = None) -> DatasetT:
    """Makes a data set of several passes; without end if `count` is None or -1."""
    times = -1 if count is None else integer(count, "count")

    def passes(given: Values) -> Iterator[Element]:
        n = int(_now(times, given))
        for _ in itertools.count() if n < 0 else range(n):
            empty = True
            for element in self._passes(given):
                empty = False
                yield element
            if empty:
                return

    if isinstance(times, Tensor):
        made = self._then(passes, captured=[times])
    else:
        made = self._then(passes, size=times_(self._size, times))
    return made._as("RepeatDataset", self, number(times))


def take(self: DatasetT, count: Any, name: str | None = None) -> DatasetT:
    """Makes a data set of the first `count` elements; of all for -1."""
    return _slice(self, count, False)


def skip(self: DatasetT, count: Any, name: str | None = None) -> DatasetT:
    """Makes a data set without the first `count` elements; an empty one for -1."""
    return _slice(self, count, True)


def shard(self: DatasetT, num_shards: int, index: int, name: str | None = None) -> DatasetT:
    """Makes a data set of every `num_shards`-th element, from `index` on.

    Args:
      num_shards: the number of shards.
      index: the number of this one, from 0 on.
      name: accepted.
    Raises: InvalidArgumentError for an index that is not in [0, num_shards), or no shards.
    """
    count, first = integer(num_shards, "num_shards"), integer(index, "index")
    if not isinstance(count, Tensor) and not isinstance(first, Tensor):
        _check_shard(count, first)
        size = self._size if self._size < 0 else len(range(first, self._size, count))
    else:
        size = UNKNOWN

    def passes(given: Values) -> Iterator[Element]:
        n, i = int(_now(count, given)), int(_now(first, given))
        _check_shard(n, i)
        return itertools.islice(self._passes(given), i, None, n)

    made = self._then(passes, captured=[t for t in (count, first) if isinstance(t, Tensor)], size=size)
    return made._as("ShardDataset", self, number(count), number(first))


def _check_shard(count: int, index: int) -> None:
    if count < 1:
        problem = f"Number of shards must be greater than zero (currently num_shards = {count})."
    elif not 0 <= index < count:
        problem = f"Index must be between 0 and {count - 1} (currently index = {index})."
    else:
        return
    raise InvalidArgumentError(None, None, f"{problem}\n  Asked for at {user_source(3)}\n"
                               "  Fix: give the number of shards, and one of 0 to that number - 1")


def prefetch(self: DatasetT, buffer_size: Any, name: str | None = None) -> DatasetT:
    """Returns the data set itself: elements are computed on demand.

    Args:
      buffer_size: accepted: a number of elements, None, or `tf.data.AUTOTUNE`.
      name: accepted.
    Raises: InvalidArgumentError for other negative numbers.
    """
    size = -1 if buffer_size is None else integer(buffer_size, "buffer_size")
    if not isinstance(size, Tensor) and size < -1:
        raise InvalidArgumentError(None, None, f"buffer_size must be >= 0, or -1 for tf.data.AUTOTUNE, not {size}.\n"
                                   f"  Asked for at {user_source(2)}\n  Fix: give tf.data.AUTOTUNE")
    made = self._then(self._passes, size=self._size)
    return made._as("", self) if isinstance(size, Tensor) else made._as("PrefetchDataset", self, number(size))


def _slice(self: DatasetT, count: Any, skipped: bool) -> DatasetT:
    size = integer(count, "count")

    def passes(given: Values) -> Iterator[Element]:
        n, elements = int(_now(size, given)), self._passes(given)
        if skipped:
            return itertools.islice(elements, n, None) if n >= 0 else iter(())
        return itertools.islice(elements, n) if n >= 0 else elements

    if isinstance(size, Tensor):
        made = self._then(passes, captured=[size])
    elif not skipped:
        made = self._then(passes, size=self._size if size < 0 else limited(self._size, size))
    else:
        left = 0 if size < 0 else self._size if self._size < 0 else max(0, self._size - size)
        made = self._then(passes, size=left)
    return made._as("SkipDataset" if skipped else "TakeDataset", self, number(size))
