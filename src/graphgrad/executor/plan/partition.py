"""Partitions a level into clusters.

XLA compiles a short program quickly and fuses it well. In a long one, fusion duplicates work and compile time grows
faster than the program; and repeated parts are compiled each time. So a program of more than `WHOLE` instructions
with repeated parts is cut before each heavy operation, into a heavy one followed by light ones, or a bounded run of
light ones. Then neighbours are joined again, the most frequent pair first (as in byte-pair encoding): recurring layers
and time steps stay equal, so that each is compiled once, and there are fewer calls. What comes before the first time
step is not joined to it, which would have to be compiled once more; nor what comes after the last, unless it is
heavy: XLA runs what is independent in a program side by side, as the sums of all time steps' gradients beside the last.
"""

from __future__ import annotations

import heapq
import itertools
import os
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

from graphgrad.executor.backend import library_calls
from graphgrad.executor.backend.batch_split import is_large
from graphgrad.executor.program.fingerprint import symbol
from graphgrad.executor.program.interpreter import Instruction
from graphgrad.op_traits import Cost

WHOLE = int(os.environ.get("GRAPHGRAD_WHOLE_OPS", 160))  # instructions: up to this many are one cluster
LIGHT = min(40, WHOLE)  # the most light instructions in a row
LARGEST = min(96, WHOLE)  # the most instructions of a joined cluster
# Instructions: up to this many are one cluster if little recurs in them ...
UNLIKE = 0 if "GRAPHGRAD_WHOLE_OPS" in os.environ else 1200
ALIKE = 0.6  # ... that is, if distinct clusters make up this fraction of the program
RECURRING = 24  # instructions: a cluster of as many recurs; it is joined to some neighbours only where it always is
HEAVY_IN_ONE = 6  # the most heavy operations in a joined cluster
# Instructions that a series counts as. XLA computes it anew for each of its users, so that programs with many take
# minutes to compile, and repeat work: 30 log-gammas and their gradients compiled in 26 s and took 11 ms a step in one
# cluster; in several, 1.8 s and 2.8 ms. With eight series the two ways are equally fast.
SERIES = 20


def cut(program: Sequence[Instruction], final: bool = False, together: bool = True) -> list[list[Instruction]]:
    """Cuts a program into clusters.

    Args:
      program: instructions in the order of execution.
      final: whether nothing comes after it in the run. Then updates of variables go into the last piece, which may
        write them in place.
      together: whether a short program, or one in which little recurs, stays in one piece.
    Returns: the pieces, in order.
    """
    parts = sections(program)
    if len(parts) > 1:
        last = len(parts) - 1
        return [piece for n, part in enumerate(parts) for piece in cut(part, final and n == last, together)]
    if any(map(stands_alone, program)):
        return _around_large(program, final, together)
    if together and _length(program) <= WHOLE:
        return [list(program)]
    updates = _updates(program) if final else []
    if len(updates) > LARGEST:
        updates = []
    late = set(map(id, updates))
    pieces, different = _join(_segments([i for i in program if id(i) not in late]))
    if together and _is_diverse(program, different):
        return [list(program)]
    return [*pieces, updates] if updates else pieces


def _length(program: Sequence[Instruction]) -> int:
    return len(program) + (SERIES - 1) * sum(i.op.opdef.cost is Cost.SERIES for i in program)


def _is_diverse(program: Sequence[Instruction], different: int) -> bool:
    """Returns whether so little recurs in a program, and so few series are in it, that it stays in one piece.

    Args:
      program: the program.
      different: the length of its distinct clusters.
    """
    length = _length(program)
    return length <= UNLIKE and different >= ALIKE * length and length - len(program) <= WHOLE


def sections(program: Sequence[Instruction]) -> list[list[Instruction]]:
    """Cuts before recomputed operations, which XLA would merge with the originals."""
    result: list[list[Instruction]] = []
    mark = start = 0
    for n, instruction in enumerate(program):
        if instruction.mark and instruction.mark != mark:
            mark = instruction.mark
            if n > start:
                result.append(list(program[start:n]))
                start = n
    return [*result, list(program[start:])]


