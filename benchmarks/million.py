"""Graphs of 1,000,000 operations: time to build and to differentiate them, and memory.

    python -m benchmarks.million [chain|comb] [operations]

Each case runs in a process of its own, since its peak of memory is measured too.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time

from .systems import HERE

CASES = {"chain": "chain of tanh", "comb": "comb: tanh(y) * x, one tensor with a reader in each step"}


def measure(case: str, n: int) -> dict[str, float]:
    """Builds and differentiates one graph in this process.

    Args:
      case: "chain" or "comb".
      n: the number of forward operations.
    Returns: operations and seconds of both phases; the peak of memory in bytes before, after
      building, and after differentiating.
    """
    import numpy as np

    import graphgrad.v1 as tf

    def peak():
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

    result = {"empty": peak()}
    graph = tf.get_default_graph()
    x = y = tf.placeholder(np.float32, [4])
    start = time.perf_counter()
    if case == "chain":
        for _ in range(n):
            y = tf.tanh(y)
    else:
        for _ in range(n // 2):
            y = tf.tanh(y) * x
    result["build seconds"] = time.perf_counter() - start
    result["forward"] = len(graph.get_operations()) - 1
    result["built"] = peak()
    start = time.perf_counter()
    (gradient,) = tf.gradients(y, x)
    result["gradients seconds"] = time.perf_counter() - start
    result["added"] = len(graph.get_operations()) - 1 - result["forward"]
    result["differentiated"] = peak()
    assert gradient is not None
    return result


def measure_all(n: int = 1_000_000, repetitions: int = 3) -> list[tuple[str, int, list[dict[str, float]]]]:
    """Each case at n / 10 and n operations, each repetition in a fresh process.

    Returns: rows of (case in words, operations, results of the repetitions).
    """
    rows = []
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE.parent / "src"), env.get("PYTHONPATH")]))
    for case, words in CASES.items():
        for size in (n // 10, n):
            results = []
            for _ in range(repetitions):
                print(f"{words}: {size:,} operations", file=sys.stderr, flush=True)
                out = subprocess.run([sys.executable, "-m", "benchmarks.million", case, str(size)], cwd=HERE.parent,
                                     env=env, check=True, capture_output=True, text=True).stdout
                results.append(json.loads(out))
            rows.append((words, size, results))
    return rows


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.path.insert(0, str(HERE.parent / "src"))
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)))
    else:
        from .report import million_table

        print(million_table(measure_all()))
