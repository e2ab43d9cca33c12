"""Implicit functions: graphgrad beside jaxopt, optimistix with lineax, and diffrax.

    python -m benchmarks.implicit [--peers PYTHON] [--rounds N] [--out FILE]

PYTHON is an interpreter with these; without it graphgrad alone is measured. Systems run in processes of their own,
which take turns, case by case. The problems are in `benchmarks.derivative_tables.implicit`.
"""

from __future__ import annotations

import argparse
import datetime
import os
import statistics
import sys
from pathlib import Path

from .derivative_tables import implicit
from .derivatives import STEPS, Worker

_HEAD = """# Benchmarks of implicit functions

Made by `python -m benchmarks.implicit --peers PYTHON`; do not edit by hand. A solution depends on a number p; measured
are the sum of its elements and derivatives of that by p, in float64: by `tf.gradients`, or `jax.grad`, again and
again, 'forward' by `tf.jvp` and `jax.jvp`. A time is the median over rounds of the processor time of a step, in ms, all
threads together. Programs are compiled before. A dash stands where a system has an error; the errors are listed
beneath. 'differs' is where a number is off by more than 1e-4 of graphgrad's, which the tests compare with oracles.

Methods differ where systems have different ones: roots are Newton's, but Broyden's in jaxopt; minima Newton's, but
those of quasi-Newton methods in the others; the stiff trajectory is by Radau IIA of order 5, by Kvaerno's method of
order 5 in diffrax.
"""


def measured(workers, rounds):
    """Returns answers by case and system: times and a value, or an error."""
    results = {}
    for case, (problem, _) in implicit.CASES.items():
        for system in implicit.PROBLEMS[problem]:
            where = implicit.SYSTEMS[system]
            if where not in workers:
                continue
            for _ in range(rounds):
                answer = workers[where].ask("implicit", system, case)
                kept = results.setdefault((case, system), {"times": [], **answer})
                if "error" in answer:
                    break
                kept["times"].append(answer["ms"])
            print(f"{case}: {system}: {answer.get('ms', answer.get('error'))}", file=sys.stderr, flush=True)
    return results


def _cell(found, value):
    if found is None or "error" in found:
        return "–"
    text = f"{statistics.median(found['times']):.3g}"
    return text if abs(found["value"] - value) <= 1e-4 * abs(value) else f"{text}, differs: {found['value']:.6g}"


def markdown(results) -> list[str]:
    """Returns the table, and what failed."""
    text = ["| problem | system | " + " | ".join(implicit.MODES) + " |",
            "|---|---" + "|---:" * len(implicit.MODES) + "|"]
    failed: dict[tuple, list[str]] = {}
    for problem, systems in implicit.PROBLEMS.items():
        for system in systems:
            cells = []
            for mode in implicit.MODES:
                case = f"{problem}; {mode}"
                found, own = results.get((case, system)), results.get((case, "graphgrad"), {})
                cells.append(_cell(found, own.get("value", float("nan"))))
                if found is not None and "error" in found:
                    failed.setdefault((problem, system, " ".join(found["error"].split())[:120]), []).append(mode)
            text.append(f"| {problem} | {system} | " + " | ".join(cells) + " |")
    lines = [f"- {problem}; {system}; {', '.join(modes)}: {error}"
             for (problem, system, error), modes in failed.items()]
    return [*text, *(["", *lines] if lines else [])]


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", help="an interpreter with jaxopt, optimistix, lineax and diffrax")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", help="where to write; standard output by default")
    options = parser.parse_args()
    workers = {"graphgrad": Worker(sys.executable)}
    if options.peers:
        workers["peers"] = Worker(options.peers)
    before = os.getloadavg()[0]
    table = markdown(measured(workers, options.rounds))
    for worker in workers.values():
        worker.close()
    machine = (f"Date: {datetime.date.today()}. Machine: {os.cpu_count()} cores. Load average before and after: "
               f"{before:.1f}, {os.getloadavg()[0]:.1f} (about 1 when nothing else runs). {options.rounds} rounds of "
               f"{STEPS} steps.")
    text = "\n".join([_HEAD, machine, "", *table, ""])
    Path(options.out).write_text(text) if options.out else print(text)


if __name__ == "__main__":
    main()