def stands_alone(instruction: Instruction) -> bool:
    """Returns whether an instruction is a cluster of its own: a library computes it, or it is split over cores."""
    return library_calls.takes(instruction) or is_large(instruction)


def _around_large(program: Sequence[Instruction], final: bool, together: bool) -> list[list[Instruction]]:
    """Cuts the pieces before, between and after what stands alone."""
    pieces: list[list[Instruction]] = []
    between: list[Instruction] = []
    for instruction in program:
        if not stands_alone(instruction):
            between.append(instruction)
            continue
        if between:
            pieces += cut(between, together=together)
        pieces.append([instruction])
        between = []
    return [*pieces, *cut(between, final, together)] if between else pieces


def _updates(program: Sequence[Instruction]) -> list[Instruction]:
    """Returns the instructions that give variables new values which no other instruction reads."""
    updates = [i for i in program if i.refs and any(t.out != t.slot for t in i.refs.values())]
    if not updates:
        return []
    late = set(map(id, updates))
    read = {s for i in program if id(i) not in late for s in i.reads()}
    result: list[Instruction] = []
    for i in reversed(updates):
        if any(s in read for s in i.gives()):
            read.update(i.reads())  # an earlier update that it depends on comes before it, too
        else:
            result.append(i)
    return result[::-1]


def is_heavy(instruction: Instruction) -> bool:
    """Returns whether an instruction starts a cluster: one that makes passes of its own, or holds sub-graphs."""
    return instruction.op.opdef.cost is not Cost.LIGHT or bool(instruction.bodies)


def _segments(program: Sequence[Instruction]) -> list[list[Instruction]]:
    """Cuts before each heavy operation, and where there are too many light ones."""
    pieces: list[list[Instruction]] = []
    present: list[Instruction] = []
    for instruction in program:
        if present and (is_heavy(instruction) or len(present) >= LIGHT):
            pieces.append(present)
            present = []
        present.append(instruction)
    pieces.append(present)
    return pieces


def _join(pieces: list[list[Instruction]]) -> tuple[list[list[Instruction]], int]:
    """Joins neighbours, the most frequent pair first, as long as the results stay small.

    Returns: the new pieces, and how many instructions the distinct ones have.
    """
    names: dict[Any, int] = {}
    kinds = [names.setdefault(tuple([symbol(i) for i in piece]), len(names)) for piece in pieces]
    size = {kind: _length(piece) for kind, piece in zip(kinds, pieces, strict=True)}
    heavy = {kind: sum(map(is_heavy, piece)) for kind, piece in zip(kinds, pieces, strict=True)}
    pairs = _Pairs(kinds, size, heavy)
    while (best := pairs.best()) is not None:
        new = len(size)
        size[new], heavy[new] = size[best[0]] + size[best[1]], heavy[best[0]] + heavy[best[1]]
        pairs.join(best, new)
    starts = [at for at, kind in enumerate(kinds) if kind is not None]
    joined = [list(itertools.chain.from_iterable(pieces[a:b])) for a, b in itertools.pairwise([*starts, len(pieces)])]
    return joined, sum(size[kind] for kind in {kinds[at] for at in starts})


