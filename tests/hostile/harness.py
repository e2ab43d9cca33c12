"""Runs hostile inputs in worker processes, and tells which of them fell.

    python -m tests.hostile.harness --kinds bytes,arguments --count 20000 --first 0 --seconds 600 [--limit-bytes]

A worker is killed, and its seed fails, if one input takes more than `--hang` seconds of its processor time or ten times
as long by the clock. A worker that dies by a signal fails its seed and is started anew. With `--limit-bytes`, an input
also fails that takes more than its module's `SECONDS` of processor time (and a second for each ten megabytes that it
holds) or `MEGABYTES` of memory (and twenty bytes for each that it holds). Such an input is measured twice, since the
first call of a kind imports and compiles.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import faulthandler
import importlib
import itertools
import json
import os
import pkgutil
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterable, Iterator
from typing import Any

from tests import ROOT

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = "tests.hostile"
_BYTES_A_SECOND = 10_000_000  # what reading may take for what the input holds
_CLOCK = 10  # by the clock an input may take this much longer than by its processor time
_START = 300.0  # seconds until a worker has imported all it needs


def kinds() -> list[str]:
    """The kinds of input that there are."""
    names = [m.name for m in pkgutil.iter_modules([_HERE])]
    return sorted(n for n in names if n != "harness" and not n.startswith(("_", "test_")))


def quick(kind: str) -> int:
    """How many seeds of a kind `make test` runs."""
    return int(getattr(importlib.import_module(f"{_PACKAGE}.{kind}"), "QUICK", 100))


# -- in a worker -------------------------------------------------------------------------


class _Peak:
    """How much memory a call takes at its peak, beyond what there is before it."""

    def __init__(self) -> None:
        try:
            self.reset = os.open("/proc/self/clear_refs", os.O_WRONLY)
            os.write(self.reset, b"5")
        except OSError:  # elsewhere the highest so far has to serve
            self.reset = -1

    def begin(self) -> None:
        if self.reset >= 0:
            os.write(self.reset, b"5")
        self.before = self._highest()

    def end(self) -> int:
        return self._highest() - self.before

    def _highest(self) -> int:
        if self.reset < 0:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        with open("/proc/self/status", "rb") as file:
            line = next(line for line in file if line.startswith(b"VmHWM"))
        return int(line.split()[1]) * 1024


def _work(kind: str, commands: int, answers: int) -> None:
    """Runs the seeds that come in, one a line, and answers each with what came of it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # die with the parent
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    module: Any = importlib.import_module(f"{_PACKAGE}.{kind}")
    limit = getattr(module, "ADDRESS_SPACE", 6 << 30)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    getattr(module, "prepare", lambda: None)()
    peak = _Peak()
    with open(commands) as seeds, open(answers, "w", buffering=1) as results:
        budget = {"seconds": getattr(module, "SECONDS", 1.0), "megabytes": getattr(module, "MEGABYTES", 200)}
        print(json.dumps(budget), file=results)
        for line in seeds:
            os.ftruncate(2, 0)  # what is printed counts for the seed at hand
            peak.begin()
            begun = time.process_time()
            failure, held = "", 0
            try:
                outcome = module.attack(int(line))
                if not isinstance(outcome, str):
                    outcome, held = outcome
            except BaseException as e:
                outcome = "failed"
                failure = "".join(traceback.format_exception(e)[-6:])[-3000:]
            seconds = time.process_time() - begun
            print(json.dumps({"outcome": outcome, "held": held, "failure": failure, "seconds": seconds,
                              "growth": peak.end()}), file=results)


# -- outside -----------------------------------------------------------------------------


class _Fell(Exception):
    """The worker is gone: of itself, or killed since it did not end."""


class _Worker:
    """A process that runs the seeds of one kind; it is started when first asked, and again after it fell."""

    def __init__(self, kind: str, hang: float):
        self.kind, self.hang = kind, hang
        self.process: Any = None
        self.budget: dict[str, float] = {}

    def _begin(self) -> None:
        seeds, self.commands = os.pipe()
        self.answers, results = os.pipe()
        self.printed = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  # closed with the worker
        self.folder = tempfile.TemporaryDirectory(prefix="graphgrad-hostile-", ignore_cleanup_errors=True)
        inherited = os.environ.get("PYTHONPATH")
        paths = os.pathsep.join([str(ROOT), *([inherited] if inherited else [])])
        env = {**os.environ, "TMPDIR": self.folder.name, "PYTHONPATH": paths}
        work = "import sys; from tests.hostile import harness; harness._work(*eval(sys.argv[1]))"
        command = [sys.executable, "-c", work, repr((self.kind, seeds, results))]
        self.process = subprocess.Popen(command, env=env, pass_fds=(seeds, results), stdin=subprocess.DEVNULL,
                                        stdout=self.printed, stderr=self.printed)
        os.close(seeds)
        os.close(results)
        self.unread = b""
        self.budget = self._answer(_START)

    def ask(self, seed: int) -> dict[str, Any]:
        """What came of a seed; raises _Fell where the worker did, RuntimeError where none can be started."""
        if self.process is None:
            try:
                self._begin()
            except _Fell as e:
                raise RuntimeError(f"no worker can be started: {e}") from None
        os.write(self.commands, b"%d\n" % seed)
        return self._answer(self.hang)

    def _answer(self, limit: float) -> dict[str, Any]:
        begun, used = time.monotonic(), self._used()
        while b"\n" not in self.unread:
            if select.select([self.answers], [], [], 0.2)[0]:
                data = os.read(self.answers, 1 << 16)
                if not data:
                    raise _Fell(self._gone())
                self.unread += data
            elif self._used() - used > limit or time.monotonic() - begun > _CLOCK * limit:
                self.process.send_signal(signal.SIGUSR1)  # faulthandler says where it is
                time.sleep(0.5)
                self.process.kill()
                raise _Fell("hang: it did not end\n" + self._gone())
        line, self.unread = self.unread.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _used(self) -> float:
        """Seconds of processor time that the process has used."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _gone(self) -> str:
        """Waits for the end of the process, and says how it ended and what it printed last."""
        code = self.process.wait()
        how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        self.printed.seek(0)
        text = self.printed.read().strip("\0 \n")
        self.end()
        return f"{how}\n{text[:1500]}" + (f"\n...\n{text[-1500:]}" if len(text) > 1500 else "")

    def end(self) -> None:
        """Ends the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            os.close(self.commands)
            os.close(self.answers)
            self.printed.close()
            self.folder.cleanup()
            self.process = None


