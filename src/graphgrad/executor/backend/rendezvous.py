"""How the tasks of a cluster find each other: at the first one's address, by a process that it starts."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from typing import Any

from graphgrad.errors import DeadlineExceededError, InvalidArgumentError, UnavailableError, UnknownError

from . import membership

FEWER = "GRAPHGRAD_FEWER_PROCESSES"
_STEP = 0.2  # seconds between tries to reach the first task


def fewer() -> float | None:
    """Returns after how many seconds processes go on without those that do not come; None for never.

    Raises: ValueError if the environment says something else.
    """
    given = os.environ.get(FEWER, "")
    if not given:
        return None
    try:
        return max(0.0, float(given))
    except ValueError:
        raise ValueError(f"{FEWER}={given!r} is no number of seconds. Fix: {FEWER}=15") from None


def split(address: str) -> tuple[str, int]:
    """Returns the numbers of host and port.

    Raises: InvalidArgumentError if there is no such host, or no port.
    """
    host, _, port = address.rpartition(":")
    try:
        return socket.gethostbyname(host or "127.0.0.1"), int(port)
    except (OSError, ValueError) as e:
        raise InvalidArgumentError(None, None, f"{address!r} is no address of a task: {e}. Fix: HOST:PORT") from None


def start(address: str, size: int, cluster: str) -> subprocess.Popen[bytes]:
    """Starts the process in which tasks find each other; it ends when all of them have.

    Args:
      address: host and port to listen at.
      size: the number of workers.
      cluster: a digest of the cluster's description.
    Raises: UnknownError if the port is taken by something else.
    """
    host, port = split(address)
    program = os.path.join(os.path.dirname(__file__), "rendezvous_process.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    # Not a child in this one's group: Ctrl-C ends the tasks, whose ends it waits for.
    made = subprocess.Popen([sys.executable, program, host, str(port), str(size), cluster], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, start_new_session=True)
    assert made.stdout is not None
    with made.stdout:
        said = made.stdout.readline().decode().strip()
    if not said.isdigit():
        made.wait()
        with contextlib.suppress(UnavailableError, DeadlineExceededError):
            Meeting(address, "probe", 0, cluster, 1.0)._end()  # one that waits for this task to come back
            return made
        raise UnknownError(None, None, f"Could not start gRPC server: {address}: {said or 'it ended'}. "
                           "Fix: give each task a port of its own that is free")
    return made


class Meeting:
    """A task's connection to where the tasks find each other; its end tells the others that the task has ended.

    Args:
      address: the first task's.
      kind: "worker" or "ps"; or "probe", to see that it is the right cluster.
      task: the number among those of its kind.
      cluster: a digest of the cluster's description.
      limit: how many seconds to try to reach the first task.
    Raises: DeadlineExceededError if the first task cannot be reached in time; InvalidArgumentError if its cluster is
      another one.
    """

    def __init__(self, address: str, kind: str, task: int, cluster: str, limit: float):
        until = time.monotonic() + limit
        host, port = split(address)
        while True:
            try:
                self._socket = socket.create_connection((host, port), timeout=max(_STEP, until - time.monotonic()))
                break
            except OSError as e:
                if time.monotonic() >= until:
                    raise DeadlineExceededError(
                        None, None, f"the first task did not answer at {address} within {limit:.0f} s: {e}. Fix: start "
                        f"all tasks, or allow more time: {membership.TIMEOUT}=300") from None
            time.sleep(_STEP)
        self._socket.settimeout(None)
        self.is_lost = False  # whether the first task's process is gone
        self._file = self._socket.makefile("rw", encoding="utf-8")
        self._what = {"come": kind, "task": task, "cluster": cluster}
        if kind != "ps":
            try:
                self._ask(self._what)
            except (InvalidArgumentError, UnavailableError):
                self._end()
                raise
        if kind == "worker":
            atexit.register(self.close)

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            self._file.write(json.dumps(message) + "\n")
            self._file.flush()
            line = self._file.readline()
        except (OSError, ValueError):
            line = ""
        if not line:
            self.is_lost = True
            raise UnavailableError(None, None, "the connection to the first task of the cluster has ended. Fix: start "
                                   "the tasks again; a MonitoredTrainingSession goes on from its last checkpoint")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            if "lost" in answer:
                raise UnavailableError(None, None, f"the tasks of the cluster do not go on: {answer['error']}. Fix: "
                                       "start those again; a MonitoredTrainingSession goes on from its last "
                                       "checkpoint")
            kind = DeadlineExceededError if "missing" in answer else InvalidArgumentError
            fix = f". Fix: start them, or allow more time: {membership.TIMEOUT}=300" if "missing" in answer else ""
            raise kind(None, None, f"the tasks of the cluster do not come together: {answer['error']}{fix}")
        return answer

    def wait_for_workers(self) -> None:
        """Waits, as a parameter server, until all workers have come, and have ended."""
        with contextlib.suppress(UnavailableError):
            self._ask(self._what)
        self._end()

    def meet(self, limit: float, why: str = "begin") -> membership.Member:
        """Waits for the other workers; returns which one this is among those that came.

        Args:
          limit: how many seconds to wait.
          why: to "begin", "again" after a loss, or to go "on" after some have ended their training.
        Raises: DeadlineExceededError if they do not come in time; UnavailableError if the first task is gone, or
          another one while some go on.
        """
        found = self._ask({"meet": limit, "fewer": fewer(), "why": why})
        rank, size = int(found["rank"]), int(found["size"])
        return membership.Member(rank, size, rank, size, found["address"])

    def part(self) -> None:
        """Says that this task has ended its training; it may begin another one."""
        with contextlib.suppress(UnavailableError):
            self._ask({"part": True})

    def close(self) -> None:
        """Says goodbye."""
        atexit.unregister(self.close)
        with contextlib.suppress(UnavailableError, OSError, ValueError):
            self._ask({"bye": True})
        self._end()

    def _end(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._file.close()
        self._socket.close()
