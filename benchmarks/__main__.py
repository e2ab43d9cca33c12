"""Measures graphgrad, with TensorFlow alongside, and writes docs/benchmarks.md.

    python -m benchmarks [--tensorflow PYTHON] [--models REGEX] [--repetitions N] [--output FILE]

The systems take turns within each repetition, so that what else the machine does meets both.
Every number is a median; each repetition is a fresh process of each system.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from . import report
from .models import MODELS
from .systems import HERE, Failed, Process, interpreters


class Results:
    """What was measured: (model, metric, system) -> values, all in seconds."""

    def __init__(self):
        self.values = defaultdict(list)
        self.failures = {}  # (model, system) -> text
        self.losses = {}  # (model, system) -> (first loss, last loss of the first steps)
        self.versions = {}  # system -> {name: version}
        self.load = (0.0, 0.0)  # the load average before and after

    def add(self, model, metric, system, *values):
        """Keeps values."""
        self.values[model, metric, system].extend(values)

    def median(self, model, metric, system):
        """The median of what was kept, or None."""
        values = self.values.get((model, metric, system))
        return statistics.median(values) if values else None


def measure_model(results, pythons, model, caches, blocks):
    """One repetition of one model: the systems take turns in every phase."""
    with contextlib.ExitStack() as stack:
        workers = {}
        for system, python in pythons.items():
            workers[system] = stack.enter_context(Process(system, python, caches.get(system)))
            results.add("", "import", system, workers[system].import_seconds)

        def everywhere(do, **arguments):
            for system, worker in list(workers.items()):
                try:
                    yield system, worker.ask(do, **arguments)
                except Failed as failure:
                    results.failures[model, system] = f"{do}: {failure}"
                    del workers[system]

        for system, phases in everywhere("build", model=model):
            for phase, measured in phases.items():
                results.add(model, phase, system, *[seconds / ops for seconds, ops in measured if ops])
                results.add(model, f"{phase} ops", system, measured[-1][1])
            results.add(model, "built", system, sum(measured[0][0] for measured in phases.values()))
        for system, answer in everywhere("first"):
            results.add(model, "first", system, answer["initialise"] + answer["first"])
            results.losses[model, system] = [answer["loss"]]
        for system, answer in everywhere("steps", at_most=4, seconds=1e9):  # warm, and the same count everywhere
            results.losses[model, system].append(answer["loss"])
        for _ in range(blocks):
            for system, answer in everywhere("steps"):
                results.add(model, "step", system, *answer["times"])


def measure_second_process(results, python, model, cache):
    """The first run of a later process, which finds the disk cache filled."""
    with Process("graphgrad", python, cache) as worker:
        try:
            worker.ask("build", model=model, repeat=1)
            answer = worker.ask("first")
            results.add(model, "first, cached", "graphgrad", answer["initialise"] + answer["first"])
        except Failed as failure:
            results.failures[model, "graphgrad"] = f"second process: {failure}"


def measure_dispatch(results, pythons, blocks=15):
    """The time of one `Session.run` of the smallest graph."""
    with contextlib.ExitStack() as stack:
        workers = {s: stack.enter_context(Process(s, p)) for s, p in pythons.items()}
        for system, worker in list(workers.items()):
            try:
                worker.ask("dispatch")
                results.versions[system] = worker.ask("version")
            except Failed as failure:
                results.failures["the smallest graph", system] = str(failure)
                del workers[system]
        for _ in range(blocks):
            for system, worker in workers.items():
                results.add("", "dispatch", system, worker.ask("calls")["mean"])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", default=os.environ.get("GRAPHGRAD_BENCH_TF"), metavar="PYTHON",
                        help="an interpreter that has TensorFlow 2.21; default: $GRAPHGRAD_BENCH_TF, or none")
    parser.add_argument("--models", default="", metavar="REGEX", help="only the models whose name matches")
    parser.add_argument("--repetitions", type=int, default=3, help="fresh processes for each model and system")
    parser.add_argument("--blocks", type=int, default=3, help="turns at steps in each repetition")
    parser.add_argument("--no-million", action="store_true", help="leave the graphs of 1,000,000 operations out")
    parser.add_argument("--output", type=Path, default=HERE.parent / "docs" / "benchmarks.md",
                        help="the page to write; '-' for none")
    options = parser.parse_args()
    pythons = interpreters(options.tensorflow)
    models = [m for m in MODELS if re.search(options.models, m)]
    results = Results()
    load_before = os.getloadavg()[0]

    for _ in range(options.repetitions):
        measure_dispatch(results, pythons)
    for model in models:
        for repetition in range(options.repetitions):
            print(f"{model} ({repetition + 1} of {options.repetitions})", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as cache:
                measure_model(results, pythons, model, {"graphgrad": cache}, options.blocks)
                measure_second_process(results, pythons["graphgrad"], model, cache)
    results.load = load_before, os.getloadavg()[0]
    million = []
    if not options.no_million:
        from .million import measure_all

        million = measure_all()
    page = report.page(results, models, list(pythons), million)
    print(page)
    if str(options.output) != "-":
        options.output.write_text(page, encoding="utf-8")
        print(f"written to {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
