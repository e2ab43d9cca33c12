"""What importing graphgrad takes, beside `import numpy`: whole processes, which take turns.

    python -m benchmarks.imports [--repetitions N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from .systems import HERE

PROGRAMS = {"nothing": "pass", "numpy": "import numpy", "graphgrad": "import graphgrad.compat.v1"}
LIMIT = 1.6  # times `import numpy`


def measure(repetitions: int = 9) -> dict[str, dict[str, float]]:
    """Measures it.

    Args:
      repetitions: processes of each kind; the first of them are not counted.
    Returns: with bytecode ("compiled") and without ("cold"), for each of `PROGRAMS` the median of seconds.
    """
    found: dict[str, dict[str, float]] = {}
    path = os.pathsep.join([str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")])
    for kind in ("compiled", "cold"):
        times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
        with tempfile.TemporaryDirectory() as empty:
            environment = {**os.environ, "PYTHONPATH": path}
            if kind == "cold":
                environment |= {"PYTHONPYCACHEPREFIX": empty, "PYTHONDONTWRITEBYTECODE": "1"}
            for turn in range(repetitions + 1):
                for name, program in PROGRAMS.items():
                    begin = time.perf_counter()
                    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
                    if turn:  # the first one writes bytecode and has the files read
                        times[name].append(time.perf_counter() - begin)
        found[kind] = {name: statistics.median(values) for name, values in times.items()}
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imports", description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=9)
    for kind, seconds in measure(parser.parse_args().repetitions).items():
        print(kind, " ".join(f"{name} {1e3 * s:.1f} ms" for name, s in seconds.items()),
              f"ratio {seconds['graphgrad'] / seconds['numpy']:.2f}")


if __name__ == "__main__":
    main()
