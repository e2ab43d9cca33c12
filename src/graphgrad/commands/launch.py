"""`graphgrad launch`: starts processes that compute together, and waits for them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

_GRACE = 10.0  # seconds that the others get to end by themselves once one has failed
_FEWER = "GRAPHGRAD_FEWER_PROCESSES"  # set where the others are to go on
_LAST = 3.0  # seconds between a request to end and the end


def launch(command: Sequence[str], count: int, coordinator: str | None, process: int, processes: int | None) -> int:
    """Starts the processes of this machine, and passes on what they print, with their numbers in front.

    Args:
      command: the command of each process.
      count: how many to start here.
      coordinator: host and port of the coordinator; a free port of this machine, for this machine alone, if not given.
      process: the number of the first process here; process 0's machine runs the coordinator.
      processes: the number of processes on all machines; `count` if not given.
    Returns: 0 if all end with 0; else the status of the first one that did not; 130 after Ctrl-C.
    """
    from graphgrad.executor.backend.coordinator_service import CoordinatorService

    total = processes or count
    address = coordinator or f"127.0.0.1:{_free_ports(1)[0]}"
    service = None
    if process == 0:
        try:
            service = CoordinatorService(address, total)
        except RuntimeError as error:
            print(f"graphgrad: no coordinator can listen at {address}: {str(error).splitlines()[0]}", file=sys.stderr)
            return 2
    workers: list[_Worker] = []
    try:
        for i in range(count):
            told = {"GRAPHGRAD_COORDINATOR": address, "GRAPHGRAD_PROCESS": str(process + i),
                    "GRAPHGRAD_PROCESSES": str(total), "GRAPHGRAD_LOCAL_PROCESS": str(i),
                    "GRAPHGRAD_LOCAL_PROCESSES": str(count)}
            workers.append(_Worker(command, str(process + i), told))
        return _wait(workers)
    except KeyboardInterrupt:
        _end(workers, signal.SIGINT)
        return 130
    finally:
        _end(workers, signal.SIGTERM)
        if service is not None:
            service.close()


def launch_tasks(command: Sequence[str], workers: int, servers: int) -> int:
    """Starts the tasks of a cluster on this machine, each with the flags that programs of TensorFlow 1 have.

    Args:
      command: the command of each task, to which its flags are added.
      workers, servers: how many workers and parameter servers to start.
    Returns: as `launch`.
    """
    ports = _free_ports(workers + servers)
    addresses = [f"127.0.0.1:{port}" for port in ports]
    cluster = {"ps": addresses[:servers], "worker": addresses[servers:]}
    hosts = [f"--ps_hosts={','.join(cluster['ps'])}", f"--worker_hosts={','.join(cluster['worker'])}"]
    started: list[_Worker] = []
    try:
        for job, tasks in cluster.items():
            for i in range(len(tasks)):
                flags = [*hosts, f"--job_name={job}", f"--task_index={i}"]
                told = {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": job, "index": i}})}
                started.append(_Worker([*command, *flags], f"{job} {i}", told))
        return _wait(started)
    except KeyboardInterrupt:
        _end(started, signal.SIGINT)
        return 130
    finally:
        _end(started, signal.SIGTERM)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in found]


class _Worker:
    """One process.

    Args:
      command: its command.
      name: what stands in front of what it prints.
      told: what its environment says besides.
    """

    def __init__(self, command: Sequence[str], name: str, told: Mapping[str, str]):
        self.name = name
        environment = {**os.environ, **told, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self._readers = [threading.Thread(target=self._pass_on, args=pipes, daemon=True)
                         for pipes in ((self.process.stdout, sys.stdout), (self.process.stderr, sys.stderr))]
        for reader in self._readers:
            reader.start()

    def _pass_on(self, source: IO[bytes], target: Any) -> None:
        greetings = _Greetings()
        for line in source:
            text = line.decode(errors="replace").rstrip("\n")
            if greetings.has(text):
                continue
            with _printing, contextlib.suppress(BrokenPipeError):
                print(f"[{self.name}] {text}", file=target, flush=True)

    def status(self) -> int | None:
        """Returns the exit status, as shells count it; None while it runs."""
        code = self.process.poll()
        return code if code is None or code >= 0 else 128 - code

    def finish(self) -> None:
        """Waits until everything that it printed is passed on."""
        for reader in self._readers:
            reader.join(_LAST)


class _Greetings:
    """Tells what the engine says about its connections from what a program prints; its threads may say it at once."""

    _WORDS = re.compile(r"\[Gloo\] Rank | is connected to | peer ranks\. |"
                        r"Expected number of connected peer ranks is : ")

    def __init__(self) -> None:
        self._open = 0  # begun, and not at the end of their lines

    def has(self, line: str) -> bool:
        """Returns whether a line consists of such words, or of numbers that are left of such."""
        rest = self._WORDS.sub("", line)
        if (rest == line and not self._open) or rest.strip(" 0123456789"):
            return False
        self._open = max(0, self._open + line.count("[Gloo] Rank ") - 1)
        return True


_printing = threading.Lock()


def _wait(workers: Sequence[_Worker]) -> int:
    """Waits for all processes; once one has failed, the others get some time to notice, and are then ended.

    So are those that stand still when all others have ended.
    """
    failed, deadline, going = 0, None, time.monotonic()
    while left := [w for w in workers if w.status() is None]:
        if len(left) == len(workers) or not all(_is_stopped(w.process.pid) for w in left):
            going = time.monotonic()
        elif time.monotonic() - going > _GRACE:
            print(f"graphgrad: process {left[0].name} is stopped, and those that are not have ended", file=sys.stderr)
            _end(workers, signal.SIGKILL)
        if not failed:
            failed = _failed(workers)
            deadline = time.monotonic() + _GRACE if failed and not os.environ.get(_FEWER) else None
        if deadline is not None and time.monotonic() > deadline:
            _end(workers, signal.SIGTERM)
        time.sleep(0.02)
    for worker in workers:
        worker.finish()
    return failed or _failed(workers)


def _is_stopped(pid: int) -> bool:
    """Returns whether a process is stopped by a signal; False where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


def _failed(workers: Sequence[_Worker]) -> int:
    for worker in workers:
        status = worker.status()
        if status:
            how = f" (signal {status - 128})" if status > 128 else ""
            print(f"graphgrad: process {worker.name} ended with status {status}{how}", file=sys.stderr)
            return status
    return 0


def _end(workers: Sequence[_Worker], number: signal.Signals) -> None:
    """Ends the processes that still run: asks them first, and does not wait for long."""
    left = [w for w in workers if w.status() is None]
    for worker in left:
        with contextlib.suppress(ProcessLookupError):
            worker.process.send_signal(number)
    deadline = time.monotonic() + _LAST
    for worker in left:
        try:
            worker.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
