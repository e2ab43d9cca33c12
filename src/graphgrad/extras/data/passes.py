"""Passes through data sets: the values and random numbers that they begin with, and places that can be saved."""

from __future__ import annotations

import collections
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.blocking import located
from graphgrad.ir.values.variable_store import VariablesInRun
from graphgrad.ops.random.philox import Stream, host_blocks
from graphgrad.ops.random.seeds import get_seed

_BLOCKS, _MOST_BLOCKS = 64, 2048  # at once

Seeds = tuple[int, int]


def seeds_of(seed: Any) -> Seeds | None:
    """Returns the two seeds of a data set; None if it has none."""
    if isinstance(seed, (float, complex, str)):
        raise TypeError(f"Cannot convert {seed!r} to a seed, an integer of 64 bits. Fix: give an int")
    first, second = get_seed(None if seed is None else whole(seed))
    if first is None and second is None:
        return None
    pair = int(first or 0), int(second or 0)
    return pair if any(pair) else (0, 2**31 - 1)


def entropy() -> Seeds:
    """Returns two seeds from the system, of 63 bits."""
    return int.from_bytes(os.urandom(8), "little") >> 1, int.from_bytes(os.urandom(8), "little") >> 1


def numbers(seeds: Seeds) -> Iterator[int]:
    """Draws random numbers of 32 bits without end."""
    for some in arrays_of_numbers(seeds):
        yield from some.tolist()


def arrays_of_numbers(seeds: Seeds) -> Iterator[np.ndarray[Any, Any]]:
    """Draws the same, uint32, many at a time: ever more, up to some thousands."""
    stream = Stream(seeds[0] % 2**64, 0, seeds[1] % 2**64)
    start, count = 0, _BLOCKS
    while True:
        words = host_blocks(stream, np.arange(start, start + count, dtype=np.uint64))
        yield np.stack(words, 1).ravel()
        start, count = start + count, min(2 * count, _MOST_BLOCKS)


class SeedsOfPasses:
    """The seeds of one pass after the other; call it for the next ones.

    Args:
      seeds: what they follow from; the system's entropy for None.

    Attributes:
      taken: how many there were.
    """

    def __init__(self, seeds: Seeds | None):
        self._seeds = seeds or entropy()
        self.go_to(0)

    def __call__(self) -> Seeds:
        self.taken += 1
        return next(self._numbers), next(self._numbers)

    def go_to(self, taken: int) -> None:
        """Continues as after so many."""
        self.taken = taken
        self._numbers = itertools.islice(numbers(self._seeds), 2 * taken, None)


class Draws:
    """The seeds that transformations draw while an iterator goes on, in order, so that they can be drawn again.

    Args:
      root: what seeds follow from where the program gives none; the system's entropy for None.
      again: those that come first.
      variables: those that functions see as they are in the middle of a run.

    Attributes:
      root: the same.
      made: all seeds so far.
      variables: the same.
    """

    def __init__(self, root: Seeds | None = None, again: Sequence[Seeds] = (),
                 variables: VariablesInRun | None = None):
        self.root = root or entropy()
        self.variables = VariablesInRun() if variables is None else variables
        self.made: list[Seeds] = []
        self._again = collections.deque(again)
        self._any = SeedsOfPasses(self.root)

    def draw(self, source: Callable[[], Seeds]) -> Seeds:
        """Returns the next seeds, of a source unless they are given."""
        found = source()  # also if they are not used: the source goes on
        self.made.append(self._again.popleft() if self._again else found)
        return self.made[-1]

    def draw_any(self) -> Seeds:
        """Returns the next seeds of a transformation without a seed."""
        return self.draw(self._any)


class Values(dict[int, Any]):
    """The values of captured tensors by their ids, for a pass.

    Args:
      values: these.
      draws: the random numbers of the pass.

    Attributes:
      files: how many workers share the files that are read, and which one this is; None for all files.
    """

    def __init__(self, values: Mapping[Any, Any], draws: Draws):
        super().__init__(values)
        self.draws = draws
        self.files: tuple[int, int] | None = None

    def part_of(self, names: Iterator[Any]) -> Iterator[Any]:
        """Yields this worker's part of the names of files; InvalidArgumentError if there are fewer than workers."""
        if self.files is None:
            yield from names
            return
        count, index = self.files
        seen = 0
        for seen, name in enumerate(names, 1):
            if (seen - 1) % count == index:
                yield name
        if seen < count:
            raise located(InvalidArgumentError, f"Could not apply FILE based sharding: the dataset only has {seen} "
                          f"file(s), which is not enough for the required {count} shards/workers",
                          "AutoShardPolicy.DATA, which shares the elements")


class Walk:
    """An iterator over the elements of a data set whose place can be saved.

    Args:
      dataset: the data set.
      captured: the values that it needs.

    Attributes:
      count: the number of elements returned.
    """

    def __init__(self, dataset: Any, captured: Sequence[Any]):
        self._dataset, self._captured = dataset, captured
        self._begin(Draws())

    def _begin(self, draws: Draws) -> None:
        self._draws = draws
        self._elements: Iterator[Any] = self._dataset._start(self._captured, self._draws)
        self._ahead: list[Any] = []
        self.count = 0

    def __iter__(self) -> Walk:
        return self

    def __next__(self) -> Any:
        element = self._ahead.pop() if self._ahead else next(self._elements)
        self.count += 1
        return element

    def has_more(self) -> bool:
        """Returns whether there is another element."""
        if not self._ahead:
            self._ahead = list(itertools.islice(self._elements, 1))
        return bool(self._ahead)

    def place(self) -> Any:
        """Returns the place, an int64 vector: the number of elements returned, and what random orders follow from."""
        sources = self._sources()
        drawn = [n for seeds in self._draws.made for n in seeds]
        return np.array([self.count, *self._draws.root, len(sources), *(s.taken for s in sources), *drawn], np.int64)

    def go_to(self, place: Any) -> None:
        """Begins again, and goes to a place that `place` returned for such a data set.

        Args:
          place: the vector; or the number of elements alone, as older checkpoints have it.
        Raises: InvalidArgumentError if it is no place of such a data set.
        """
        found, sources = np.ravel(place).tolist(), self._sources()
        if len(found) == 1:
            found += [*entropy(), 0]
            sources = []
        taken, drawn = found[4 : 4 + len(sources)], found[4 + len(sources) :]
        if min(found, default=-1) < 0 or len(found) < 4 or len(drawn) % 2 or found[3] != len(sources):
            raise InvalidArgumentError(None, None, "the saved place of an iterator does not fit its data set. "
                                       "Fix: restore it where the data set is made as when it was saved")
        count, root = found[0], (found[1], found[2])
        self._begin(Draws(root, list(zip(drawn[::2], drawn[1::2]))))
        collections.deque(itertools.islice(self._elements, count), maxlen=0)
        self.count = count
        for source, n in zip(sources, taken):
            source.go_to(n)

    def _sources(self) -> list[SeedsOfPasses]:
        """Returns what random orders of later passes are drawn from, of all transformations."""
        found, waiting = [], [self._dataset]
        while waiting:
            dataset = waiting.pop(0)
            waiting += [*dataset._inputs, *dataset._later]
            if dataset._source is not None:
                found.append(dataset._source)
        return found