class Report:
    """What came of the seeds of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.tally: collections.Counter[str] = collections.Counter()
        self.failures: dict[int, str] = {}
        self.slowest = self.largest = (0.0, 0)  # (seconds or bytes, seed)
        self.seconds = 0.0

    def add(self, seed: int, answer: dict[str, Any]) -> None:
        """Notes a seed's answer."""
        self.tally[answer["outcome"]] += 1
        self.slowest = max(self.slowest, (answer["seconds"], seed))
        self.largest = max(self.largest, (answer["growth"], seed))
        self.seconds += answer["seconds"]
        if answer["failure"]:
            self.failures[seed] = answer["failure"]

    def __str__(self) -> str:
        lines = [f"{self.kind}: {sum(self.tally.values())} inputs, {len(self.failures)} failed; {self.seconds:.0f} s "
                 f"of processor time, at most {self.slowest[0]:.2f} s (seed {self.slowest[1]}) and "
                 f"{self.largest[0] / 1e6:.0f} MB (seed {self.largest[1]})"]
        lines += [f"  {n:8d}  {outcome}" for outcome, n in self.tally.most_common()]
        for seed, failure in sorted(self.failures.items()):
            lines.append(f"  seed {seed}: " + failure.strip().replace("\n", "\n      "))
        return "\n".join(lines)


def _excess(answer: dict[str, Any], budget: dict[str, float]) -> str:
    """What an input took that it may not take; "" if nothing."""
    seconds = budget["seconds"] + answer["held"] / _BYTES_A_SECOND
    growth = budget["megabytes"] * 1e6 + 20 * answer["held"]
    over = [f"{answer['seconds']:.2f} s of processor time, may take {seconds:.2f} s"] * (answer["seconds"] > seconds)
    over += [f"{answer['growth'] / 1e6:.0f} MB, may take {growth / 1e6:.0f} MB"] * (answer["growth"] > growth)
    return "; ".join(over)


def run(kind: str, seeds: Iterable[int], workers: int = 1, seconds: float = float("inf"), hang: float = 30.0,
        limit_bytes: bool = False) -> Report:
    """Runs seeds of a kind.

    Args:
      kind: the name of a module beside this one.
      seeds: the seeds.
      workers: how many processes run them.
      seconds: after this time no further seed is begun.
      hang: seconds of processor time after which an input is said to hang.
      limit_bytes: whether the module's limits of time and memory count.
    """
    report, lock = Report(kind), threading.Lock()
    end = time.monotonic() + seconds
    left: Iterator[int] = itertools.takewhile(lambda _: time.monotonic() < end, iter(seeds))

    def serve() -> None:
        worker = _Worker(kind, hang)
        try:
            while True:
                with lock:
                    seed = next(left, None)
                if seed is None:
                    return
                answer = _asked(worker, seed, limit_bytes)
                with lock:
                    report.add(seed, answer)
        except RuntimeError as e:
            report.failures[seed or 0] = str(e)
        finally:
            worker.end()

    threads = [threading.Thread(target=serve) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return report


def _asked(worker: _Worker, seed: int, limit_bytes: bool) -> dict[str, Any]:
    try:
        answer = worker.ask(seed)
        if limit_bytes and _excess(answer, worker.budget):
            again = worker.ask(seed)
            answer.update({k: min(answer[k], again[k]) for k in ("seconds", "growth")})
            answer["failure"] = answer["failure"] or _excess(answer, worker.budget)
    except _Fell as e:
        return {"outcome": "fell", "failure": str(e), "seconds": 0.0, "growth": 0, "held": 0}
    return answer


def main() -> int:
    """The command; 1 if an input fell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kinds", default=",".join(kinds()), help="which, with commas (default: %(default)s)")
    parser.add_argument("--count", type=int, default=20_000, help="how many seeds of each (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long at most, all kinds together")
    parser.add_argument("--workers", type=int, default=1, help="how many processes (default: %(default)s)")
    parser.add_argument("--hang", type=float, default=30.0, help="seconds of an input's processor time at most")
    parser.add_argument("--limit-bytes", action="store_true", help="hold inputs to their limits of time and memory")
    args = parser.parse_args()
    chosen = args.kinds.split(",")
    failed = False
    for kind in chosen:
        seeds = range(args.first, args.first + args.count)
        report = run(kind, seeds, args.workers, args.seconds / len(chosen), args.hang, args.limit_bytes)
        print(report, flush=True)
        failed |= bool(report.failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
