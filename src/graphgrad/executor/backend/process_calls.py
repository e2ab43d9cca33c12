"""This process among others: connection, signs of life, calls that end when all processes have made them.

A process that ends closes its connections, so that the others' calls fail at once. One that stands still gives no sign
of life, which the others notice within some seconds.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from graphgrad.errors import AbortedError, InvalidArgumentError, UnavailableError
from graphgrad.system.late_imports import load

from .membership import PATIENCE, TIMEOUT, Member, patience, timeout
from .process_client import ProcessClient, make_way, quiet
from .process_worker import LEAVING, ProcessWorker

T = TypeVar("T")
HEARTBEAT = 10  # seconds without a sign of life, for the service
_BEAT, _STILL = 1.0, 6.0  # seconds: between signs of life for the others, and without one until they give up
_LOST, _AT = "graphgrad/lost", "graphgrad/at"


class Apart(Exception):
    """What processes were about to do together is not the same."""


class ProcessCalls:
    """What this process does together with the others.

    Args:
      who: which one it is.
    Raises: UnavailableError if the coordinator or another process does not answer in time.

    Attributes:
      who: which one it is.
    """

    def __init__(self, who: Member):
        self.who = who
        self._calls = 0  # how many were made that wait for others
        self._lock = threading.Lock()
        self._compared: set[str] = set()
        self._asked = 0  # how often texts were compared
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
                self.who.address, self.who.rank, init_timeout=timeout(), heartbeat_timeout=HEARTBEAT,
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
        atexit.register(self.leave, exiting=True)

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

    def leave(self, exiting: bool = False) -> None:
        """Takes leave of the coordinator.

        Args:
          exiting: whether the process ends.
        """
        if self._service is None:
            return
        atexit.unregister(self.leave)
        # The engine cannot be left by a thread while Python ends.
        self._left.set()
        self._beating.join()
        self._worker.end(exiting)
        service, self._service = self._service, None
        with contextlib.suppress(RuntimeError), quiet():
            service.shutdown()

    def together(self, call: Callable[[], T], what: str, label: str = "", checked: bool = False) -> T:
        """Makes a call that ends when all processes have made it.

        Args:
          call: the call, which a thread of its own makes.
          what: what it is, for errors.
          label: the same, for comparing with other processes where it does not end; `what` if not given.
          checked: whether the labels are compared before, each time.
        Raises: UnavailableError if another process is gone, stands still, or does not make it; InvalidArgumentError if
          another one waits for something else; AbortedError after such an error.
        """
        with self._lock:
            if self._broken:
                raise AbortedError(None, None, f"the processes have lost each other: {self._broken}\n"
                                   "  Fix: end the program, and start it again from its last checkpoint")
            self._calls += 1
            if self._service is None:
                raise AbortedError(None, None, f"{what}: this process has taken leave of the others.\n"
                                   "  Fix: do it before hvd.shutdown()")
            try:
                done, found = self._worker.begin((lambda: self._checked(call, label)) if checked else call)
                self._wait(done, label or what)
                if found[1] is not None:
                    raise found[1]
                result: T = found[0]
                return result
            except Apart as e:
                raise self._difference(str(e)) from None
            except InvalidArgumentError as e:
                self._lose(_first_line(e))
                raise
            except RuntimeError as e:
                self._lose(_first_line(e))
                raise UnavailableError(None, None, f"process {self.who.rank} of {self.who.size}: {what} failed, since "
                                       f"another one is gone or hangs.\n  {self._broken}\n"
                                       "  Fix: see what the other processes say; start again from the last checkpoint"
                                       ) from None

    def _checked(self, call: Callable[[], T], label: str) -> T:
        """Makes a call if all processes are about to make it.

        What processes exchange in different calls could fit together, and so would give wrong numbers. The small sum
        that finds out fails at once if a process is gone, where programs on several devices would hang.
        """
        numbers = np.zeros(self.who.size, np.uint32)
        numbers[self.who.rank] = number = int.from_bytes(hashlib.sha256(label.encode()).digest()[:4], "little")
        if ((self._client or self._make_client(1)).sum(numbers) != number).any():
            raise Apart(label)
        return call()

    def tell(self, data: bytes, label: str) -> list[bytes]:
        """Returns what each process tells; all of them must do so at the same point.

        Args:
          data: what this process tells the others.
          label: what that is, for errors and for comparing with other processes.
        Raises: as `together`.
        """
        if self.who.size == 1:
            return [data]

        def exchange() -> list[bytes]:
            client = self._client or self._make_client(1)
            sizes = np.zeros(self.who.size, np.uint32)
            sizes[self.who.rank] = len(data)
            sizes = client.sum(sizes)
            words = np.zeros((self.who.size, 1 << (int(sizes.max()) // 4).bit_length()), np.uint32)  # few programs
            rows = words.view(np.uint8)
            rows[self.who.rank, : len(data)] = np.frombuffer(data, np.uint8)
            rows = client.sum(words.reshape(-1)).reshape(words.shape).view(np.uint8)
            return [rows[i, :n].tobytes() for i, n in enumerate(sizes)]

        return self.together(exchange, label, label, checked=True)

    def _difference(self, label: str) -> InvalidArgumentError:
        """Returns the error of processes that are about to do different things, of which nothing has begun."""
        at, found = f"{_AT}/{{}}/{self._calls}", [label] * self.who.size
        with contextlib.suppress(RuntimeError):
            self._service.key_value_set(at.format(self.who.rank), label)
            found = [str(self._service.blocking_key_value_get(at.format(rank), 1000 * LEAVING))
                     for rank in range(self.who.size)]
        other = next((rank for rank, text in enumerate(found) if text != label), self.who.rank)
        return _disagree("call", self._calls - 1, self.who.rank, label, other, found[other])

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
        number, self._asked = self._asked, self._asked + 1
        key = f"graphgrad/sum/{number}"
        mine = f"{hashlib.sha256(text.encode()).hexdigest()[:16]} {text[:500]}"
        try:
            if self.who.rank == 0:
                self._service.key_value_set(key, mine)
            theirs = self._service.blocking_key_value_get(key, 1000 * timeout())
            self._service.key_value_set(f"{key}/{self.who.rank}", mine)
            if self.who.rank == 0:
                for rank in range(1, self.who.size):
                    other = self._service.blocking_key_value_get(f"{key}/{rank}", 1000 * timeout())
                    if other != mine:
                        raise _disagree(noun, number, 0, text, rank, other.partition(" ")[2])
        except RuntimeError as e:
            raise UnavailableError(None, None, f"process {self.who.rank} of {self.who.size} asks for the {_th(number)} "
                                   f"{noun} over all processes, {text[:200]}; another process does not, within "
                                   f"{timeout()} s.\n  {_first_line(e)}\n  Fix: let every process make the same calls "
                                   "in the same order") from None
        if theirs != mine:
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
