"""Several processes that compute together: who they are, and sums of arrays over all of them.

The processes are started by `graphgrad launch`, which tells them where its coordinator listens: the coordination
service of JAX. The sums are programs of XLA over all processes, which exchange bytes over TCP (gloo). Each process must
ask for the same sums in the same order; before a sum is taken for the first time, the processes compare what they ask
for. When some workers of a cluster have ended their training, the others go on without them, in a new group, with the
sum that they are in.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.system.log import Log

from .attendance import HasEnded
from .coordinator_service import host
from .exchanges.packed_arrays import Rows, pack, unpack
from .membership import Member, found_by_the_engine, meetings, member
from .process_calls import ProcessCalls, exchange
from .process_client import ELEMENTS

_log = Log("tensorflow")
R = TypeVar("R")
_SUM, _ROWS = "a sum over all processes", "the rows of all processes"


class ProcessGroup(ProcessCalls):
    """This process among the others, and sums over all of them.

    Args:
      who: which one it is.
    Raises: UnavailableError if the coordinator or another process does not answer in time.

    Attributes:
      summed_bytes: the bytes of the arrays that were summed so far.
      origin: the first of the groups that have gone on after processes have ended.
    """

    def __init__(self, who: Member):
        super().__init__(who)
        self.summed_bytes = 0
        self._rooms: dict[str, list[int]] = {}  # what is gathered -> for how many rows there was room the last time
        self._packed: dict[str, Any] = {}  # vectors that have been summed, by what they are
        self.origin: ProcessGroup = self

    @exchange
    def all_reduce(self, arrays: Sequence[Any], label: str = "") -> list[Any]:
        """Returns the sums of arrays over all processes; all of one dtype travel together.

        Args:
          arrays: numbers; shapes and dtypes are the same in all processes.
          label: a name for errors.
        Raises: InvalidArgumentError if processes ask for different things; UnavailableError if one is gone;
          AbortedError after such an error.
        """
        if self.who.size == 1:
            return list(arrays)
        self._compare("sum", arrays, label)
        result: list[Any] = list(arrays)
        kinds: dict[np.dtype[Any], list[int]] = {}
        for i, array in enumerate(arrays):
            kinds.setdefault(array.dtype, []).append(i)
        for dtype, places in kinds.items():
            wide = np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype
            given = [arrays[i] for i in places]
            key = f"{label} {dtype}"
            flat = pack(given, wide, self._packed.pop(key, None))  # not there while others may read it
            total = self._sum(flat).astype(dtype, copy=False)
            self._packed[key] = flat
            self.summed_bytes += sum(a.nbytes for a in given)
            for i, one in zip(places, unpack(total, given, wide), strict=True):
                result[i] = one
        return result

    @exchange
    def stack(self, arrays: Sequence[Any], count: int, label: str = "") -> list[Any]:
        """Returns each array of all processes, along a new first axis.

        Args:
          arrays: shapes and dtypes are the same in all processes.
          count: the size of that axis; zeros are where no process is.
          label: a name for errors.
        Raises: as `all_reduce`.
        """
        parts = [np.ascontiguousarray(a).tobytes() for a in arrays]
        size = -(-sum(map(len, parts)) // 4)
        words = np.zeros((count, size), np.uint32)  # whole numbers: their sums with zeros are exact
        words[self.who.rank].view(np.uint8)[: sum(map(len, parts))] = np.frombuffer(b"".join(parts), np.uint8)
        if self.who.size > 1:
            self._compare("stack", arrays, label)
            words = self._sum(words.reshape(-1)).reshape(count, size)
        self.summed_bytes += words.nbytes
        rows, result, begin = words.view(np.uint8), [], 0
        for a in arrays:
            part = np.ascontiguousarray(rows[:, begin : begin + a.nbytes])
            result.append(part.view(a.dtype).reshape(count, *a.shape))
            begin += a.nbytes
        return result

    @exchange
    def broadcast(self, arrays: Sequence[Any], root: int, label: str = "") -> list[Any]:
        """Returns one process's arrays in all of them.

        Args:
          arrays: shapes and dtypes are the same in all processes.
          root: the process whose values count.
          label: a name for errors.
        Raises: as `all_reduce`.
        """
        if self.who.size == 1:
            return list(arrays)
        self._compare(f"broadcast of {root}", arrays, label)
        mine = self.who.rank == root
        whole = b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
        words = np.zeros(-(-len(whole) // 4), np.uint32)  # whole numbers: their sum with zeros is exact
        if mine:
            words.view(np.uint8)[: len(whole)] = np.frombuffer(whole, np.uint8)
        data = self._sum(words).tobytes()
        result, begin = [], 0
        for a in arrays:
            result.append(np.frombuffer(data, a.dtype, a.size, begin).reshape(a.shape).copy())
            begin += a.nbytes
        return result

    @exchange
    def all_gather(self, arrays: Sequence[Any], label: str = "") -> list[Any]:
        """Returns the arrays of all processes, one behind the other along the first axis; they travel together.

        Args:
          arrays: at least one dimension; all but the first are the same in all processes.
          label: a name for errors.
        Raises: as `all_reduce`.
        """
        if self.who.size == 1:
            return list(arrays)
        rows = Rows(arrays)
        self.agree(f"gather {label} {rows.kind}", "kind of sum")
        # With room for as many rows as the last time, one exchange does; where one has more, all see its counts.
        room = self._rooms.get(key := f"{label} {rows.kind}", [0] * len(arrays))
        while True:
            words = rows.words(room)
            theirs = self._gather(words).reshape(self.who.size, -1)
            self.summed_bytes += words.nbytes
            room, before = rows.room(theirs, room), room
            if room == before or not rows.is_short(theirs, before):
                self._rooms[key] = room
                return rows.joined(theirs, before)

    def _gather(self, words: Any) -> Any:
        return self.with_others(lambda: self._gathered(words), _ROWS, f"{_ROWS} of {words.size} words")

    def _sum(self, flat: Any) -> Any:
        if not flat.size:
            return flat
        return self.with_others(lambda: self._summed(flat), _SUM, f"{_SUM} of {flat.size} {flat.dtype.name}")

    def _compare(self, kind: str, arrays: Sequence[Any], label: str) -> None:
        """Compares with process 0 what is asked for, the first time that it is."""
        for a in arrays:
            if a.dtype.name not in ELEMENTS and a.dtype.itemsize != 2 and kind == "sum":
                raise InvalidArgumentError(None, None, f"arrays of {a.dtype} cannot be summed over processes"
                                           f"{f', in {label}' if label else ''}. Fix: cast them, e.g. to float32")
        self.agree(f"{kind} {label} " + ", ".join(f"{a.dtype.name}{list(a.shape)}" for a in arrays), "kind of sum")


_group: list[ProcessGroup] = []
_making = threading.Lock()


def group() -> ProcessGroup:
    """Returns this process among the others; the first call waits for them.

    Raises: ValueError if the environment makes no sense; UnavailableError if others do not come.
    """
    with _making:
        if not _group:
            while _over:
                _over.pop().leave()
            cluster = meetings()
            who = member() if cluster is None else cluster.meet(_reason[0])
            if cluster is None and who.size == 1 and (found := found_by_the_engine()) is not None:
                who = host(found)
            _group.append(ProcessGroup(who))
            _reason[:] = ["begin"]
        return _group[0]


_over: list[ProcessGroup] = []  # those whose exchanges this process has ended, and has not left
_reason = ["begin"]  # why processes meet next


def together(call: Callable[[ProcessGroup], R]) -> R:
    """Calls a function with the group; again, with those that are left, if others of a cluster have ended.

    Args:
      call: makes one exchange.
    Raises: UnavailableError if another process is gone.
    """
    while True:
        found = group()
        try:
            return call(found)
        except HasEnded as e:
            _go_on(found, e)


def _go_on(before: ProcessGroup, ended: HasEnded) -> None:
    """Replaces the group by one of those that are left."""
    cluster = meetings()
    if cluster is None:
        raise ended
    before.dissolve(ended)
    with _making:
        _group.clear()
        _reason[:] = ["again"]  # if this does not succeed
        made = ProcessGroup(cluster.meet("on"))
        made.origin, made.watch = before.origin, before.watch
        _reason[:] = ["begin"]
        _group.append(made)
    _log.warning("%s. %d of %d go on.", ended, made.who.size, before.who.size)


def note(when: str) -> None:
    """Takes note of when this process has ended its training, for the others' errors."""
    with _making:
        if _group:
            _group[0].when = when


