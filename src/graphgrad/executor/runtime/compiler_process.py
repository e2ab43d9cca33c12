"""A process of its own that compiles clusters while this one goes on in NumPy.

It starts when a plan recurs, gets clusters with the outlines of their values, lowers and compiles them as this process
would (`Stage.entries`), and leaves them in the disk cache, or sends them where there is none. So neither
JAX's import nor tracing takes Python's lock here, nothing remains to be waited for when the program ends, and what goes
wrong in the compiler does not end the program: what has not arrived is compiled here.

A record in the disk cache lists the programs of such a request. While all of them are there, the next process with the
same request starts none.
"""

from __future__ import annotations

import atexit
import os
import pickle
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from graphgrad.executor.backend import cache, disk_cache, memory_budget, shipped, xla_options
from graphgrad.executor.plan.stages import Stage, grouped
from graphgrad.executor.program.fingerprint import digest, form_of
from graphgrad.executor.program.plan_types import Cluster, HostStep, Plan
from graphgrad.executor.program.portable import packed
from graphgrad.system.cores import CORES
from graphgrad.system.log import Log

from .outlines import Outlines, blank

_log = Log("graphgrad")

_IDLE = 20.0  # seconds without work after which the process ends
_CHECK = 2.0  # seconds after which it looks whether its parent is alive
_STUCK = 20.0  # seconds without any processor time after which a process that is waited for is given up
_ROOM = 1 << 30  # bytes of memory without which it is not started


class Job:
    """The clusters of a plan, on their way to the compiler.

    Args:
      compiler: the compiler.

    Attributes:
      record: the key of the record of its programs, or None.
    """

    record: str | None = None

    def __init__(self, compiler: _Compiler) -> None:
        self._compiler = compiler
        self._done = threading.Event()
        self._owner = os.getpid()

    def finish(self) -> None:
        """Notes that the compiler is through with it, or is gone."""
        self._done.set()

    def wait(self) -> None:
        """Waits until the compiler is through with it, or stands still; in a forked process, which nobody would tell,
        not at all."""
        if self._owner != os.getpid() or self._done.is_set():
            return
        used, since = self._compiler.used(), time.monotonic()
        while not self._done.wait(min(_CHECK, _STUCK)):
            before, used = used, self._compiler.used()
            if used != before:
                since = time.monotonic()
            elif time.monotonic() - since > _STUCK:
                self._compiler.give_up()
                return


