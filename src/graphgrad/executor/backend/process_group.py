"""Several processes that compute together: who they are, and sums of arrays over all of them.

The processes are started by `graphgrad launch`, which tells them where its coordinator listens: the coordination
service of JAX. The sums are programs of XLA over all processes, which exchange bytes over TCP (gloo). Each process must
ask for the same sums in the same order; before a sum is taken for the first time, the processes compare what they ask
for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.system.late_imports import load

from .membership import Member, found_by_the_engine, member
from .process_calls import HEARTBEAT, ProcessCalls
from .process_client import ELEMENTS, quiet
from .process_worker import LEAVING

_SUM = "a sum over all processes"


class ProcessGroup(ProcessCalls):
    """This process among the others, and sums over all of them.

    Args:
      who: which one it is.
    Raises: UnavailableError if the coordinator or another process does not answer in time.

    Attributes:
      summed_bytes: the bytes of the arrays that were summed so far.
    """

    def __init__(self, who: Member):
        super().__init__(who)
        self.summed_bytes = 0

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
            flat = np.concatenate([np.asarray(arrays[i]).reshape(-1) for i in places])
            wide = np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype
            total = self._sum(flat.astype(wide, copy=False)).astype(dtype, copy=False)
            self.summed_bytes += flat.nbytes
            begin = 0
            for i in places:
                end = begin + arrays[i].size
                result[i] = total[begin:end].reshape(arrays[i].shape)
                begin = end
        return result

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

    def all_gather(self, array: Any, label: str = "") -> Any:
        """Returns the arrays of all processes, one behind the other along the first axis.

        Args:
          array: at least one dimension; all but the first are the same in all processes.
          label: a name for errors.
        Raises: as `all_reduce`.
        """
        if self.who.size == 1:
            return array
        rows = np.zeros(self.who.size, np.int64)
        rows[self.who.rank] = len(array)
        (counts,) = self.all_reduce([rows], f"{label} {array.dtype} {array.shape[1:]}")
        parts = [np.zeros((int(n), *array.shape[1:]), array.dtype) for n in counts]
        parts[self.who.rank] = array
        return np.concatenate([self.broadcast([part], root, label)[0] for root, part in enumerate(parts)])

    def _sum(self, flat: Any) -> Any:
        if not flat.size:
            return flat

        return self.together(lambda: (self._client or self._make_client(1)).sum(flat), _SUM,
                             f"{_SUM} of {flat.size} {flat.dtype.name}")

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
            who = _meetings[0]() if _meetings else member()
            if not _meetings and who.size == 1 and (found := found_by_the_engine()) is not None:
                who = _host(found)
            _group.append(ProcessGroup(who))
        return _group[0]


_meetings: list[Callable[[], Member]] = []


def meet_by(meeting: Callable[[], Member] | None) -> None:
    """Says how the processes of a cluster find each other, also after they have lost each other; None for no more.

    Args:
      meeting: waits for the others; returns which process this one is.
    """
    _meetings[:] = [] if meeting is None else [meeting]


def may_meet_again() -> bool:
    """Returns whether the processes find each other again after they have lost each other."""
    return bool(_meetings)


def is_lost() -> bool:
    """Returns whether the processes have lost each other, and cannot find each other again."""
    return bool(_group) and _group[0].is_broken and not _meetings


def anew() -> None:
    """Gives up a group in which a sum has failed: the next call of `group` waits for the processes again."""
    with _making:
        lost = _group.pop() if _group and _group[0].is_broken and _meetings else None
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
            _group.append(ProcessGroup(_host(who)))
        return _group[0]


def _host(who: Member) -> Member:
    """Runs the coordinator in process 0; returns which process this is."""
    if who.rank == 0 and who.size > 1:
        _hosted.append(CoordinatorService(who.address, who.size))
    return who


_hosted: list[CoordinatorService] = []  # it ends with the process


def has_joined() -> bool:
    """Returns whether `group` was called."""
    return bool(_group)


def forget() -> None:
    """Takes leave of the others."""
    with _making:
        while _group:
            _group.pop().leave()


class CoordinatorService:
    """The service that lets processes find each other.

    Args:
      address: host and port to listen at; nothing else is listened at.
      size: the number of processes.
    Raises: RuntimeError if the port is taken.
    """

    def __init__(self, address: str, size: int):
        with quiet():
            self._service = load("jaxlib._jax").get_distributed_runtime_service(
                address, size, heartbeat_timeout=HEARTBEAT, shutdown_timeout=LEAVING, recoverable=True)

    def close(self) -> None:
        """Ends the service."""
        service, self._service = self._service, None
        if service is not None:
            with quiet():
                service.shutdown()
