"""Higher derivatives: graphgrad beside nested derivatives, JAX, its `jet`, and folx.

    python -m benchmarks.derivatives [--peers PYTHON] [--tables NAME ...] [--rounds N] [--out FILE]

PYTHON is an interpreter with jax, folx, asdex and casadi; without it graphgrad alone is measured. Systems run in
processes of their own, which take turns, case by case; medians are given. The tables are modules of
`benchmarks.derivative_tables`.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import statistics
import subprocess
import sys
import textwrap
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLES = ("laplacians", "orders", "programs", "sparse_jacobians", "colours", "published_colours")
STEPS = 3  # in a row; the first one warms the caches up
_HEAD = """# Benchmarks of higher derivatives

Made by `python -m benchmarks.derivatives --peers PYTHON`; do not edit by hand. Systems run in processes of their own,
which take turns. A time is the median over rounds of the processor time of a step: all threads together, since other
work on the machine lengthens the time on the clock. Memory is that of temporaries and live values of a step at its
peak; for JAX, which tells no more, of temporaries. Programs are compiled before. All systems' results are compared;
where they differ, a line says so.
"""


def _work() -> None:
    """Answers questions: a line has a table, a system and a case."""
    ready = {}
    for line in sys.stdin:
        table, system, case = json.loads(line)
        try:
            if (table, system, case) not in ready:
                ready[table, system, case] = importlib.import_module(f"benchmarks.derivative_tables.{table}").prepare(
                    system, case)
            run, known = ready[table, system, case]
            run()
            start = time.process_time()
            for _ in range(STEPS):
                run()
            answer = {"ms": 1e3 * (time.process_time() - start) / STEPS, **known}
        except Exception as error:  # the table says so
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(answer), flush=True)


class Worker:
    """A process that measures."""

    def __init__(self, python: str):
        env = dict(os.environ) | {"GRAPHGRAD_FIRST_RUN": "xla", "JAX_PLATFORMS": "cpu",
                                  "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
        self._process = subprocess.Popen([python, "-m", "benchmarks.derivatives", "--worker"], env=env, text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)

    def ask(self, *question: str) -> dict:
        """Measures one case."""
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait()


def measured(table, workers, rounds: int):
    """The results of a table by case and system, and lines on what failed or differs."""
    name = table.__name__.rsplit(".", 1)[1]
    results, lines = {}, []
    for case in table.CASES:
        times = {}
        for n in range(rounds):
            for system, where in table.SYSTEMS.items():
                if where not in workers or ((case, system) in results and n == 0):
                    continue
                answer = workers[where].ask(name, system, case)
                if "error" in answer:
                    if n == 0:
                        lines.append(f"- {case}, {system}: {answer['error']}")
                    continue
                times.setdefault(system, []).append(answer["ms"])
                results[case, system] = answer
                print(f"{name}: {case}: {system}: {answer['ms']:.3g} ms", file=sys.stderr, flush=True)
        for system, found in times.items():
            results[case, system]["ms"] = statistics.median(found)
        values = {s: results[case, s]["value"] for s in times}
        middle = statistics.median(values.values()) if values else 0.0
        lines += [f"- {case}, {s}: its result differs: its norm is {v:.6g}, of others {middle:.6g}"
                  for s, v in values.items() if abs(v - middle) > 1e-3 * abs(middle)]
    return results, lines


def _markdown(table, results, lines) -> str:
    head, rows = table.columns(results)
    text = [f"## {table.TITLE}", "", table.TEXT, "", "| " + " | ".join(head) + " |",
            "|---" + "|---:" * (len(head) - 1) + "|", *["| " + " | ".join(row) + " |" for row in rows]]
    return "\n".join([*text, *(["", *lines] if lines else [])])


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", help="an interpreter with jax, folx, asdex and casadi")
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--out", help="where to write; standard output by default")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _work()
        return
    workers = {"graphgrad": Worker(sys.executable)}
    if options.peers:
        workers["peers"] = Worker(options.peers)
    before = os.getloadavg()[0]
    parts: list[str] = []
    for name in options.tables:
        table = importlib.import_module(f"benchmarks.derivative_tables.{name}")
        parts.append(_markdown(table, *measured(table, workers, options.rounds)))
        print(parts[-1], file=sys.stderr, flush=True)
    for worker in workers.values():
        worker.close()
    machine = (f"Date: {datetime.date.today()}. Machine: {os.cpu_count()} cores. Load average before and after: "
               f"{before:.1f}, {os.getloadavg()[0]:.1f} (about 1 when nothing else runs); where it is high, ratios say "
               f"more than times. {options.rounds} rounds of {STEPS} steps.")
    text = "\n".join([_HEAD, textwrap.fill(machine, 119), "", "\n\n".join(parts), ""])
    Path(options.out).write_text(text) if options.out else print(text)


if __name__ == "__main__":
    main()
