"""Which elements come in which order: repeated, selected, shuffled by TensorFlow's random numbers."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir import context
from graphgrad.ir.graph import Tensor
from graphgrad.ir.source import user_source

from .dataset_base import UNKNOWN, DatasetT, RowsByNumber, limited, number, times_
from .elements import Element, _now, integer, positive, rows_by_number
from .passes import Seeds, SeedsOfPasses, Values, arrays_of_numbers, entropy, numbers, seeds_of


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


def shuffled_numbers(found: Iterator[int], size: int, draw: Iterator[np.ndarray[Any, Any]]) -> Iterator[int]:
    """Does the same for numbers, which it reads ahead.

    Args:
      found: the numbers.
      size: the size of the buffer.
      draw: arrays of random numbers.
    """
    buffer = list(itertools.islice(found, min(size, sys.maxsize)))
    start = 0
    rest: Iterator[int] = iter(())
    while len(buffer) == size:  # it is full: each number drawn makes room for the next one
        drawn = next(draw)
        following = list(itertools.islice(found, len(drawn)))
        begins = np.arange(start, start + len(following))
        taken = (begins + drawn[: len(following)] % np.uint32(size)) % size
        for at, first, new in zip(taken.tolist(), (begins % size).tolist(), following):
            number = buffer[at]
            buffer[at] = buffer[first]
            buffer[first] = new
            yield number
        start += len(following)
        if len(following) < len(drawn):
            rest = iter(drawn[len(following) :].tolist())
            break
    yield from _emptied(buffer, start, itertools.chain(rest, (n for some in draw for n in some.tolist())))


def _emptied(buffer: list[int], start: int, draw: Iterator[int]) -> Iterator[int]:
    """Draws what is left in a buffer, whose first element is at `start`."""
    size = len(buffer)
    for first in range(start, start + size):
        at = (first + next(draw) % (start + size - first)) % size
        number = buffer[at]
        buffer[at] = buffer[first % size]
        yield number


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

    def seeds_now(given: Values) -> Seeds:
        if given.get(id(prepare)):
            mine: Seeds = given[id(prepare)].pop(0)
            return mine
        if not again:
            if id(passes) not in given:
                given[id(passes)] = given.draws.draw(lambda: seeds) if seeds is not None else given.draws.draw_any()
            mine = given[id(passes)]
            return mine
        if own is not None:
            return given.draws.draw(own)
        if seeds is not None:
            return given.draws.draw(given.setdefault(id(passes), SeedsOfPasses(seeds)))
        return given.draws.draw_any()

    def buffered(elements: Iterator[Any], given: Values) -> tuple[Iterator[Any], int]:
        wanted = int(_now(size, given))
        if wanted == UNKNOWN:
            everything = list(elements)
            elements, wanted = iter(everything), max(1, len(everything))
        return elements, positive(wanted, "buffer_size")

    def passes(given: Values) -> Iterator[Element]:
        if made._in_rows is not None:
            return rows_by_number(made._in_rows, given)
        mine = seeds_now(given)
        return shuffled(*buffered(self._passes(given), given), numbers(mine))

    def order(given: Values) -> Iterator[int]:
        assert self._in_rows is not None
        mine, found = seeds_now(given), self._in_rows.order(given)
        if isinstance(found, range):
            return shuffled_numbers(*buffered(iter(found), given), arrays_of_numbers(mine))
        return shuffled(*buffered(found, given), numbers(mine))  # which begins no pass before it is read

    made = self._then(passes, captured=[size] if isinstance(size, Tensor) else [], size=self._size)
    made._in_rows = None if self._in_rows is None else RowsByNumber(self._in_rows.arrays, order)
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

    def again(begin: Callable[[Values], Iterable[Any]], given: Values) -> Iterator[Any]:
        n = int(_now(times, given))
        for _ in itertools.count() if n < 0 else range(n):
            empty = True
            for element in begin(given):
                empty = False
                yield element
            if empty:
                return

    def passes(given: Values) -> Iterator[Element]:
        return again(self._passes, given)

    def order(given: Values) -> Iterator[int]:
        assert self._in_rows is not None
        return again(self._in_rows.order, given)

    if isinstance(times, Tensor):
        made = self._then(passes, captured=[times])
    else:
        made = self._then(passes, size=times_(self._size, times))
    made._in_rows = None if self._in_rows is None else RowsByNumber(self._in_rows.arrays, order)
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
