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
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import AbortedError, InvalidArgumentError, UnavailableError
from graphgrad.system.late_imports import load

from . import xla
from .membership import PATIENCE, TIMEOUT, Member, found_by_the_engine, member, patience, timeout

_HEARTBEAT, _LEAVING = 10, 3  # seconds: without a sign of life, for the service; to take leave
_GIVES_UP = 32.0  # seconds: gloo's own limit for a call is 30
_BEAT, _STILL = 1.0, 6.0  # seconds: between signs of life for the others, and without one until they give up


class _Worker:
    """A thread that makes calls for others, which may stop waiting for it."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="graphgrad-processes", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Ends the thread, if it does not stand still in a call."""
        self._calls.put(None)
        self._thread.join(_LEAVING)
        if self._thread.is_alive():  # Python must not end before: the engine would abort the process
            atexit.register(self._thread.join, _GIVES_UP)

    def begin(self, call: Callable[[], Any]) -> tuple[Any, list[Any]]:
        """Lets the thread make a call; returns a lock that is free afterwards, and where result and error will be."""
        done, found = threading.Lock(), list[Any]()
        done.acquire()
        self._calls.put((call, done, found))
        return done, found

    def _work(self) -> None:
        while True:
            given = self._calls.get()
            if given is None:
                return
            call, done, found = given
            try:
                found += [call(), None]
            except BaseException as e:
                found += [None, e]
            done.release()


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
        self._programs: dict[tuple[str, int], Any] = {}
        self._lock = threading.Lock()
        self._compared: set[str] = set()
        self._broken = ""
        self._client: Any = None
        self._service: Any = None
        self._device: Any = None
        if who.size > 1:
            self._connect()

    def _connect(self) -> None:
        with _quiet():
            jaxlib = self._jax = load("jaxlib._jax")
            self._service = jaxlib.get_distributed_runtime_client(
                self.who.address, self.who.rank, init_timeout=timeout(), heartbeat_timeout=_HEARTBEAT,
                shutdown_timeout=_LEAVING, shutdown_on_destruction=False, use_compression=True)
            try:
                self._service.connect()
            except RuntimeError as e:
                raise UnavailableError(None, None, f"process {self.who.rank} of {self.who.size}: the coordinator at "
                                       f"{self.who.address}, or another process, did not answer within {timeout()} s."
                                       f"\n  {_first_line(e)}\n  Fix: start all processes, with graphgrad launch, or "
                                       f"allow more time: {TIMEOUT}=300") from None
        self._worker = _Worker()
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

    def _beats_of(self, rank: int) -> str:
        """Returns how many signs of life another process has given; "" for none so far."""
        if rank == self.who.rank:
            return ""
        with contextlib.suppress(RuntimeError):
            return str(self._service.key_value_try_get(f"graphgrad/beat/{rank}"))
        return ""

    def _wait(self, done: Any) -> None:
        """Waits until a sum is there; raises RuntimeError if another process stands still, or does not come."""
        begun = time.monotonic()
        seen: dict[int, tuple[str, float]] = {}
        while not done.acquire(timeout=_BEAT):
            now = time.monotonic()
            for rank in range(self.who.size):
                beat = self._beats_of(rank)
                if rank not in seen or seen[rank][0] != beat:
                    seen[rank] = beat, now
                elif rank != self.who.rank and now - seen[rank][1] > _STILL:
                    raise RuntimeError(f"process {rank} has given no sign of life for {_STILL:.0f} s")
            if now - begun > patience():
                raise RuntimeError(f"not all processes have asked for it within {patience()} s ({PATIENCE})")

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
        with contextlib.suppress(RuntimeError), _quiet():
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
        with self._lock:
            if self._broken:
                raise AbortedError(None, None, f"the processes have lost each other: {self._broken}\n"
                                   "  Fix: end the program, and start it again from its last checkpoint")
            try:
                done, found = self._worker.begin(lambda: self._call(flat))
                self._wait(done)
                if found[1] is not None:
                    raise found[1]
                return found[0]
            except RuntimeError as e:
                self._broken = _first_line(e)
                # Its connections are closed, so that the others' calls, and what is left of this one, come to an end.
                self._programs, self._client, self._device = {}, None, None
                raise UnavailableError(None, None, f"process {self.who.rank} of {self.who.size}: a sum over all "
                                       f"processes failed, since another one is gone or hangs.\n  {self._broken}\n"
                                       "  Fix: see what the other processes say; start again from the last checkpoint"
                                       ) from None

    def _call(self, flat: Any) -> Any:
        with _quiet():
            program = self._programs.get(key := (flat.dtype.name, flat.size))
            if program is None:
                program = self._programs[key] = self._compile(*key)
            result = program.execute_sharded([self._device.put(flat)])
        return np.array(memoryview(result.disassemble_into_single_device_arrays()[0][0]))

    def _compile(self, dtype: str, size: int) -> Any:
        """Compiles the program of a sum of vectors."""
        jaxlib, xla_client = self._jax, load("jaxlib.xla_client")
        if self._client is None:
            collectives = jaxlib.make_gloo_tcp_collectives(distributed_client=self._service,
                                                           hostname=_own_host(self.who.address))
            self._client = xla_client.make_cpu_client(asynchronous=False, distributed_client=self._service,
                                                      node_id=self.who.rank, num_nodes=self.who.size,
                                                      collectives=collectives)
            self._device = xla.Device(self._client, jaxlib, xla_client, 0, "processes")
        count, devices = self.who.size, sorted(self._client.devices(), key=lambda d: d.process_index)
        options = jaxlib.CompileOptions()
        options.num_replicas = count
        numbers = np.array([d.id for d in devices], np.int32).reshape(count, 1)
        options.device_assignment = jaxlib.DeviceAssignment.create(numbers)
        element = _ELEMENTS[dtype]
        module = _SUM.format(count=count, size=size, element=element, group=", ".join(map(str, range(count))))
        return self._client.compile_and_load(module.encode(), jaxlib.DeviceList(tuple(devices)), options)

    # -- the same program everywhere ---------------------------------------------------

    def _compare(self, kind: str, arrays: Sequence[Any], label: str) -> None:
        """Compares with process 0 what is asked for, the first time that it is."""
        for a in arrays:
            if a.dtype.name not in _ELEMENTS and a.dtype.itemsize != 2 and kind == "sum":
                raise InvalidArgumentError(None, None, f"arrays of {a.dtype} cannot be summed over processes"
                                           f"{f', in {label}' if label else ''}. Fix: cast them, e.g. to float32")
        text = f"{kind} {label} " + ", ".join(f"{a.dtype.name}{list(a.shape)}" for a in arrays)
        if text in self._compared:
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
                        raise _disagree(number, rank, text, 0, "something else")
        except RuntimeError as e:
            raise UnavailableError(None, None, f"process {self.who.rank} of {self.who.size} asks for the {_th(number)} "
                                   f"kind of sum over all processes, {text[:200]}; another process does not, within "
                                   f"{timeout()} s.\n  {_first_line(e)}\n  Fix: let every process make the same calls "
                                   "in the same order") from None
        if theirs.partition(" ")[0] != digest:
            raise _disagree(number, self.who.rank, text, 0, theirs.partition(" ")[2])
        self._compared.add(text)


