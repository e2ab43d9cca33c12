"""Several processes that compute together: who they are, and sums of arrays over all of them.

The processes are started by `graphgrad launch`, which tells them where its coordinator listens: the coordination
service of JAX. The sums are programs of XLA over all processes (`process_sums.py`). Each process must ask for the same
sums in the same order; before a sum is taken for the first time, the processes compare what they ask for.

A process that is killed closes its connections, so that the others' sums fail at once. One that stands still gives no
sign of life, which the others notice within some seconds. One that ends as it should says so (`attendance.py`): the
workers of a cluster then go on without it, in a new group, with the sum that they are in.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from graphgrad.errors import AbortedError, InvalidArgumentError, UnavailableError
from graphgrad.system.late_imports import load
from graphgrad.system.log import Log

from .attendance import BEAT, STILL, Attendance, HasEnded, Silence
from .comparisons import Comparisons, th
from .coordinator_service import HEARTBEAT, LEAVING, host, hosted
from .membership import PATIENCE, TIMEOUT, Member, found_by_the_engine, member, patience, timeout
from .process_sums import ELEMENTS, ProcessSums, quiet

_log = Log("tensorflow")
P = ParamSpec("P")
R = TypeVar("R")

_NOTICED = 10.0  # seconds that a process that ends keeps its connections for those that have not noticed


def _exchange(method: Callable[Concatenate[ProcessGroup, P], R]) -> Callable[Concatenate[ProcessGroup, P], R]:
    """Makes a method one exchange, which is counted as soon as it is complete."""

    def call(self: ProcessGroup, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            if self._inside:
                return method(self, *args, **kwargs)
            self._inside, before = True, self._begun
            try:
                if self.watch is not None:
                    self.watch.before_exchange(self)
                result = method(self, *args, **kwargs)
                self.exchanges, before = self.exchanges + 1, self._begun
                return result
            finally:
                self._inside, self._is_cut = False, self._begun != before  # the others may have had this one's part

    functools.update_wrapper(call, method)
    return call


class ProcessGroup:
    """This process among the others.

    Args:
      who: which one it is.
    Raises: UnavailableError if the coordinator or another process does not answer in time.

    Attributes:
      who: which one it is.
      summed_bytes: the bytes of the arrays that were summed so far.
      exchanges: how many exchanges are complete; the same in all processes between them.
      origin: the first of the groups that have gone on after processes have ended.
      when: when the training here has ended; "" while it lasts.
      watch: what has a method `before_exchange`, which is called with the group, as a part of each exchange.
    """

    def __init__(self, who: Member):
        self.who = who
        self.summed_bytes = self.exchanges = 0
        self.origin: ProcessGroup = self
        self.when = ""
        self.watch: Any = None
        self._lock = threading.RLock()
        self._inside = self._is_cut = self._has_ended = False
        self._begun = 0
        self._broken = ""
        self._service: Any = None
        if who.size > 1:
            self._connect()

    def _connect(self) -> None:
        with quiet():
            jaxlib = load("jaxlib._jax")
            self._service = jaxlib.get_distributed_runtime_client(
                self.who.address, self.who.rank, init_timeout=timeout(), heartbeat_timeout=HEARTBEAT,
                shutdown_timeout=LEAVING, shutdown_on_destruction=False, use_compression=True)
            try:
                self._service.connect()
            except RuntimeError as e:
                raise UnavailableError(None, None, f"process {self.who.rank} of {self.who.size}: the coordinator at "
                                       f"{self.who.address}, or another process, did not answer within {timeout()} s."
                                       f"\n  {_first_line(e)}\n  Fix: start all processes, with graphgrad launch, or "
                                       f"allow more time: {TIMEOUT}=300") from None
        self._sums = ProcessSums(self._service, self.who)
        self._attendance = Attendance(self._service, self.who)
        self._asked = Comparisons(self._service, self.who, self._attendance)
        atexit.register(self._leave_at_exit)

    def _wait(self, done: Any) -> None:
        """Waits until a sum is there.

        Raises: RuntimeError if another process stands still, or does not come; HasEnded if one will not.
        """
        begun, silence = time.monotonic(), Silence(self._attendance)
        while not done.acquire(timeout=BEAT):
            self._attendance.check(self.exchanges)
            silent = silence.of(rank for rank in range(self.who.size) if rank != self.who.rank)
            if silent:
                raise RuntimeError(f"process {silent[0]} has given no sign of life for {STILL:.0f} s")
            if time.monotonic() - begun > patience():
                raise RuntimeError(f"not all processes have asked for it within {patience()} s ({PATIENCE})")

    @property
    def is_broken(self) -> bool:
        """Whether a sum has failed, so that the processes have lost each other."""
        return bool(self._broken)

    def end(self) -> None:
        """Tells the others that this process makes no more exchanges."""
        if self._service is None or self._has_ended:
            return
        self._has_ended = True
        if self._inside or self._is_cut or self._broken:
            self._attendance.notice()
            return
        error = _ends_python()
        how = f", by {type(error).__name__}: {_first_line(error)}" if error is not None else ""
        when = self.when or f"after {self.exchanges} sums over all processes"
        self._attendance.announce(self.exchanges, f"{self._name()} has ended its training {when}{how}")

    def _name(self) -> str:
        return _meetings[0].name if _meetings else f"process {self.who.rank}"

    def publish(self, text: str) -> None:
        """Says something to those that ask later."""
        if self._service is not None:
            self._attendance.publish(text)

    def published(self) -> dict[int, str]:
        """Returns what other processes have said: number -> text."""
        return {} if self._service is None else self._attendance.published()

    def leave(self) -> None:
        """Takes leave of the others, and of the coordinator."""
        if self._service is None:
            return
        atexit.unregister(self._leave_at_exit)
        self.end()
        if not (self._inside or self._is_cut or self._broken or isinstance(_ends_python(), KeyboardInterrupt)):
            # The coordinator of this process has to be the last one.
            self._attendance.wait_for_others(patience() if hosted else _NOTICED)
        self._close()

    def _leave_at_exit(self) -> None:
        if _meetings:  # not where the processes have lost each other, and meet again
            _meetings[0].part()
        self.leave()

    def _close(self) -> None:
        # The engine cannot be left by a thread while Python ends.
        self._sums.disconnect()
        self._attendance.stop()
        self._sums.end(LEAVING)
        service, self._service = self._service, None
        with contextlib.suppress(RuntimeError), quiet():
            service.shutdown()

    def dissolve(self, ended: HasEnded) -> None:
        """Waits until all that are left know that others have ended; then closes the connections.

        Args:
          ended: who has ended.
        Raises: UnavailableError if one that is left is gone.
        """
        self._attendance.notice()
        missing = self._attendance.wait_for_others(patience())
        if missing:
            raise self._lost(f"process {missing[0]} is gone, too, after {ended}") from None
        atexit.unregister(self._leave_at_exit)
        self._close()

    # -- sums --------------------------------------------------------------------------

    @_exchange
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

    @_exchange
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

    @_exchange
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

    @_exchange
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
        self._check()
        try:
            self._begun += 1
            done, found = self._sums.begin(flat)
            self._wait(done)
            if found[1] is not None:
                self._attendance.check(self.exchanges)  # one that has ended may have closed its connections
                raise found[1]
            return found[0]
        except HasEnded as e:
            raise self._after(e) from None
        except RuntimeError as e:
            raise self._lost(_first_line(e)) from None

    def _check(self) -> None:
        if self._broken:
            raise AbortedError(None, None, f"the processes have lost each other: {self._broken}\n"
                               "  Fix: end the program, and start it again from its last checkpoint")

    def _lost(self, why: str, what: str = "a sum over all processes") -> UnavailableError:
        self._broken = why
        self._sums.disconnect()
        return UnavailableError(None, None, f"process {self.who.rank} of {self.who.size}: {what} "
                                f"failed, since another one is gone or hangs.\n  {why}\n  Fix: see what the other "
                                "processes say; start again from the last checkpoint")

    def _after(self, ended: HasEnded) -> Exception:
        """Returns what to raise when others have ended their training; `together` goes on, if they are a cluster."""
        if _meetings:
            return ended
        self._attendance.notice()
        self._broken = str(ended)
        self._sums.disconnect()
        fix = ("see the error there" if ", by " in self._broken else "give all processes equally many steps, e.g. with "
               "tf.train.StopAtStepHook(last_step=...), or with data that repeat")
        return UnavailableError(None, None, f"process {self.who.rank} of {self.who.size} asks for a sum over all "
                                f"processes, and others have ended.\n  {ended}\n  Fix: {fix}")

    def _compare(self, kind: str, arrays: Sequence[Any], label: str) -> None:
        """Compares with process 0 what is asked for, the first time that it is."""
        for a in arrays:
            if a.dtype.name not in ELEMENTS and a.dtype.itemsize != 2 and kind == "sum":
                raise InvalidArgumentError(None, None, f"arrays of {a.dtype} cannot be summed over processes"
                                           f"{f', in {label}' if label else ''}. Fix: cast them, e.g. to float32")
        text = f"{kind} {label} " + ", ".join(f"{a.dtype.name}{list(a.shape)}" for a in arrays)
        if text in self._asked.compared:
            return
        self._check()
        try:
            self._asked.compare(text, self.exchanges)
        except HasEnded as e:
            raise self._after(e) from None
        except RuntimeError as e:
            raise self._lost(_first_line(e), f"the {th(len(self._asked.compared))} kind of sum over all processes, "
                             f"{text[:200]},") from None


def _ends_python() -> BaseException | None:
    """Returns the error that ends a program, once it does."""
    return None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:300]


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
            who = _meetings[0].meet(_reason[0]) if _meetings else member()
            if not _meetings and who.size == 1 and (found := found_by_the_engine()) is not None:
                who = host(found)
            _group.append(ProcessGroup(who))
            _reason[:] = ["begin"]
        return _group[0]


_over: list[ProcessGroup] = []  # those whose exchanges this process has ended, and has not left
_reason = ["begin"]  # why processes meet next
class Meetings(NamedTuple):
    """How the processes of a cluster find each other.

    Attributes:
      meet: waits for the others; returns which process this one is. It is told why they meet: to "begin", "again" after
        a loss, or to go "on" after some have ended their training.
      part: says there that this process has ended its training.
      name: what the others' errors call this process.
    """

    meet: Callable[[str], Member]
    part: Callable[[], None]
    name: str


_meetings: list[Meetings] = []


def meet_by(meetings: Meetings | None) -> None:
    """Says how the processes of a cluster find each other, also after they have lost each other; None for no more."""
    _meetings[:] = [] if meetings is None else [meetings]


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
    before.dissolve(ended)
    with _making:
        _group.clear()
        _reason[:] = ["again"]  # if this does not succeed
        made = ProcessGroup(_meetings[0].meet("on"))
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
        if not _group or not _meetings or _group[0].is_broken:
            return
        over = _group.pop()
        _meetings[0].part()  # before the others are told, which then meet
        over.end()
        _over.append(over)


def is_lost() -> bool:
    """Returns whether the processes have lost each other, and cannot find each other again."""
    return bool(_group) and _group[0].is_broken and not _meetings


def anew() -> None:
    """Gives up a group in which a sum has failed: the next call of `group` waits for the processes again."""
    with _making:
        lost = _group.pop() if _group and _group[0].is_broken and _meetings else None
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
