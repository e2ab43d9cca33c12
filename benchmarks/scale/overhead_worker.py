"""Measures steps in one process, as told by JSON lines on its standard input; one answer a line.

    python benchmarks/scale/overhead_worker.py CORES

CORES are the numbers of the processor's cores to stay on, with commas. The environment says whether there are others.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

if __name__ == "__main__" and hasattr(os, "sched_setaffinity"):  # before the engine counts cores
    os.sched_setaffinity(0, [int(core) for core in sys.argv[1].split(",")])

import numpy as np

from benchmarks.scale.trainings import Training, make, part
from graphgrad.executor.backend import process_group

PARTS = 2


class Measured:
    """What this process can measure: "whole" alone; "half", "parallel" and "collective" with another process."""

    def __init__(self) -> None:
        self.group = process_group.group()
        self.steps: dict[str, Callable[[], Any]] = {}

    def build(self, name: str, small: bool) -> dict[str, Any]:
        """Builds the trainings of a model, and makes some steps of each.

        Args:
          name: the model.
          small: whether it is one for tests.
        """
        model = make(name, small)
        self.steps.clear()
        if self.group.who.size == 1:
            self.steps["whole"] = Training(name, model, "whole", 1).step
            exchanged = 0
        else:
            half = part(model, PARTS, self.group.who.rank)
            parallel = Training(name, model, "horovod", PARTS, reduced=False)
            self.steps |= {"half": Training(name, half, "whole", 1).step, "parallel": parallel.step}
            exchanged = parallel.exchanged
            flat = np.ones(max(1, exchanged // 4), np.float32)
            self.steps["collective"] = lambda: self.group._sum(flat)
        for step in self.steps.values():
            for _ in range(5):
                step()
        return {"exchanged": exchanged}

    def run(self, what: str, count: int) -> dict[str, Any]:
        """Makes steps; returns the seconds that each took, and the processor's for one.

        Args:
          what: of which kind.
          count: how many.
        """
        if self.group.who.size > 1:
            self.group._sum(np.zeros(1, np.float32))  # all begin together
        step, times, before = self.steps[what], [], time.process_time()
        for _ in range(count):
            begun = time.perf_counter()
            step()
            times.append(time.perf_counter() - begun)
        return {"times": times, "processor": (time.process_time() - before) / count}


def main() -> None:
    """Answers until the standard input ends."""
    measured = Measured()
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = getattr(measured, asked.pop("do"))(**asked)
        except Exception as e:
            traceback.print_exc()
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
