"""Measures single operations, with TensorFlow alongside, and writes docs/inside/benchmarks-ops.md.

    python -m benchmarks.ops [--tensorflow PYTHON] [--cases REGEX] [--blocks N] [--output FILE]

Both systems hold the same case in a process of their own and take turns in short blocks. A block counts with its
fastest run, a case with the median of its blocks: what else the machine does should meet neither.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import statistics
import sys
from pathlib import Path

from .report import number, setting, table
from .systems import HERE, Failed, Process, interpreters

sys.path.insert(0, str(HERE))  # the workers find the cases as a module of their own, too
from op_cases import CASES

PHASES = ("forward", "gradient")
SCRIPT = "op_worker.py"

INTRODUCTION = """\
# Benchmarks of single operations

Made by `python -m benchmarks.ops`; do not edit by hand. Each line is a graph of one function and its gradient, whose
arguments are variables and whose results are assigned to variables; a run fetches nothing. graphgrad and TensorFlow
run the same program (`benchmarks/op_cases.py`), each in a process of its own, and take turns in blocks
of {seconds:g} s. A number is the median, over {blocks} blocks, of a block's fastest run, in µs, the call of
`Session.run` included; a ratio is graphgrad's time by TensorFlow's: below 1 graphgrad is faster; "processor" is the
same ratio of processor time, of all threads, which says more where the machine is busy. The gradient's time
includes what it needs of the forward computation; gradients that return dy unchanged (that of `add`, say) are not
measured. The differentiable functions are those that most of the surveyed public repositories use, in that order."""


class Results:
    """What was measured.

    Attributes:
      times: (case, phase, system) -> the fastest run of each block.
      processor: the same of processor time.
      failures: (case, system) -> text.
      sums: (case, phase, system) -> the sum of the results' magnitudes.
    """

    def __init__(self):
        self.times, self.processor, self.failures, self.sums = {}, {}, {}, {}
        self.versions = {}
        self.load = (0.0, 0.0)

    def middle(self, case, phase, system):
        """The time of a case in seconds, or None."""
        times = self.times.get((case, phase, system))
        return statistics.median(times) if times else None

    def ratio(self, case, phase):
        """graphgrad's time by TensorFlow's, or None."""
        return _quotient(*[self.times.get((case, phase, s)) for s in ("graphgrad", "tensorflow")])

    def processor_ratio(self, case, phase):
        """The same of processor time."""
        return _quotient(*[self.processor.get((case, phase, s)) for s in ("graphgrad", "tensorflow")])


def _quotient(ours, theirs):
    return statistics.median(ours) / statistics.median(theirs) if ours and theirs else None


def _digits(ratio):
    return "–" if ratio is None else f"{ratio:.2f}"


def take_turns(results, workers, key, case, blocks, seconds):
    """Measures one case: the systems take turns, block by block.

    Args:
      results: what is extended.
      workers: system -> process.
      key: the case in `results`.
      case: what the workers are told to prepare.
      blocks, seconds: how many turns, and how long.
    """
    phases = []
    for system, worker in workers.items():
        try:
            for phase, total in worker.ask("prepare", **case).items():
                results.sums[key, phase, system] = total
                phases.append((phase, system))
        except Failed as failure:
            results.failures[key, system] = str(failure)
    for _ in range(blocks):
        for phase, system in sorted(phases, key=lambda p: p[0]):
            answer = workers[system].ask("times", what=phase, seconds=seconds)
            results.times.setdefault((key, phase, system), []).append(min(answer["times"]))
            results.processor.setdefault((key, phase, system), []).append(min(answer["processor"]))


def page(results, cases, systems, blocks, seconds):
    """The page as text."""
    parts = [INTRODUCTION.format(blocks=blocks, seconds=seconds), setting(results, systems)]
    ratios = {(c.name, p): r for c in cases for p in PHASES if (r := results.ratio(c.name, p))}
    if ratios:
        processor = [results.processor_ratio(*key) for key in ratios]
        parts.append(f"{len(ratios)} measurements of {len(cases)} cases: median ratio "
                     f"{statistics.median(ratios.values()):.2f}, {sum(r <= 1.1 for r in ratios.values())} are at most "
                     f"1.10; of processor time {statistics.median(processor):.2f} and "
                     f"{sum(r <= 1.1 for r in processor)}.")
        slowest = sorted(ratios, key=ratios.get, reverse=True)[:10]
        rows = [[name, phase, *[number(results.middle(name, phase, s), 1e6) for s in systems],
                 f"{ratios[name, phase]:.2f}", _digits(results.processor_ratio(name, phase))]
                for name, phase in slowest]
        parts += ["## The ten slowest ratios", table(["function", "", *systems, "ratio", "processor"], rows)]
    header = ["function", "arguments"]
    for phase in PHASES:
        header += [f"{phase}: {systems[0]}", *systems[1:], *(["ratio", "processor"] if len(systems) > 1 else [])]
    rows = []
    for c in cases:
        row = [c.name, ", ".join(dict.fromkeys("×".join(map(str, g.shape)) for g in c.given)) or "–"]
        for phase in PHASES:
            times = [results.middle(c.name, phase, s) for s in systems]
            row += [number(t, 1e6) for t in times]
            if len(systems) > 1:
                row += [_digits(results.ratio(c.name, phase)), _digits(results.processor_ratio(c.name, phase))]
        rows.append(row)
    parts += ["## All of them", table(header, rows)]
    notes = [f"- {case}, {system}: {text}" for (case, system), text in results.failures.items()]
    notes += _differences(results, cases)
    if notes:
        parts += ["## Notes", "\n".join(notes)]
    return "\n\n".join(parts) + "\n"


def _differences(results, cases):
    """Lines on results that differ between the systems."""
    for c in cases:
        for phase in PHASES:
            ours, theirs = (results.sums.get((c.name, phase, s)) for s in ("graphgrad", "tensorflow"))
            if ours is not None and theirs is not None and abs(ours - theirs) > 1e-3 * abs(theirs):
                yield f"- {c.name}, {phase}: the results' magnitudes sum to {ours:.6g} and {theirs:.6g}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ops", description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", default=os.environ.get("GRAPHGRAD_BENCH_TF"), metavar="PYTHON",
                        help="an interpreter that has TensorFlow 2.21; default: $GRAPHGRAD_BENCH_TF, or none")
    parser.add_argument("--cases", default="", metavar="REGEX", help="only the cases whose name matches")
    parser.add_argument("--blocks", type=int, default=5, help="turns of each system")
    parser.add_argument("--seconds", type=float, default=0.1, help="the length of a turn")
    parser.add_argument("--output", type=Path, default=HERE.parent / "docs" / "inside" / "benchmarks-ops.md",
                        help="the page to write; '-' for none")
    options = parser.parse_args()
    pythons = interpreters(tensorflow=options.tensorflow)
    cases = [c for c in CASES if re.search(options.cases, c.name)]
    results = Results()
    before = os.getloadavg()[0]
    with contextlib.ExitStack() as stack:
        workers = {s: stack.enter_context(Process(s, p, script=SCRIPT)) for s, p in pythons.items()}
        for c in cases:
            take_turns(results, workers, c.name, {"name": c.name}, options.blocks, options.seconds)
            found = [results.ratio(c.name, p) for p in PHASES]
            print(c.name, *[f"{r:.2f}" for r in found if r], file=sys.stderr, flush=True)
        results.versions = {s: w.ask("version") for s, w in workers.items()}
    results.load = before, os.getloadavg()[0]
    text = page(results, cases, list(pythons), options.blocks, options.seconds)
    print(text)
    if str(options.output) != "-":
        options.output.write_text(text, encoding="utf-8")
        print(f"written to {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