def end() -> None:
    """Tells the others of a cluster that this process has ended its training; they go on without it."""
    with _making:
        if not _group or (cluster := meetings()) is None or _group[0].is_broken:
            return
        over = _group.pop()
        cluster.part()  # before the others are told, which then meet
        over.end()
        _over.append(over)


def is_lost() -> bool:
    """Returns whether the processes have lost each other, and cannot find each other again."""
    return bool(_group) and _group[0].is_broken and meetings() is None


def anew() -> None:
    """Gives up a group in which a sum has failed: the next call of `group` waits for the processes again."""
    with _making:
        lost = _group.pop() if _group and _group[0].is_broken and meetings() else None
        if lost is not None:
            _reason[:] = ["again"]
    if lost is not None:
        lost.leave()


def join(who: Member) -> ProcessGroup:
    """Returns this process among others that no `graphgrad launch` started; process 0 runs the coordinator.

    Args:
      who: which process this one is.
    Raises: RuntimeError if this process belongs to others already, or if the coordinator's port is taken.
    """
    with _making:
        if _group and _group[0].who != who:
            raise RuntimeError(f"this process is number {_group[0].who.rank} of {_group[0].who.size} already, and "
                               f"cannot be number {who.rank} of {who.size}. Fix: make one strategy for a process")
        if not _group:
            _group.append(ProcessGroup(host(who)))
        return _group[0]


def joined() -> ProcessGroup | None:
    """Returns the group, if this process belongs to one."""
    return _group[0] if _group else None


def has_joined() -> bool:
    """Returns whether `group` was called."""
    return bool(_group)


def forget() -> None:
    """Takes leave of the others."""
    with _making:
        while _group:
            _group.pop().leave()
