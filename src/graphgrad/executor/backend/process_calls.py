"""This process among others: connection, and calls that end when all processes have made them.

A process that is killed closes its connections, so that the others' calls fail at once. One that stands still gives no
sign of life, which the others notice within some seconds. One that ends as it should says before which exchange
(`attendance.py`). An exchange is what all processes do at the same point: one or several calls. Exchanges are counted
alike in all processes.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from graphgrad.errors import AbortedError, InvalidArgumentError, UnavailableError
from graphgrad.system.late_imports import load

from .attendance import BEAT, Attendance, HasEnded
from .comparisons import Comparisons, th
from .exchanges.coordinator_process import HEARTBEAT, LEAVING, LEFT, OVER
from .membership import PATIENCE, TIMEOUT, Member, meetings, patience, timeout
from .process_client import ProcessClient, make_way, quiet
from .process_worker import ProcessWorker

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound="ProcessCalls")

_NOTICED = 10.0  # seconds that a process that ends keeps its connections for those that have not noticed


class Apart(Exception):
    """What processes were about to do together is not the same."""


def exchange(method: Callable[Concatenate[C, P], T]) -> Callable[Concatenate[C, P], T]:
    """Makes a method one exchange, which is counted as soon as it is complete."""

    def call(self: C, /, *args: P.args, **kwargs: P.kwargs) -> T:
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


class ProcessCalls:
    """What this process does together with the others.

    Args:
      who: which one it is.
    Raises: UnavailableError if the coordinator or another process does not answer in time.

    Attributes:
      who: which one it is.
      exchanges: how many exchanges are complete; the same in all processes between them.
      when: when the training here has ended; "" while it lasts.
      watch: what has a method `before_exchange`, which is called with the group, as a part of each exchange.
    """

    def __init__(self, who: Member):
        self.who = who
        self.exchanges = 0
        self.when = ""
        self.watch: Any = None
        self._lock = threading.RLock()
        self._inside = self._is_cut = self._has_ended = False
        self._calls = self._begun = 0  # calls that wait for others: how many were made, and for how many all were ready
        self._broken = ""
        self._client: ProcessClient | None = None
        self._clients = 0
        self._fixed = False  # whether others use the client, too
        self._service: Any = None
        if who.size > 1:
            self._connect()

    def _connect(self) -> None:
        with quiet():
            try:
                self._service = _connected(self.who)
            except RuntimeError as e:
                raise UnavailableError(None, None, f"process {self.who.rank} of {self.who.size}: the coordinator at "
                                       f"{self.who.address}, or another process, did not answer within {timeout()} s."
                                       f"\n  {_first_line(e)}\n  Fix: start all processes, with graphgrad launch, or "
                                       f"allow more time: {TIMEOUT}=300") from None
        self._worker = ProcessWorker()
        self._attendance = Attendance(self._service, self.who)
        self._asked = Comparisons(self._service, self.who, self._attendance)
        atexit.register(self._leave_at_exit)

    # -- the end -----------------------------------------------------------------------

    @property
    def is_broken(self) -> bool:
        """Whether a call has failed, so that the processes have lost each other."""
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
        when = self.when or f"after {self.exchanges} {'programs and ' if self._fixed else ''}sums over all processes"
        name = f"process {self.who.rank}" if (cluster := meetings()) is None else cluster.name
        self._attendance.announce(self.exchanges, f"{name} has ended its training {when}{how}")

    def publish(self, text: str) -> None:
        """Says something to those that ask later."""
        if self._service is not None:
            self._attendance.publish(text)

    def published(self) -> dict[int, str]:
        """Returns what other processes have said: number -> text."""
        return {} if self._service is None else self._attendance.published()

    def leave(self, exiting: bool = False) -> None:
        """Takes leave of the others, and of the coordinator.

        Args:
          exiting: whether the process ends.
        """
        if self._service is None:
            return
        atexit.unregister(self._leave_at_exit)
        self.end()
        if not (self._inside or self._is_cut or self._broken or isinstance(_ends_python(), KeyboardInterrupt)):
            self._attendance.wait_for_others(_NOTICED)
        self._close(exiting)

    def _leave_at_exit(self) -> None:
        if (cluster := meetings()) is not None:  # not where the processes have lost each other, and meet again
            cluster.part()
        self.leave(exiting=True)

    def _close(self, exiting: bool) -> None:
        # The engine cannot be left by a thread while Python ends.
        self._client = None  # closes connections, unless a mesh uses them
        self._attendance.stop()
        self._worker.stop()
        service, self._service = self._service, None
        with contextlib.suppress(RuntimeError), quiet():
            service.key_value_set(f"{LEFT}{self.who.rank}", "", True)
            service.shutdown()  # now others may end, which ends what this one's thread waits for
        self._worker.end(exiting)

    def dissolve(self, ended: HasEnded) -> None:
        """Waits until all that are left know that others have ended; then closes the connections.

        Args:
          ended: who has ended.
        Raises: UnavailableError if one that is left is gone.
        """
        self._attendance.notice()
        missing = self._attendance.wait_for_others(patience())
        if missing:
            raise self._lost(f"process {missing[0]} is gone, too, after {ended}", "a sum over all processes") from None
        atexit.unregister(self._leave_at_exit)
        self._close(False)

    # -- calls -------------------------------------------------------------------------

    def with_others(self, call: Callable[[], T], what: str, label: str = "", checked: bool = False) -> T:
        """Makes a call that ends when all processes have made it; a part of an exchange.

        Args:
          call: the call, which a thread of its own makes.
          what: what it is, for errors.
          label: the same, for comparing with other processes where it does not end; `what` if not given.
          checked: whether the labels are compared before, each time.
        Raises: UnavailableError if another process is gone, stands still, or does not make it, or if one has ended;
          HasEnded instead if this one belongs to a cluster; InvalidArgumentError if another one waits for something
          else; AbortedError after such an error.
        """
        with self._lock:
            self._check()
            self._calls += 1
            if self._service is None:
                raise AbortedError(None, None, f"{what}: this process has taken leave of the others.\n"
                                   "  Fix: do it before hvd.shutdown()")
            self._begun += 1
            try:
                done, found = self._worker.begin((lambda: self._checked(call, label)) if checked else call)
                self._wait(done, label or what)
                if isinstance(found[1], RuntimeError):
                    self._attendance.check(self.exchanges)  # one that has ended may have closed its connections
                if found[1] is not None:
                    raise found[1]
                result: T = found[0]
                return result
            except Apart as e:
                self._begun -= 1
                raise self._asked.difference(self._calls, str(e)) from None
            except HasEnded as e:
                raise self._after(e, what) from None
            except InvalidArgumentError as e:
                self._lose(_first_line(e))
                raise
            except RuntimeError as e:
                raise self._lost(_first_line(e), what) from None

    def _wait(self, done: Any, what: str) -> None:
        """Waits until a call is made.

        Raises: RuntimeError if another process stands still, or does not come; HasEnded if one will not;
          InvalidArgumentError if one waits for something else.
        """
        begun = looked = time.monotonic()
        while not done.acquire(timeout=BEAT / 4):
            if silent := self._attendance.silent():
                raise RuntimeError(silent)
            if (now := time.monotonic()) - looked < BEAT:
                continue  # the coordinator is not asked as often
            looked = now
            self._attendance.check(self.exchanges)
            if lost := self._attendance.given_up():
                raise RuntimeError(lost)
            self._asked.compare_places(self._calls, what)
            if time.monotonic() - begun > patience():
                raise RuntimeError(f"not all processes have asked for it within {patience()} s ({PATIENCE})")

    def _checked(self, call: Callable[[], T], label: str) -> T:
        """Makes a call if all processes are about to make it.

        What processes exchange in different calls could fit together, and so would give wrong numbers. The small sum
        that finds out fails at once if a process is gone, where programs on several devices would hang.
        """
        numbers = np.zeros(self.who.size, np.uint32)
        numbers[self.who.rank] = number = int.from_bytes(hashlib.sha256(label.encode()).digest()[:4], "little")
        if (self._summed(numbers) != number).any():
            raise Apart(label)
        return call()

    def _summed(self, flat: Any) -> Any:
        """Returns the sum of vectors, in the thread that makes the calls."""
        return (self._client or self._make_client(1)).sum(flat)

    def _gathered(self, flat: Any) -> Any:
        """Returns the vectors of all processes, in the thread that makes the calls."""
        return (self._client or self._make_client(1)).gather(flat)

    @exchange
    def tell(self, data: bytes, label: str) -> list[bytes]:
        """Returns what each process tells; all of them must do so at the same point.

        Args:
          data: what this process tells the others.
          label: what that is, for errors and for comparing with other processes.
        Raises: as `with_others`.
        """
        if self.who.size == 1:
            return [data]

        def told() -> list[bytes]:
            sizes = np.zeros(self.who.size, np.uint32)
            sizes[self.who.rank] = len(data)
            sizes = self._summed(sizes)
            words = np.zeros((self.who.size, 1 << (int(sizes.max()) // 4).bit_length()), np.uint32)  # few programs
            rows = words.view(np.uint8)
            rows[self.who.rank, : len(data)] = np.frombuffer(data, np.uint8)
            rows = self._summed(words.reshape(-1)).reshape(words.shape).view(np.uint8)
            return [rows[i, :n].tobytes() for i, n in enumerate(sizes)]

        return self.with_others(told, label, label, checked=True)

    @exchange
    def run(self, program: Callable[[], T], what: str, label: str) -> T:
        """Runs a program on the devices of all processes, which must do so at the same point.

        Args:
          program: runs it.
          what: what it is, for errors.
          label: the same, for comparing with other processes.
        Raises: as `with_others`.
        """
        self.agree(label)
        return self.with_others(program, what, label, checked=True)

    @exchange
    def devices(self, count: int) -> ProcessClient:
        """Returns the client that knows the devices of all processes; every process asks for it at the same point.

        Args:
          count: the number of devices of each process.
        Raises: InvalidArgumentError if processes, or earlier calls, ask for other numbers; otherwise as `with_others`.
        """
        client = self._client
        if client is None or client.count != count:
            if client is not None and self._fixed:
                raise InvalidArgumentError(None, None, f"this process has {client.count} devices in a mesh over all "
                                           f"processes already, and cannot have {count} in another one.\n"
                                           "  Fix: give all sessions the same device_count")
            self.agree(f"a mesh over {self.who.size} processes with {count} devices each")
            client = self.with_others(lambda: self._make_client(count), "a mesh over all processes")
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
        """Compares a text with that of process 0, the first time that it is given; a part of an exchange.

        Args:
          text: what this process is going to do.
          noun: what that is, for errors.
        Raises: InvalidArgumentError if another process is going to do something else; otherwise as `with_others`.
        """
        if self.who.size == 1 or text in self._asked.compared:
            return
        self._check()
        what = f"the {th(self._asked.asked)} {noun} over all processes, {text[:200]},"
        try:
            self._asked.compare(text, noun, self.exchanges)
        except HasEnded as e:
            raise self._after(e, f"a {noun.removeprefix('kind of ')} over all processes") from None
        except RuntimeError as e:
            raise self._lost(_first_line(e), what) from None

    # -- losses ------------------------------------------------------------------------

    def _check(self) -> None:
        if self._broken:
            raise AbortedError(None, None, f"the processes have lost each other: {self._broken}\n"
                               "  Fix: end the program, and start it again from its last checkpoint")

    def _lose(self, why: str) -> None:
        """Gives up: the others' calls, and what is left of this one's, come to an end."""
        self._broken, self._client = why, None  # closes connections, unless a mesh uses them
        if self._fixed:
            self._attendance.give_up(why)

    def _lost(self, why: str, what: str) -> UnavailableError:
        self._lose(why)
        return UnavailableError(None, None, f"process {self.who.rank} of {self.who.size}: {what} failed, since another "
                                f"one is gone or hangs.\n  {why}\n  Fix: see what the other processes say; start again "
                                "from the last checkpoint")

    def _after(self, ended: HasEnded, what: str) -> Exception:
        """Returns what to raise when others have ended their training; those of a cluster go on."""
        if meetings() is not None:
            return ended
        self._attendance.notice()
        self._lose(str(ended))
        fix = ("see the error there" if ", by " in self._broken else "give all processes equally many steps, e.g. with "
               "tf.train.StopAtStepHook(last_step=...), or with data that repeat")
        return UnavailableError(None, None, f"process {self.who.rank} of {self.who.size} asks for {what}, and others "
                                f"have ended.\n  {ended}\n  Fix: {fix}")


def _connected(who: Member) -> Any:
    """Returns a connection to the coordinator, when all processes have one.

    Raises: RuntimeError if they do not come in time.
    """
    until = time.monotonic() + timeout()
    while True:
        made = load("jaxlib._jax").get_distributed_runtime_client(
            who.address, who.rank, init_timeout=max(1, int(until - time.monotonic())), heartbeat_timeout=HEARTBEAT,
            shutdown_timeout=LEAVING, shutdown_on_destruction=False, use_compression=True)
        made.connect()
        try:
            made.key_value_try_get(OVER)
        except RuntimeError:
            return made
        made.shutdown()  # an earlier group's, whose coordinator is about to end
        if time.monotonic() > until:
            raise RuntimeError("the coordinator is an earlier group's, whose first process is gone")
        time.sleep(BEAT)


def _ends_python() -> BaseException | None:
    """Returns the error that ends a program, once it does."""
    return None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:300]
