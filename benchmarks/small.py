"""Measures the smallest programs, with TensorFlow, PyTorch (eager) and NumPy's functions alone beside.

    python -m benchmarks.small [--tensorflow PYTHON] [--torch PYTHON] [--blocks N] [--seconds S]

Every system has a process of its own; they take turns in short blocks. A block counts with its quickest group of
calls, a program with the median of its blocks: what else the machine does should meet neither. A time is that of the
calling thread.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import sys

from .report import number, table
from .systems import Process, interpreters

SCRIPT = "small_worker.py"


def measure(workers, blocks, seconds):
    """Measures all programs.

    Returns: (system, program) -> seconds; and what the tenth call of each gave.
    """
    given = {(s, name): value for s, w in workers.items() for name, value in w.ask("prepare").items()}
    times = {key: [] for key in given}
    for _ in range(blocks):
        for prefix in ("x * 2", "step"):
            for system, name in given:
                if name.startswith(prefix):
                    answer = workers[system].ask("times", name=name, seconds=seconds)
                    times[system, name].append(min(answer["times"]))
    return {key: statistics.median(found) for key, found in times.items()}, given


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small", description=__doc__.splitlines()[0])
    for system in ("tensorflow", "torch"):
        parser.add_argument(f"--{system}", default=os.environ.get(f"GRAPHGRAD_BENCH_{system.upper()}"),
                            metavar="PYTHON", help="an interpreter that has it; none by default")
    parser.add_argument("--blocks", type=int, default=7, help="turns of each program")
    parser.add_argument("--seconds", type=float, default=0.1, help="the length of a turn")
    options = parser.parse_args()
    pythons = interpreters(tensorflow=options.tensorflow, torch=options.torch) | {"numpy": sys.executable}
    with contextlib.ExitStack() as stack:
        workers = {s: stack.enter_context(Process(s, p, script=SCRIPT)) for s, p in pythons.items()}
        times, given = measure(workers, options.blocks, options.seconds)
        versions = {s: w.ask("version")["system"] for s, w in workers.items()}
    references = {"x * 2": ("torch", "x * 2: arrays handed over"), "step": ("torch", "step: by hand")}
    rows = []
    for (system, name), seconds in times.items():
        reference = times.get(references[name.split(":")[0]])
        rows.append([f"{system} {versions[system]}", name, number(seconds, 1e6),
                     f"{seconds / reference:.2f}" if reference else "–", f"{given[system, name]:.6g}"])
    print(table(["system", "program", "µs", "by PyTorch's", "tenth result"], rows, 2))


if __name__ == "__main__":
    main()
