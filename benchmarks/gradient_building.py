"""How long building gradients takes, beside TensorFlow, PyTensor, JAX, CasADi; docs/inside/benchmarks-gradients.md.

    python -m benchmarks.gradient_building [--tensorflow PYTHON] [--peers PYTHON] [--repetitions N] [--output FILE]

Every measurement is a fresh process; within each repetition the systems take turns. Nothing is executed or compiled
but the graph that is built. What fails is a result: the table says how.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from .gradient_programs import SYSTEMS
from .report import number, table
from .systems import HERE, machine

LIMIT = 180  # seconds for one process
ONCE = 10  # what takes more seconds is not repeated
HOPELESS = LIMIT / 10  # a system whose process takes more seconds is not tried at ten times the size
NOT_TRIED = "not tried"
SIZES = {"chain": (500, 1_000, 10_000, 100_000), "tree": (1_000, 10_000, 100_000), "fan-in": (1_000, 10_000, 100_000)}
MODELS = ("MLP", "PINN")

INTRODUCTION = """\
# Benchmarks of building gradients

Made by `python -m benchmarks.gradient_building`; do not edit by hand. Only building is measured: no graph is executed
or compiled. Every number is a median over fresh processes, in which the systems took turns; in each process a small
graph is built first, so that what a system does once is not counted. The programs are in
`benchmarks/gradient_programs.py`. JAX traces a function by differentiating it, so it has no time for the gradient
alone. A ratio is graphgrad's time by the other system's: below 1 graphgrad is faster."""

FAILURES = """\
With each system's own settings; a program may raise Python's recursion limit, and the size of the stack with it. The \
time of a process includes the import and, up to 1,000 operations, building three times; where it is long, larger \
graphs are not tried."""


def measure(system: str, case: str, n: int) -> dict[str, object]:
    """Builds and differentiates one graph in this process.

    Returns: the system's version; for each time that it was built, seconds for the graph (None if that comes with the
      gradient) and for the gradient; and the seconds of an identical second call, where it has a memory.
    """
    subject = SYSTEMS[system]()
    result = {"version": subject.prepare(), "times": []}
    subject.build("chain", 10)
    subject.differentiate()
    for _ in range(3 if n <= 1_000 else 1):
        start = time.perf_counter()
        subject.build(case, n)
        built = time.perf_counter()
        subject.differentiate()
        done = time.perf_counter()
        result["times"].append((None if subject.together else built - start - subject.preparing, done - built))
    call = subject.again()
    if call is not None:
        start = time.perf_counter()
        call()
        result["again"] = time.perf_counter() - start
    return result


def run(python: str, system: str, case: str, n: int) -> dict[str, object]:
    """One measurement in a process of its own; `{"failed": text}` if it came to nothing."""
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE.parent / "src"), str(HERE.parent),
                                                      env.get("PYTHONPATH")]))
    command = [python, "-m", "benchmarks.gradient_building", "--work", system, case, str(n)]
    try:
        out = subprocess.run(command, env=env, cwd=HERE.parent, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {LIMIT} s"}
    if out.returncode < 0:
        return {"failed": f"ended by signal {-out.returncode}"}
    if out.returncode:
        return {"failed": (out.stderr.strip().splitlines() or ["no message"])[-1][:80]}
    return json.loads(out.stdout.splitlines()[-1])


class Results:
    """What was measured: (case, n, system) -> answers of the processes."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, int, str], list[dict]] = {}
        self.repetitions = 0
        self.stopped = ""  # the case that was interrupted
        self.left_out: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self.loads: list[float] = []

    def failed(self, key) -> str | None:
        """How the system failed, if it did in each process."""
        answers = self.answers.get(key, [])
        texts = [a["failed"] for a in answers if "failed" in a]
        return texts[0] if texts and len(texts) == len(answers) else None

    def median(self, key, what: str) -> float | None:
        """The median of the seconds: "gradient", "all" (with the graph) or "again"."""
        answers = [a for a in self.answers.get(key, []) if "failed" not in a]
        if what == "again":
            values = [a["again"] for a in answers if "again" in a]
        else:
            times = [t for a in answers for t in a["times"]]
            if what == "gradient":
                values = [g for b, g in times if b is not None]
            else:
                values = [(b or 0.0) + g for b, g in times]
        return statistics.median(values) if values else None


def measure_all(pythons: dict[str, str], repetitions: int, largest: int) -> Results:
    """Every case in every system."""
    results = Results()
    results.repetitions = repetitions
    for system in list(pythons):
        python = pythons[system]
        answer = run(python, system, "chain", 10) if python else {"failed": "no interpreter was named"}
        if "failed" in answer:
            results.left_out[system] = answer["failed"]
            del pythons[system]
        else:
            results.versions[system] = answer["version"]
    graphs = sorted([(n, c) for c, sizes in SIZES.items() for n in sizes if n <= largest], key=lambda nc: nc[0])
    hopeless: dict[tuple[str, str], str] = {}  # (case, system) -> why larger graphs are not tried
    try:
        for case, n in [(m, 0) for m in MODELS] + [(c, n) for n, c in graphs]:
            results.stopped = f"{case}, {n:,}"
            _measure_case(results, pythons, case, n, hopeless)
        results.stopped = ""
    except KeyboardInterrupt:
        pass  # what there is, is worth a page
    return results


