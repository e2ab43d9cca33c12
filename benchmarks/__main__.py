"""Measures graphgrad beside TensorFlow (graph mode), JAX (`jit`), PyTorch (eager); writes docs/inside/benchmarks.md.

    python -m benchmarks [--tensorflow PYTHON] [--jax PYTHON] [--torch PYTHON] [--models REGEX] [--systems NAMES]
                         [--cores NUMBERS] [--gpu] [--repetitions N] [--quick] [--output FILE]

The systems take turns within each repetition, so that what else the machine does meets all of them. Every number is a
median over repetitions, each of which is a fresh process of each system.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from . import imports, report
from .models import MODELS
from .results import Results, disagreement
from .systems import CACHED, HERE, NAMES, Failed, Process, cores, interpreters

ONCE = 10  # what takes more seconds from a cold start to the second result is not started cold again


class Comparison:
    """The measurements of one model in one setting.

    Args:
      results: what they are added to.
      setting: the number of cores.
      model: a key of `MODELS`.
      pythons: system -> interpreter.
      folder: a folder of its own, for the systems' caches.
    """

    def __init__(self, results: Results, setting: int, model: str, pythons: dict[str, str], folder: str):
        self.results, self.setting, self.model, self.folder = results, setting, model, Path(folder)
        self.pythons = dict(pythons)
        self.repetitions = 0

    def add(self, metric, system, *values):
        """Keeps values."""
        self.results.add(self.setting, self.model, metric, system, *values)

    def each(self, systems, call):
        """Calls `call(system)` for each; (system, result) of those that did not fail. What failed is out."""
        for system in list(systems):
            if system in self.pythons:
                try:
                    yield system, call(system)
                except Failed as failure:
                    self.results.fail(self.setting, self.model, system, str(failure))
                    del self.pythons[system]

    def start(self, stack, systems):
        """Starts processes, has the model built and run for the first times: one system after the other.

        Not step by step in turns, since graphgrad compiles on while it is not asked for anything.

        Another one begins in each repetition: the first may get memory that the machine has to find first.

        Returns: system -> process; system -> the losses of its first two steps.
        """
        workers, losses = {}, {}
        systems = list(systems)
        first = self.repetitions % max(len(systems), 1)
        systems = systems[first:] + systems[:first]
        for system, (worker, found) in self.each(systems, lambda s: self._begin(stack, s)):
            workers[system], losses[system] = worker, found
        return workers, losses

    def _begin(self, stack, system):
        """Measures what a user of a system waits for, from the start to the hundredth step."""
        folder = self.folder / system
        kind = ", cached" if folder.exists() else ""
        worker = stack.enter_context(Process(system, self.pythons[system], cores()[-self.setting :], str(folder)))
        waited = worker.import_seconds
        self.add("import", system, waited)
        for phase, (seconds, operations) in worker.ask("build", model=self.model).items():
            self.add(phase, system, seconds)
            self.add(f"{phase} operations", system, operations)
            waited += seconds
        first = worker.ask("first")
        self.add(f"first{kind}", system, first["seconds"])
        waited += first["seconds"]
        self.add(f"first result{kind}", system, waited)
        second = worker.ask("steps", at_most=1, seconds=0.0)
        waited += second["times"][0]
        self.add(f"second result{kind}", system, waited)
        eight = worker.ask("run", count=8)["seconds"]
        waited += eight
        self.add(f"tenth result{kind}", system, waited)
        one = worker.ask("run", count=1)["seconds"]
        if min(one, eight / 8) * 90 <= ONCE:  # one of them may have waited for a compiler
            self.add(f"hundredth result{kind}", system, waited + one + worker.ask("run", count=89)["seconds"])
        worker.ask("settle")
        if system in CACHED:
            folder.mkdir(exist_ok=True)
        return worker, [first["loss"], second["losses"][0]]

    def repetition(self, blocks, seconds):
        """One repetition: first runs, cold unless that is known to take long; steps; first runs of later processes."""
        for system in CACHED:
            if (self.results.median(self.setting, self.model, "second result", system) or 0) <= ONCE:
                shutil.rmtree(self.folder / system, ignore_errors=True)
        with contextlib.ExitStack() as stack:
            workers, losses = self.start(stack, self.pythons)
            for system, text in disagreement({s: losses[s] for s in self.pythons if len(losses[s]) == 2}).items():
                self.results.fail(self.setting, self.model, system, text)
                self.pythons.pop(system)
            for _ in range(blocks):
                for system, answer in self.each(workers, lambda s: workers[s].ask("steps", seconds=seconds)):
                    self.add("step", system, *answer["times"])
            for system, answer in self.each(workers, lambda s: workers[s].ask("memory")):
                self.add("process", system, answer["peak"])
                if answer["peak"] is not None:
                    self.add("growth", system, answer["peak"] - answer["before"])
                self.add("alive", system, answer["alive"])
        with contextlib.ExitStack() as stack:
            self.start(stack, [s for s in CACHED if s in self.pythons])
        self.repetitions += 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    for system in ("tensorflow", "jax", "torch"):
        variable = f"GRAPHGRAD_BENCH_{system.upper()}"
        default = os.environ.get(variable) or (sys.executable if system == "jax" else None)
        parser.add_argument(f"--{system}", default=default, metavar="PYTHON",
                            help=f"an interpreter that has {NAMES[system]}; default: ${variable}, or "
                                 + ("this one" if system == "jax" else "none"))
    parser.add_argument("--models", default="", metavar="REGEX", help="only the models whose name matches")
    parser.add_argument("--systems", default=",".join(NAMES), metavar="NAMES", help="only these, with commas")
    parser.add_argument("--cores", default="", metavar="NUMBERS", help="how many, with commas; default: 1 and all")
    parser.add_argument("--gpu", action="store_true", help="on a GPU, for docs/inside/benchmarks-gpu.md")
    parser.add_argument("--repetitions", type=int, default=3, help="fresh processes for each model and system")
    parser.add_argument("--blocks", type=int, default=2, help="turns at steps in each repetition")
    parser.add_argument("--quick", action="store_true", help="once, few steps, no page: does everything run?")
    parser.add_argument("--no-million", action="store_true", help="leave the graphs of 1,000,000 operations out")
    parser.add_argument("--output", type=Path, help="the page to write; '-' for none")
    options = parser.parse_args()
    if options.gpu:
        os.environ["GRAPHGRAD_BENCH_DEVICE"] = "gpu"
        options.cores, options.no_million = str(len(cores())), True
    if options.output is None:
        name = "benchmarks-gpu.md" if options.gpu else "benchmarks.md"
        options.output = HERE.parent / "docs" / "inside" / name
    if options.quick:
        options.repetitions, options.blocks, options.no_million, options.output = 1, 1, True, Path("-")
    return options


def main() -> None:
    """The command."""
    options = _options()
    chosen = options.systems.split(",")
    peers = {s: getattr(options, s) for s in NAMES if s != "graphgrad" and s in chosen}
    pythons = interpreters(**peers)
    here = len(cores())
    default = {1, here} if here else {os.cpu_count()}  # where processes cannot be kept on a core there is one setting
    settings = sorted({int(n) for n in options.cores.split(",")} if options.cores else default)
    models = [m for m in MODELS if re.search(options.models, m)]
    results = Results()
    for system, python in pythons.items():  # and nobody's files are read for the first time when it counts
        with Process(system, python) as worker:
            results.versions[system] = worker.ask("version")
    load_before, begin = os.getloadavg()[0], time.monotonic()
    results.imports = imports.measure(1 if options.quick or options.gpu else 9)
    total, done = len(settings) * len(models) * options.repetitions, 0
    for setting in settings:
        for model in models:
            with tempfile.TemporaryDirectory() as folder:
                comparison = Comparison(results, setting, model, pythons, folder)
                for _ in range(options.repetitions):
                    minutes = (time.monotonic() - begin) / 60
                    print(f"[{done}/{total}, {minutes:.1f} min] {model}, cores: {setting}", file=sys.stderr, flush=True)
                    comparison.repetition(options.blocks, 0.1 if options.quick else 0.4)
                    done += 1
    results.load = load_before, os.getloadavg()[0]
    million = []
    if not options.no_million:
        from .million import measure_all

        million = measure_all()
    page = report.page(results, settings, models, list(pythons), million)
    print(page)
    if str(options.output) != "-":
        options.output.write_text(page, encoding="utf-8")
        print(f"written to {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
