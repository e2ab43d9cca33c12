"""What a data-parallel step of two processes costs beside its work and its collective.

    python -m benchmarks.scale.overhead [--repeat 15] [--seconds 0.5] [--page docs/inside/scale.md] [models ...]

Two processes with a core each take half of the batch each, by Horovod's names. In turns, many times, they make some
steps of each kind: without an exchange, with it, and the exchange alone, of the same bytes as one vector. The overhead
is (with - alone) / without - 1. A third process with both cores takes the whole batch. A kind's time in a turn is the
median of its steps, in the slower process; of all turns the median counts, and the overhead is that of each turn. The
processor's time, of all threads of the busier process, is less disturbed by other programs; it has no waits.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.models import MODELS
from graphgrad.executor.backend.coordinator_service import CoordinatorService

ROOT = Path(__file__).parents[2]
PAIR = ("half", "parallel", "collective")
_START, _END = "<!-- overhead: begin, written by `python -m benchmarks.scale.overhead` -->", "<!-- overhead: end -->"


class _Worker:
    """A process that measures."""

    def __init__(self, cores: str, told: dict[str, str]):
        environment = {**os.environ, **told, "GRAPHGRAD_FIRST_RUN": "xla",
                       "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        self.process = subprocess.Popen([sys.executable, str(ROOT / "benchmarks/scale/overhead_worker.py"), cores],
                                        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **what: Any) -> None:
        """Asks for something."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Waits for the answer."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                if "error" in found:
                    raise RuntimeError(found["error"])
                return found
        raise RuntimeError("a process has ended")

    def end(self) -> None:
        """Ends it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


class Found(NamedTuple):
    """What was measured of a model, in seconds, turn by turn.

    Attributes:
      model: its name.
      exchanged: bytes.
      times, processor: kind -> the time of each turn, and the processor's.
    """

    model: str
    exchanged: int
    times: dict[str, list[float]]
    processor: dict[str, list[float]]

    def overheads(self, processor: bool = False) -> list[float]:
        """Returns the overhead in each turn, sorted."""
        times = self.processor if processor else self.times
        return sorted((p - c) / h - 1 for h, p, c in zip(*(times[kind] for kind in PAIR), strict=True))

    def row(self) -> str:
        """Returns the row of the table."""
        middle = {kind: 1e3 * statistics.median(times) for kind, times in self.times.items()}
        overheads = self.overheads()
        n = len(overheads)
        return (f"| {self.model} | {self.exchanged:,} | {middle['whole']:.3g} | {middle['half']:.3g} | "
                f"{middle['parallel']:.3g} | {middle['collective']:.3g} | {100 * statistics.median(overheads):.0f} % | "
                f"{100 * overheads[n // 4]:.0f} to {100 * overheads[-1 - n // 4]:.0f} % | "
                f"{100 * statistics.median(self.overheads(True)):.0f} % | "
                f"{middle['whole'] / middle['parallel']:.2f} |")


HEAD = ("| model | bytes | whole batch, 2 cores, ms | half, 1 core, ms | data-parallel step, ms | "
        "collective alone, ms | overhead | its quartiles | of processor time | whole : data-parallel |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")


def measure(name: str, pair: list[_Worker], whole: _Worker, repeat: int, seconds: float, small: bool) -> Found:
    """Measures a model.

    Args:
      name: the model.
      pair: the two processes with half of the batch.
      whole: the one with all of it.
      repeat: how many turns.
      seconds: about how long a kind has in each.
      small: whether the model is one for tests.
    """
    times: dict[str, list[float]] = {kind: [] for kind in (*PAIR, "whole")}
    processor: dict[str, list[float]] = {kind: [] for kind in times}
    exchanged = 0
    for workers in (pair, [whole]):
        for worker in workers:
            worker.ask(do="build", name=name, small=small)
        exchanged = max(exchanged, *(worker.answer()["exchanged"] for worker in workers), 0)
    counts = dict.fromkeys(times, 3)
    for turn in range(repeat + 1):  # the first one says how many steps fit
        for kind in times:
            workers = [whole] if kind == "whole" else pair
            for worker in workers:
                worker.ask(do="run", what=kind, count=counts[kind])
            answers = [worker.answer() for worker in workers]
            taken = max(statistics.median(answer["times"]) for answer in answers)
            if turn:
                times[kind].append(taken)
                processor[kind].append(max(answer["processor"] for answer in answers))
            else:
                counts[kind] = max(3, min(2000, int(seconds / taken)))
    return Found(name, exchanged, times, processor)


def main() -> None:
    """Measures, prints the table, and writes it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--small", action="store_true", help="the sizes of the tests")
    parser.add_argument("--page", type=Path, help="a page with the marks of this table")
    options = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    service = CoordinatorService(address, 2)
    cores = sorted(os.sched_getaffinity(0))[:2] if hasattr(os, "sched_getaffinity") else [0, 1]
    pair = [_Worker(str(cores[i]), {"GRAPHGRAD_COORDINATOR": address, "GRAPHGRAD_PROCESS": str(i),
                                    "GRAPHGRAD_PROCESSES": "2", "TF_CPP_MIN_LOG_LEVEL": "3"}) for i in (0, 1)]
    whole = _Worker(",".join(map(str, cores)), {})
    rows = []
    print(HEAD, flush=True)
    for name in options.models or [name for name in MODELS if name != "smallest graph"]:  # it has no gradients
        found = measure(name, pair, whole, options.repeat, options.seconds, options.small)
        rows.append(found.row())
        print(rows[-1], flush=True)
    for worker in (*pair, whole):
        worker.end()
    service.close()
    if options.page:
        before, _, rest = options.page.read_text(encoding="utf-8").partition(_START)
        table = "\n".join([HEAD, *rows])
        options.page.write_text(f"{before}{_START}\n\n{table}\n\n{_END}{rest.partition(_END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