class _Pairs:
    """The pairs of neighbours in a sequence, and how often each occurs.

    Args:
      kinds: the sequence; where a member has been joined to the one before it, it becomes None.
      size, heavy: kind -> its length, and its heavy instructions; extended by the caller.
    """

    def __init__(self, kinds: list[Any], size: Mapping[int, int], heavy: Mapping[int, int]):
        self._kinds, self._size, self._heavy = kinds, size, heavy
        self._after = [*range(1, len(kinds)), -1]  # the place of the next member, and that of the previous one
        self._before = [*range(-1, len(kinds) - 1)]
        self._occurs = Counter(kinds)  # kind -> how often
        self._count: dict[tuple[int, int], int] = {}
        self._having: dict[int, list[tuple[int, int]]] = {}  # kind -> the pairs it has been in
        self._places: dict[tuple[int, int], deque[int]] = {}  # ascending; those that are gone are left out later
        self._ranked: list[tuple[int, int, int, tuple[int, int]]] = []  # a heap; outdated entries are skipped
        for at in range(len(kinds) - 1):
            self._add(at)
        for pair in self._count:
            self._rank(pair)

    def _add(self, at: int) -> tuple[int, int]:
        """Notes the pair that begins at a place."""
        pair = self._kinds[at], self._kinds[self._after[at]]
        if pair not in self._count:
            self._count[pair], self._places[pair] = 0, deque()
            for kind in pair:
                self._having.setdefault(kind, []).append(pair)
        self._count[pair] += 1
        self._places[pair].append(at)
        return pair

    def _first(self, pair: tuple[int, int]) -> int:
        """Returns the first place of a pair that occurs."""
        places = self._places[pair]
        while not self._is_at(pair, places[0]):
            places.popleft()
        return places[0]

    def _is_at(self, pair: tuple[int, int], at: int) -> bool:
        return self._kinds[at] == pair[0] and (next_ := self._after[at]) >= 0 and self._kinds[next_] == pair[1]

    def _rank(self, pair: tuple[int, int]) -> None:
        """Puts a pair into the heap, if it occurs and may be joined."""
        size = self._size[pair[0]] + self._size[pair[1]]
        if not self._count[pair] or size > LARGEST or self._heavy[pair[0]] + self._heavy[pair[1]] > HEAVY_IN_ONE:
            return
        first, second = pair
        if self._recurs_without(second, pair) or (not self._heavy[second] and self._recurs_without(first, pair)):
            return
        heapq.heappush(self._ranked, (-self._count[pair], size, self._first(pair), pair))

    def _recurs_without(self, kind: int, pair: tuple[int, int]) -> bool:
        """Returns whether a kind of some length would remain, too, if one of its pairs were joined."""
        return self._size[kind] >= RECURRING and self._occurs[kind] > self._count[pair] * pair.count(kind)

    def best(self) -> tuple[int, int] | None:
        """Returns the most frequent pair that may be joined, among equally frequent ones the shortest, then the first;
        None for none."""
        while self._ranked:
            count, _, first, pair = self._ranked[0]
            if self._count[pair] == -count and count and self._first(pair) == first:
                return pair
            heapq.heappop(self._ranked)
            if self._count[pair] == -count:  # one at its first place is gone, others have come
                self._rank(pair)
        return None

    def join(self, pair: tuple[int, int], new: int) -> None:
        """Joins a pair wherever it occurs, from left to right.

        Args:
          pair: the pair.
          new: its kind.
        """
        kinds, before, after = self._kinds, self._before, self._after
        changed: set[tuple[int, int]] = {pair}
        for at in self._places.pop(pair):
            if not self._is_at(pair, at):
                continue
            gone = after[at]
            self._occurs.subtract(pair)
            self._occurs[new] += 1
            for place in (before[at], at, gone):  # the pairs that end
                if place >= 0 and after[place] >= 0:
                    old = kinds[place], kinds[after[place]]
                    self._count[old] -= 1
                    changed.add(old)
            kinds[at], kinds[gone] = new, None
            after[at] = after[gone]
            if after[at] >= 0:
                before[after[at]] = at
            for place in (before[at], at):
                if place >= 0 and after[place] >= 0:
                    changed.add(self._add(place))
        self._places[pair] = deque()
        for kind in pair:
            if self._size[kind] >= RECURRING:  # fewer of them remain, perhaps in one pair only
                changed.update(self._having[kind])
        for pair in changed:
            self._rank(pair)