def _measure_case(results: Results, pythons: dict[str, str], case: str, n: int, hopeless) -> None:
    """One case in every system; the systems take turns in each repetition."""
    done = {system for system in pythons if (case, system) in hopeless}
    for system in done:
        results.answers[case, n, system] = [{"failed": hopeless[case, system]}]
    for repetition in range(results.repetitions):
        for system, python in pythons.items():
            if system in done:
                continue
            print(f"{case} {n or ''} {system} ({repetition + 1})", file=sys.stderr, flush=True)
            start = time.perf_counter()
            answer = run(python, system, case, n)
            seconds = time.perf_counter() - start
            results.answers.setdefault((case, n, system), []).append(answer)
            results.loads.append(os.getloadavg()[0])
            if "failed" in answer or seconds > ONCE:
                done.add(system)
            if n and "failed" in answer:
                hopeless[case, system] = f"{NOT_TRIED}, since {n:,} failed"
            elif seconds > HOPELESS:
                hopeless[case, system] = f"{NOT_TRIED}, since the process for {n:,} took {seconds:.0f} s"


def page(results: Results) -> str:
    """The whole page."""
    loads = results.loads
    systems = list(results.versions)
    cases = sorted({(case, n) for case, n, _ in results.answers}, key=lambda c: ([*SIZES, *MODELS].index(c[0]), c[1]))
    graphs, models = [c for c in cases if c[1]], [c for c in cases if not c[1]]
    parts = [
        INTRODUCTION,
        f"Date: {datetime.date.today().isoformat()}. Machine: {machine()}. Load average during the measurements: "
        f"{min(loads):.1f} to {max(loads):.1f}, median {statistics.median(loads):.1f} (about 1 when nothing else "
        f"runs); where it is high, ratios say more than times. A process may take {LIMIT} s; what took more than "
        f"{ONCE} s was measured once, the rest {results.repetitions} times.",
        *([f"Stopped by hand during {results.stopped}; what is missing was not measured."] if results.stopped else []),
        "\n".join([f"- {s} {v}" for s, v in results.versions.items()]
                  + [f"- {s} is left out: {why}" for s, why in results.left_out.items()]),
        "## The gradient alone",
        _table(results, graphs, [s for s in systems if s != "JAX"], "gradient", "µs for each forward operation"),
        "## The graph and its gradient",
        _table(results, graphs, systems, "all", "µs for each forward operation"),
        "## Models",
        "Graph and gradient; the physics-informed net has four gradients, one of them of another.",
        _table(results, models, systems, "all", "ms"),
        "## The second time",
        "An identical second call of `gradients` in graphgrad, under `memoize_gradients` (all four, for the "
        "physics-informed net, and the operations between them, which are built again).",
        _again(results, cases),
    ]
    failures = [f"- {case}, {n:,} operations, {s}: {results.failed((case, n, s))}"
                for case, n in cases for s in systems if results.failed((case, n, s))]
    if failures:
        parts += ["## Failures", FAILURES, "\n".join(failures)]
    return "\n\n".join(parts) + "\n"


def _words(case: str, n: int) -> str:
    return f"{case}, {n:,}" if n else case


def _table(results: Results, cases, systems, what: str, unit: str) -> str:
    rows = []
    for case, n in cases:
        scale = 1e6 / n if n else 1e3
        ours = results.median((case, n, "graphgrad"), what)
        row = [_words(case, n), number(ours, scale)]
        for system in systems[1:]:
            theirs = results.median((case, n, system), what)
            failed = results.failed((case, n, system))
            told = NOT_TRIED if failed and failed.startswith(NOT_TRIED) else "failed" if failed else ""
            row += [told or number(theirs, scale), f"{ours / theirs:.3g}" if ours and theirs else "–"]
        rows.append(row)
    return table([unit, systems[0], *[h for s in systems[1:] for h in (s, "ratio")]], rows)


def _again(results: Results, cases) -> str:
    rows = []
    for case, n in cases:
        key = (case, n, "graphgrad")
        first, again = results.median(key, "gradient"), results.median(key, "again")
        rows.append([_words(case, n), number(first, 1e3), number(again, 1e3)])
    return table(["ms", "first call", "second call"], rows)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gradient_building",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", default=os.environ.get("GRAPHGRAD_BENCH_TF"), metavar="PYTHON",
                        help="an interpreter that has TensorFlow 2.21; default: $GRAPHGRAD_BENCH_TF, or none")
    parser.add_argument("--peers", default=os.environ.get("GRAPHGRAD_BENCH_PEERS"), metavar="PYTHON",
                        help="an interpreter that has PyTensor and CasADi; default: $GRAPHGRAD_BENCH_PEERS, or none")
    parser.add_argument("--repetitions", type=int, default=3, help="fresh processes for each case and system")
    parser.add_argument("--largest", type=int, default=100_000, metavar="N", help="leave larger graphs out")
    parser.add_argument("--output", type=Path, default=HERE.parent / "docs" / "inside" / "benchmarks-gradients.md",
                        help="the page to write; '-' for none")
    parser.add_argument("--work", nargs=3, metavar=("SYSTEM", "CASE", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        print("\n" + json.dumps(measure(options.work[0], options.work[1], int(options.work[2]))))
        return
    pythons = {"graphgrad": sys.executable, "TensorFlow": options.tensorflow, "PyTensor": options.peers,
               "JAX": sys.executable, "CasADi": options.peers}
    text = page(measure_all(pythons, options.repetitions, options.largest))
    print(text)
    if str(options.output) != "-":
        options.output.write_text(text, encoding="utf-8")
        print(f"written to {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