class _Compiler:
    """A process that compiles, as its parent sees it."""

    def __init__(self) -> None:
        import subprocess

        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        flags = ["-O"] * sys.flags.optimize
        self._process = subprocess.Popen(
            [sys.executable, *flags, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=shipped.as_environment(),
            process_group=0)  # the terminal's interrupts are for this process
        self._jobs: dict[int, Job] = {}
        self._lock = threading.Lock()
        self._number = 0
        self.owner = os.getpid()
        threading.Thread(target=self._listen, name="graphgrad-compiled", daemon=True).start()

    def send(self, payload: bytes) -> Job:
        """Sends clusters; returns at once."""
        job = Job(self)
        self._number += 1
        self._jobs[self._number] = job
        message = pickle.dumps((self._number, not disk_cache.enabled(), payload), pickle.HIGHEST_PROTOCOL)
        threading.Thread(target=self._write, args=(message, job), name="graphgrad-sent", daemon=True).start()
        return job

    def _write(self, message: bytes, job: Job) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            with self._lock:
                stdin.write(len(message).to_bytes(8, "little") + message)
                stdin.flush()
        except (OSError, ValueError):  # it has ended
            job.finish()

    def _listen(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            while True:
                kind, *rest = pickle.load(stdout)
                if kind == "done":
                    number, programs = rest
                    job = self._jobs.pop(number)
                    if programs and job.record is not None:
                        disk_cache.write(job.record, {"programs": programs}, b"")
                    job.finish()
                else:
                    key, header, code = rest
                    cache.received[key] = header, code
        except Exception:  # its end, or half a message
            self.gone = True
        self._process.kill()
        self._process.wait()
        for job in list(self._jobs.values()):
            job.finish()

    gone = False

    def used(self) -> float:
        """Returns the seconds of processor time that the process has used; the time where the system does not say."""
        try:
            with open(f"/proc/{self._process.pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            return time.monotonic() // (10 * _STUCK)
        return float(int(fields[11]) + int(fields[12]))

    def give_up(self) -> None:
        """Ends a process that does nothing, as one that somebody has stopped: what it has is compiled here."""
        _log.warning("The process that compiles programs has done nothing for %g seconds and is ended; this one "
                        "compiles them", _STUCK)
        self.gone = True
        self._process.kill()

    def close(self) -> None:
        """Ends the process, unless it is that of the process from which this one was forked."""
        if self.owner == os.getpid():
            self.gone = True
            self._process.kill()
            self._process.wait()


_the_compiler: list[_Compiler] = []


def request(plan: Plan, outlines: Outlines) -> Job | None:
    """Lets another process compile the clusters of a plan; None if it cannot.

    Args:
      plan: the plan.
      outlines: what its programs are compiled for.
    """
    if not _can_start() or memory_budget.available() < _ROOM:
        return None
    stages = [g for g in grouped(plan) if not isinstance(g, HostStep)]
    try:
        record = _record(stages, outlines) if disk_cache.enabled() else None
        if record is not None and (found := disk_cache.read(record)) and cache.are_stored(found[0]["programs"]):
            return None
        payload = packed((stages, outlines.values))
        compiler = _the_compiler[-1] if _the_compiler else None
        if compiler is None or compiler.gone or compiler.owner != os.getpid():
            compiler = _Compiler()
            _the_compiler[:] = [compiler]
            atexit.register(compiler.close)
        job = compiler.send(payload)
        job.record = record
        return job
    except Exception:  # what is this process's own cannot be sent; a process may be forbidden
        return None


def _record(stages: Sequence[Sequence[Cluster]], outlines: Outlines) -> str | None:
    """Returns a key for the clusters of a plan and what they are compiled for; None if others cannot share them."""
    clusters = [c for stage in stages for c in stage]
    if not all(form_of(c).portable for c in clusters):
        return None
    said = [(form_of(c).text, c.device, c.split is not None,
             [outlines.described(s) for s in (*c.ins, *c.shapes, *c.known)]) for c in clusters]
    surroundings = disk_cache.surroundings("cpu", "", xla_options.RULE)
    return digest("record", [len(stage) for stage in stages], said, surroundings, str(CORES))


def _can_start() -> bool:
    """Returns whether another process of this interpreter can be started: not in frozen or embedding programs."""
    name = os.path.basename(sys.executable or "").lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def serve() -> None:
    """Compiles what arrives at the standard input, until its writer is gone."""
    import gc
    import select

    gc.disable()  # imports and traces make little garbage; it is collected when nobody waits
    parent = os.getppid()
    source, answers = os.fdopen(0, "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    from graphgrad.executor.backend import xla

    device = xla.device()
    cache.for_others.set()
    lock = threading.Lock()

    def answer(*message: Any) -> None:
        with lock:
            pickle.dump(message, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()

    idle = 0.0
    while idle < _IDLE and os.getppid() == parent:
        if not select.select([source], [], [], _CHECK)[0]:
            idle += _CHECK
            continue
        idle = 0.0
        message = _whole(source, int.from_bytes(_whole(source, 8), "little"))
        if not message:
            break
        number, wanted, payload = pickle.loads(message)
        cache.keepers[1:] = [lambda *entry: answer("entry", *entry)] if wanted else []
        answer("done", number, _compile(device, payload))
        gc.collect()
    os._exit(0)  # no thread of XLA's is waited for


def _whole(source: Any, size: int) -> bytes:
    """Returns the next bytes, fewer where there are no more."""
    parts, left = [], size
    while left and (part := source.read(min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _compile(device: Any, payload: bytes) -> list[str]:
    """Compiles clusters; returns the keys of their programs, none if something went wrong."""
    keys: list[str] = []
    cache.noted[:] = [keys]
    try:
        stages, outlines = pickle.loads(payload)
        slots = {slot: blank(value) for slot, value in outlines.items()}
        made = []
        for clusters in stages:
            made += Stage(clusters, set(), set()).entries(device, slots)
        for _, entry, _ in made:
            entry.program()
    except Exception:  # the other process, which needs it, will find out
        return []
    return list(dict.fromkeys(keys))