def _own_host(address: str) -> str:
    """Returns the address under which this machine reaches the coordinator, to listen at for the other processes."""
    host, _, port = address.rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:  # nothing is sent
        way.connect((host, int(port)))
        return str(way.getsockname()[0])


def _disagree(number: int, rank: int, text: str, other: int, theirs: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"the processes run different programs: for the {_th(number)} kind of sum "
                                f"over all of them, process {rank} asks for\n    {text[:300]}\n  and process {other} "
                                f"for\n    {theirs[:300]}\n  Fix: let every process make the same calls in the same "
                                "order; shapes must not depend on the process")


def _th(number: int) -> str:
    return {0: "first", 1: "second", 2: "third"}.get(number, f"{number + 1}th")


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:300]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps XLA from logging messages below errors to the standard error: it warns of each step of a connection."""
    name = "TF_CPP_MIN_LOG_LEVEL"
    before = os.environ.get(name)
    os.environ[name] = before or "2"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


_ELEMENTS = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint32": "ui32",
             "uint64": "ui64", "int8": "i8", "complex64": "complex<f32>", "complex128": "complex<f64>"}
_SUM = """
module @sum attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {count} : i32}} {{
  func.func public @main(%x: tensor<{size}x{element}>) -> tensor<{size}x{element}> {{
    %0 = "stablehlo.all_reduce"(%x) <{{replica_groups = dense<[[{group}]]> : tensor<1x{count}xi64>}}> ({{
      ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
        %s = stablehlo.add %a, %b : tensor<{element}>
        stablehlo.return %s : tensor<{element}>
    }}) : (tensor<{size}x{element}>) -> tensor<{size}x{element}>
    return %0 : tensor<{size}x{element}>
  }}
}}
"""

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
        with _quiet():
            self._service = load("jaxlib._jax").get_distributed_runtime_service(
                address, size, heartbeat_timeout=_HEARTBEAT, shutdown_timeout=_LEAVING, recoverable=True)

    def close(self) -> None:
        """Ends the service."""
        service, self._service = self._service, None
        if service is not None:
            with _quiet():
                service.shutdown()
