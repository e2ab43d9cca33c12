"""Measures single functions in eager mode, with TensorFlow alongside, and writes docs/inside/benchmarks-eager.md.

    python -m benchmarks.eager [--tensorflow PYTHON] [--cases REGEX] [--blocks N] [--output FILE]

The systems take turns as in `benchmarks.ops`: a block counts with its fastest call, a case with the median of its
blocks.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import statistics
import sys
from pathlib import Path

from .ops import Results, take_turns
from .report import number, setting, table
from .systems import HERE, Process, interpreters

sys.path.insert(0, str(HERE))  # the workers find the cases as a module of their own, too
from eager_cases import CASES

SIZES = (1_000, 1_000_000)
PHASES = ("forward", "gradient")
SCRIPT = "eager_worker.py"
LIMIT = 1.2

INTRODUCTION = """\
# Benchmarks of eager mode

Made by `python -m benchmarks.eager` (`make bench-ops`); do not edit by hand. Each line is a function called eagerly
on about 1,000 and about 1,000,000 elements (`benchmarks/eager_cases.py` has the shapes), and its gradient by a
`GradientTape` that records the call. graphgrad and TensorFlow run the same program, each in a process of its own, and
take turns in blocks of {seconds:g} s. A number is the median, over {blocks} blocks, of a block's fastest call, in µs;
a ratio is graphgrad's time by TensorFlow's: below 1 graphgrad is faster; "processor" is the same ratio of processor
time, of all threads. Before, a function on the large arrays is called 300 times, or for 0.7 s, so that what
graphgrad compiles when it recurs ([Performance](performance.md#eager-mode)) is compiled. The first functions are the
hundred that most of the surveyed public repositories use, in that order."""


def summary(results, keys):
    """A line for each size and phase: how many ratios there are, their median, how many are within the limit."""
    rows = []
    for size in SIZES:
        for phase in PHASES:
            ratios = [r for k in keys if k[1] == size and (r := results.ratio(k, phase))]
            processor = [r for k in keys if k[1] == size and (r := results.processor_ratio(k, phase))]
            if ratios:
                rows.append([f"{size:,}", phase, str(len(ratios)), f"{statistics.median(ratios):.2f}",
                             str(sum(r <= LIMIT for r in ratios)), f"{statistics.median(processor):.2f}",
                             str(sum(r <= LIMIT for r in processor))])
    return table(["elements", "", "functions", "median ratio", f"at most {LIMIT}", "median of processor time",
                  f"at most {LIMIT}"], rows, 2)


def page(results, cases, systems, blocks, seconds):
    """The page as text."""
    keys = [(c.name, size) for c in cases for size in SIZES]
    parts = [INTRODUCTION.format(blocks=blocks, seconds=seconds), setting(results, systems)]
    if len(systems) > 1:
        parts.append(summary(results, keys))
    for size in SIZES:
        header = ["function"]
        for phase in PHASES:
            header += [f"{phase}: {systems[0]}", *systems[1:], *(["ratio", "processor"] if len(systems) > 1 else [])]
        rows = []
        for c in cases:
            row, key = [c.name], (c.name, size)
            for phase in PHASES:
                row += [number(results.middle(key, phase, s), 1e6) for s in systems]
                if len(systems) > 1:
                    row += [f"{r:.2f}" if r else "–"
                            for r in (results.ratio(key, phase), results.processor_ratio(key, phase))]
            rows.append(row)
        parts += [f"## {size:,} elements", table(header, rows)]
    if results.failures:
        parts += ["## Notes", "\n".join(f"- {name}, {size:,} elements, {system}: {text}"
                                        for ((name, size), system), text in results.failures.items())]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eager", description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", default=os.environ.get("GRAPHGRAD_BENCH_TF"), metavar="PYTHON",
                        help="an interpreter that has TensorFlow 2.21; default: $GRAPHGRAD_BENCH_TF, or none")
    parser.add_argument("--cases", default="", metavar="REGEX", help="only the cases whose name matches")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), metavar="N,N", help="numbers of elements")
    parser.add_argument("--blocks", type=int, default=5, help="turns of each system")
    parser.add_argument("--seconds", type=float, default=0.05, help="the length of a turn")
    parser.add_argument("--output", type=Path, default=HERE.parent / "docs" / "inside" / "benchmarks-eager.md",
                        help="the page to write; '-' for none")
    options = parser.parse_args()
    pythons = interpreters(tensorflow=options.tensorflow)
    cases = [c for c in CASES if re.search(options.cases, c.name)]
    results = Results()
    before = os.getloadavg()[0]
    with contextlib.ExitStack() as stack:
        workers = {s: stack.enter_context(Process(s, p, script=SCRIPT)) for s, p in pythons.items()}
        for c in cases:
            for size in map(int, options.sizes.split(",")):
                take_turns(results, workers, (c.name, size), {"name": c.name, "size": size}, options.blocks,
                           options.seconds)
                for phase in PHASES:
                    if ratio := results.ratio((c.name, size), phase):
                        us = [1e6 * results.middle((c.name, size), phase, s) for s in workers]
                        print(f"{ratio:7.2f} {results.processor_ratio((c.name, size), phase):7.2f} {size:8} {phase:8}",
                              f"{us[0]:9.1f} {us[1]:9.1f} {c.name}", file=sys.stderr, flush=True)
        results.versions = {s: w.ask("version") for s, w in workers.items()}
    results.load = before, os.getloadavg()[0]
    text = page(results, cases, list(pythons), options.blocks, options.seconds)
    print(text)
    if str(options.output) != "-":
        options.output.write_text(text, encoding="utf-8")
        print(f"written to {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
