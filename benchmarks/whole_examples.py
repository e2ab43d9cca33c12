"""Measures the programs of `examples/` from start to end, cold, beside TensorFlow: the same files, unmodified.

    python -m benchmarks.whole_examples --tensorflow /path/to/python/with/tensorflow

Every run is a process of its own, started by `graphgrad run` or, on TensorFlow, as the recorded outputs were made; the
systems take turns. graphgrad has no disk cache, then one that its run before filled. Writes
`docs/inside/benchmarks-examples.md`.
"""

from __future__ import annotations

import argparse
import datetime
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.record.examples import QUIET, RUN

_ROOT = Path(__file__).resolve().parents[1]
_PAGE = _ROOT / "docs" / "inside" / "benchmarks-examples.md"
_HERE_ONLY = ("tensorflow.contrib", "tf.implicit.", "tf.as_function")  # not in TensorFlow 2.21


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Runs a process in the folder of examples; returns its seconds on the clock.

    Raises: CalledProcessError: it failed.
    """
    start = time.perf_counter()
    subprocess.run(command, cwd=_ROOT / "examples", env={**os.environ, **environment}, check=True, capture_output=True)
    return time.perf_counter() - start


def measure(name: str, tensorflow: str, repetitions: int) -> dict[str, float]:
    """Returns the medians of an example's seconds: "cold" and "cached" here, and on "TensorFlow"."""
    times: dict[str, list[float]] = {"cold": [], "cached": [], "TensorFlow": []}
    here = [sys.executable, "-m", "graphgrad.cli", "run", f"{name}.py"]
    there = [tensorflow, "-c", RUN, f"{name}.py", "2" if name.endswith("_v2") else "1"]
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as cache:
            times["cold"].append(seconds(here, {"GRAPHGRAD_CACHE_DIR": cache}))
            times["TensorFlow"].append(seconds(there, QUIET))
            times["cached"].append(seconds(here, {"GRAPHGRAD_CACHE_DIR": cache}))
    return {system: statistics.median(t) for system, t in times.items()}


def page(results: dict[str, dict[str, float]], repetitions: int) -> str:
    """Makes the page of the results of `measure` by example."""
    cold = [t["cold"] / t["TensorFlow"] for t in results.values()]
    cached = [t["cached"] / t["TensorFlow"] for t in results.values()]
    lines = [
        "# Examples from start to end, measured", "",
        "Made by `python -m benchmarks.whole_examples`; do not edit by hand. The programs of `examples/` that",
        "TensorFlow 2.21 can run, too: seconds on the clock of a whole process, import included; the systems take",
        "turns. *Cold*: nothing is compiled before, graphgrad has an empty disk cache. *Cached*: the same again.", "",
        f"Date: {datetime.date.today()}. Machine: {os.cpu_count()} cores. Medians of {repetitions}. "
        f"Load average at the end: {os.getloadavg()[0]:.1f}.", "",
        "| example | cold | cached | TensorFlow | cold by TensorFlow | cached by TensorFlow |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, t in results.items():
        lines.append(f"| `{name}.py` | {t['cold']:.2f} | {t['cached']:.2f} | {t['TensorFlow']:.2f} | "
                     f"{t['cold'] / t['TensorFlow']:.2f} | {t['cached'] / t['TensorFlow']:.2f} |")
    lines += ["", f"Cold, {sum(r < 1 for r in cold)} of {len(cold)} end before TensorFlow's; the median ratio "
              f"is {statistics.median(cold):.2f}, the largest {max(cold):.2f}. Cached: "
              f"{statistics.median(cached):.2f} and {max(cached):.2f}.", ""]
    return "\n".join(lines)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tensorflow", required=True, metavar="PYTHON", help="a Python with TensorFlow 2.21")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--quick", nargs="*", metavar="NAME", help="these examples alone, and nothing is written")
    args = parser.parse_args()
    results = {}
    for path in sorted((_ROOT / "examples").glob("*.py")):
        if any(word in path.read_text() for word in _HERE_ONLY) or (args.quick and path.stem not in args.quick):
            continue
        results[path.stem] = measure(path.stem, os.path.abspath(args.tensorflow), args.repetitions)
        print(path.stem, {k: round(v, 2) for k, v in results[path.stem].items()}, flush=True)
    text = page(results, args.repetitions)
    if args.quick:
        print(text)
    else:
        _PAGE.write_text(text)


if __name__ == "__main__":
    main()
