"""Several processes that compute together: who they are, and sums of arrays over all of them.

The processes are started by `graphgrad launch`, which tells them where its coordinator listens: the coordination
service of JAX. The sums are programs of XLA over all processes, which exchange bytes over TCP (gloo). Each process must
ask for the same sums in the same order; before a sum is taken for the first time, the processes compare what they ask
for.

A process that ends closes its connections, so that the others' sums fail at once. One that stands still gives no sign
of life, which the others notice within some seconds.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from graphgrad.errors import AbortedError, InvalidArgumentError, UnavailableError
from graphgrad.system.late_imports import load

from .membership import PATIENCE, TIMEOUT, Member, found_by_the_engine, member, patience, timeout
from .process_client import ELEMENTS, ProcessClient, make_way, quiet
from .process_worker import LEAVING, ProcessWorker

T = TypeVar("T")
_HEARTBEAT = 10  # seconds without a sign of life, for the service
_BEAT, _STILL = 1.0, 6.0  # seconds: between signs of life for the others, and without one until they give up
_SUM, _LOST, _AT = "a sum over all processes", "graphgrad/lost", "graphgrad/at"


class ProcessGroup:
    """This process among the others.

    Args:
      who: which one it is.
    Raises: UnavailableError if the coordinator or another process does not answer in time.

    Attributes:
      who: which one it is.
      summed_bytes: the bytes of the arrays that were summed so far.
    """

    def __init__(self, who: Member):
        self.who = who
        self.summed_bytes = 0
        self._calls = 0  # how many were made that wait for others
        self._lock = threading.Lock()
        self._compared: set[str] = set()
        self._broken = ""
        self._client: ProcessClient | None = None
        self._clients = 0
        self._fixed = False  # whether others use the client, too
        self._service: Any = None
        if who.size > 1:
            self._connect()

    def _connect(self) -> None:
        with quiet():
            self._service = load("jaxlib._jax").get_distributed_runtime_client(
                self.who.address, self.who.rank, init_timeout=timeout(), heartbeat_timeout=_HEARTBEAT,
                shutdown_timeout=LEAVING, shutdown_on_destruction=False, use_compression=True)
            try:
                self._service.connect()
            except RuntimeError as e:
                raise UnavailableError(None, None, f"process {self.who.rank} of {self.who.size}: the coordinator at "
                                       f"{self.who.address}, or another process, did not answer within {timeout()} s."
                                       f"\n  {_first_line(e)}\n  Fix: start all processes, with graphgrad launch, or "
                                       f"allow more time: {TIMEOUT}=300") from None
        self._worker = ProcessWorker()
        self._left = threading.Event()
        self._beating = threading.Thread(target=self._beat, name="graphgrad-beat", daemon=True)
        self._beating.start()
        atexit.register(self.leave)

    def _beat(self) -> None:
        """Gives signs of life."""
        while not self._left.wait(_BEAT):
            try:
                self._service.key_value_increment(f"graphgrad/beat/{self.who.rank}", 1)
            except RuntimeError:
                return

    def _said(self, key: str) -> str:
        """Returns what is said at the coordinator under a key; "" for nothing."""
        with contextlib.suppress(RuntimeError):
            return str(self._service.key_value_try_get(key))
        return ""

    def _wait(self, done: Any, what: str) -> None:
        """Waits until a call is made; raises RuntimeError if another process stands still, or does not come."""
        begun, said = time.monotonic(), f"{self._calls} {what}"
        seen: dict[int, tuple[str, float]] = {}
        while not done.acquire(timeout=_BEAT):
            now = time.monotonic()
            for rank in range(self.who.size):
                beat = "" if rank == self.who.rank else self._said(f"graphgrad/beat/{rank}")
                if rank not in seen or seen[rank][0] != beat:
                    seen[rank] = beat, now
                elif rank != self.who.rank and now - seen[rank][1] > _STILL:
                    raise RuntimeError(f"process {rank} has given no sign of life for {_STILL:.0f} s")
            if lost := self._said(_LOST):
                raise RuntimeError(lost)
            self._compare_places(said)
            if now - begun > patience():
                raise RuntimeError(f"not all processes have asked for it within {patience()} s ({PATIENCE})")

    def _compare_places(self, said: str) -> None:
        """Tells the others what this process waits for; raises InvalidArgumentError if one waits for something else."""
        with contextlib.suppress(RuntimeError):
            self._service.key_value_set(f"{_AT}/{self.who.rank}", said, allow_overwrite=True)
        number, _, mine = said.partition(" ")
        for rank in range(self.who.size):
            theirs = self._said(f"{_AT}/{rank}").partition(" ")
            if theirs[0] == number and theirs[2] != mine:
                raise _disagree("call", int(number) - 1, self.who.rank, mine, rank, theirs[2])

    @property
    def is_broken(self) -> bool:
        """Whether a sum has failed, so that the processes have lost each other."""
        return bool(self._broken)

    def leave(self) -> None:
        """Takes leave of the coordinator."""
        if self._service is None:
            return
        atexit.unregister(self.leave)
        # The engine cannot be left by a thread while Python ends.
        self._left.set()
        self._beating.join()
        self._worker.end()
        service, self._service = self._service, None
        with contextlib.suppress(RuntimeError), quiet():
            service.shutdown()

    # -- sums --------------------------------------------------------------------------

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

        def call() -> Any:
            if self._client is None:
                self._make_client(1)
            assert self._client is not None
            return self._client.sum(flat)

        return self.together(call, _SUM, f"{_SUM} of {flat.size} {flat.dtype.name}")

    def together(self, call: Callable[[], T], what: str, label: str = "") -> T:
        """Makes a call that ends when all processes have made it.

        Args:
          call: the call, which a thread of its own makes.
          what: what it is, for errors.
          label: the same, for comparing with other processes where it does not end; `what` if not given.
        Raises: UnavailableError if another process is gone, stands still, or does not make it; InvalidArgumentError if
          another one waits for something else; AbortedError after such an error.
        """
        with self._lock:
            if self._broken:
                raise AbortedError(None, None, f"the processes have lost each other: {self._broken}\n"
                                   "  Fix: end the program, and start it again from its last checkpoint")
            self._calls += 1
            try:
                done, found = self._worker.begin(call)
                self._wait(done, label or what)
                if found[1] is not None:
                    raise found[1]
                result: T = found[0]
                return result
            except InvalidArgumentError as e:
                self._lose(_first_line(e))
                raise
            except RuntimeError as e:
                self._lose(_first_line(e))
                raise UnavailableError(None, None, f"process {self.who.rank} of {self.who.size}: {what} failed, since "
                                       f"another one is gone or hangs.\n  {self._broken}\n"
                                       "  Fix: see what the other processes say; start again from the last checkpoint"
                                       ) from None

    def _lose(self, reason: str) -> None:
        """Gives up: the others' calls, and what is left of this one's, come to an end."""
        self._broken, self._client = reason, None  # closes connections, unless a mesh uses them
        if self._fixed:
            with contextlib.suppress(RuntimeError):
                self._service.key_value_set(_LOST, f"process {self.who.rank} has given up: {reason}")

    def devices(self, count: int) -> ProcessClient:
        """Returns the client that knows the devices of all processes; every process asks for it at the same point.

        Args:
          count: the number of devices of each process.
        Raises: InvalidArgumentError if processes, or earlier calls, ask for other numbers; otherwise as `together`.
        """
        client = self._client
        if client is None or client.count != count:
            if client is not None and self._fixed:
                raise InvalidArgumentError(None, None, f"this process has {client.count} devices in a mesh over all "
                                           f"processes already, and cannot have {count} in another one.\n"
                                           "  Fix: give all sessions the same device_count")
            self.agree(f"a mesh over {self.who.size} processes with {count} devices each")
            client = self.together(lambda: self._make_client(count), "a mesh over all processes")
        self._fixed = True
        return client

    def _make_client(self, count: int) -> ProcessClient:
        with quiet():
            if self._clients:
                self._client = None
                make_way(self._service, self.who, self._clients, timeout())
            self._clients += 1
            self._client = ProcessClient(self._service, self.who, count)
        return self._client

    # -- the same program everywhere ---------------------------------------------------

    def _compare(self, kind: str, arrays: Sequence[Any], label: str) -> None:
        """Compares with process 0 what is asked for, the first time that it is."""
        for a in arrays:
            if a.dtype.name not in ELEMENTS and a.dtype.itemsize != 2 and kind == "sum":
                raise InvalidArgumentError(None, None, f"arrays of {a.dtype} cannot be summed over processes"
                                           f"{f', in {label}' if label else ''}. Fix: cast them, e.g. to float32")
        self.agree(f"{kind} {label} " + ", ".join(f"{a.dtype.name}{list(a.shape)}" for a in arrays), "kind of sum")

    def agree(self, text: str, noun: str = "step") -> None:
        """Compares a text with that of process 0, the first time that it is given.

        Args:
          text: what this process is going to do.
          noun: what that is, for errors.
        Raises: InvalidArgumentError if another process is going to do something else; UnavailableError if one does
          nothing.
        """
        if self.who.size == 1 or text in self._compared:
            return
        number = len(self._compared)
        key = f"graphgrad/sum/{number}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        try:
            if self.who.rank == 0:
                self._service.key_value_set(key, f"{digest} {text[:500]}")
            theirs = self._service.blocking_key_value_get(key, 1000 * timeout())
            self._service.key_value_set(f"{key}/{self.who.rank}", digest)
            if self.who.rank == 0:
                for rank in range(1, self.who.size):
                    other = self._service.blocking_key_value_get(f"{key}/{rank}", 1000 * timeout())
                    if other != digest:
                        raise _disagree(noun, number, rank, text, 0, "something else")
        except RuntimeError as e:
            raise UnavailableError(None, None, f"process {self.who.rank} of {self.who.size} asks for the {_th(number)} "
                                   f"{noun} over all processes, {text[:200]}; another process does not, within "
                                   f"{timeout()} s.\n  {_first_line(e)}\n  Fix: let every process make the same calls "
                                   "in the same order") from None
        if theirs.partition(" ")[0] != digest:
            raise _disagree(noun, number, self.who.rank, text, 0, theirs.partition(" ")[2])
        self._compared.add(text)


def _disagree(noun: str, number: int, rank: int, text: str, other: int, theirs: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"the processes run different programs: for the {_th(number)} {noun} "
                                f"over all of them, process {rank} asks for\n    {text[:300]}\n  and process {other} "
                                f"for\n    {theirs[:300]}\n  Fix: let every process make the same calls in the same "
                                "order; shapes must not depend on the process")


def _th(number: int) -> str:
    return {0: "first", 1: "second", 2: "third"}.get(number, f"{number + 1}th")


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
                address, size, heartbeat_timeout=_HEARTBEAT, shutdown_timeout=LEAVING, recoverable=True)

    def close(self) -> None:
        """Ends the service."""
        service, self._service = self._service, None
        if service is not None:
            with quiet():
                service.shutdown()
