"""Measures data sets, record files and feeds, with TensorFlow alongside, and writes docs/inside/benchmarks-input.md.

    python -m benchmarks.input [--tensorflow PYTHON] [--cases REGEX] [--repetitions N] [--quick] [--output FILE]

Each measurement is made in a process of its own; the systems take turns, and a number is the median.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
from pathlib import Path

from .report import number, setting, table
from .systems import HERE, Failed, Process, interpreters

sys.path.insert(0, str(HERE))  # the workers find the cases as a module of their own, too
from input_cases import CASES

SCRIPT = "input_worker.py"
LIMIT = 1.5  # what the project aims at

INTRODUCTION = """\
# Benchmarks of input

Made by `python -m benchmarks.input` (`make bench-input`); do not edit by hand. graphgrad and TensorFlow run the same
program (`benchmarks/input_cases.py`), eager where nothing else is said, each time in a fresh process that has run it
once on little data; the processes take turns. *n* is the number of elements, records or numbers. A number is the
median of {repetitions} in seconds, with the number of µs for each of the n; a ratio is graphgrad's time by
TensorFlow's: below 1 graphgrad is faster; "processor" is the same ratio of processor time, of all threads."""


class Results:
    """What was measured.

    Attributes:
      times: (case, system) -> seconds of each repetition.
      processor: the same of processor time.
      failures: (case, system) -> text.
    """

    def __init__(self):
        self.times, self.processor, self.failures, self.versions = {}, {}, {}, {}
        self.load = (0.0, 0.0)

    def median(self, case, system):
        """The seconds of a case, or None."""
        times = self.times.get((case, system))
        return statistics.median(times) if times else None

    def ratio(self, case, times):
        """graphgrad's time by TensorFlow's, or None."""
        ours, theirs = (times.get((case, system)) for system in ("graphgrad", "tensorflow"))
        return statistics.median(ours) / statistics.median(theirs) if ours and theirs else None


def measure(results, pythons, case, repetitions, divisor):
    """Measures one case: the systems take turns, process by process."""
    found = {}
    for _ in range(repetitions):
        for system, python in pythons.items():
            if (case, system) in results.failures:
                continue
            try:
                with Process(system, python, script=SCRIPT) as process:
                    answer = process.ask("measure", name=case, divisor=divisor)
                    results.versions[system] = results.versions.get(system) or process.ask("version")
            except Failed as failure:
                results.failures[case, system] = str(failure)
                continue
            results.times.setdefault((case, system), []).append(answer["seconds"])
            results.processor.setdefault((case, system), []).append(answer["processor"])
            found[system] = answer["result"]
    if len(found) == 2:
        ours, theirs = found["graphgrad"], found["tensorflow"]
        if abs(ours - theirs) > 1e-3 * max(1, abs(theirs)):
            results.failures[case, "graphgrad"] = f"the results differ: {ours:.6g} and {theirs:.6g}"


def _digits(ratio):
    return "–" if ratio is None else f"{ratio:.2f}"


def page(results, cases, systems, repetitions, divisor):
    """The page as text."""
    parts = [INTRODUCTION.format(repetitions=repetitions), setting(results, systems)]
    ratios = {c: r for c in cases if (r := results.ratio(c, results.times))}
    if ratios:
        late = sorted((r, c) for c, r in ratios.items() if r > LIMIT)[::-1]
        parts.append(f"{len(ratios)} cases: median ratio {statistics.median(ratios.values()):.2f}; at most {LIMIT} in "
                     f"{len(ratios) - len(late)}" + (f"; beyond that: {', '.join(f'`{c}` {r:.2f}' for r, c in late)}."
                                                     if late else "."))
    header = ["case", "what", "n"]
    for system in systems:
        header += [f"{system}, s", "µs each"]
    rows = []
    for case in cases:
        words, size, _ = CASES[case]
        size //= divisor
        row = [case, words, f"{size:,}"]
        for system in systems:
            seconds = results.median(case, system)
            row += [number(seconds), number(seconds, 1e6 / size)]
        rows.append([*row, *(_digits(results.ratio(case, t)) for t in (results.times, results.processor))])
    parts += ["## All of them", table([*header, "ratio", "processor"], rows, words=2)]
    if results.failures:
        parts += ["## Notes", "\n".join(f"- {case}, {system}: {text}" for (case, system), text
                                        in results.failures.items())]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.input", description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", default=os.environ.get("GRAPHGRAD_BENCH_TF"), metavar="PYTHON",
                        help="an interpreter that has TensorFlow 2.21; default: $GRAPHGRAD_BENCH_TF, or none")
    parser.add_argument("--cases", default="", metavar="REGEX", help="only the cases whose name matches")
    parser.add_argument("--repetitions", type=int, default=5, help="processes of each system for each case")
    parser.add_argument("--quick", action="store_true", help="once, with a tenth of the data; prints only")
    parser.add_argument("--output", type=Path, default=HERE.parent / "docs" / "inside" / "benchmarks-input.md",
                        help="the page to write; '-' for none")
    options = parser.parse_args()
    pythons = interpreters(tensorflow=options.tensorflow)
    cases = [c for c in CASES if re.search(options.cases, c)]
    repetitions, divisor = (1, 10) if options.quick else (options.repetitions, 1)
    results = Results()
    before = os.getloadavg()[0]
    for case in cases:
        measure(results, pythons, case, repetitions, divisor)
        print(case, *[number(results.median(case, s)) for s in pythons], _digits(results.ratio(case, results.times)),
              *[t for (c, _), t in results.failures.items() if c == case], file=sys.stderr, flush=True)
    results.load = before, os.getloadavg()[0]
    text = page(results, cases, list(pythons), repetitions, divisor)
    print(text)
    if str(options.output) != "-" and not options.quick:
        options.output.write_text(text, encoding="utf-8")
        print(f"written to {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
