"""Sparse Jacobians: what detection, colouring and evaluation take, for the patterns that papers use.

    python -m benchmarks.sparsity [--large]

The programs are compiled from the first run on; medians of the runs are given. `--large` adds the Brusselator with a
million unknowns, of which only the pattern and a colouring are found.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import Any

os.environ.setdefault("GRAPHGRAD_FIRST_RUN", "xla")

import numpy as np

import graphgrad.compat.v1 as tf
from graphgrad.gradients.sparsity.colouring import Entries
from graphgrad.gradients.sparsity.compressed import plan


def brusselator(n: int) -> tuple[Any, Any]:
    """The 2-D Brusselator on an n x n grid that wraps around: 2 n^2 unknowns."""
    x = tf.placeholder(tf.float64, [2, n, n])
    u, v = x[0], x[1]

    def laplacian(a: Any) -> Any:
        return (tf.roll(a, 1, 0) + tf.roll(a, -1, 0) + tf.roll(a, 1, 1) + tf.roll(a, -1, 1) - 4.0 * a) * float(n * n)

    return tf.stack([1.0 + u * u * v - 4.4 * u + 0.1 * laplacian(u), 3.4 * u - u * u * v + 0.1 * laplacian(v)]), x


def arrowhead(n: int) -> tuple[Any, Any]:
    """A dense row, a dense column and a diagonal."""
    x = tf.placeholder(tf.float64, [n])
    return tf.concat([[tf.reduce_sum(x**2)], x[0] * x[1:] ** 2], 0), x


def banded(n: int, width: int = 5) -> tuple[Any, Any]:
    """Each element depends on `width` neighbours, itself among them."""
    x = tf.placeholder(tf.float64, [n])
    half = width // 2
    padded = tf.pad(x, [[half, half]])
    return tf.add_n([tf.sin(padded[i : i + n]) for i in range(width)]), x


def grid(n: int) -> tuple[Any, Any]:
    """Nine points of an n x n grid that does not wrap around."""
    x = tf.placeholder(tf.float64, [n, n])
    padded = tf.pad(x, [[1, 1], [1, 1]])
    return tf.add_n([padded[i : i + n, j : j + n] ** 2 for i in range(3) for j in range(3)]), x


def rosenbrock_gradient(n: int) -> tuple[Any, Any]:
    """The gradient of Rosenbrock's function, whose Jacobian is its Hessian."""
    x = tf.placeholder(tf.float64, [n])
    y = tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
    return tf.gradients(y, x)[0], x


CASES = {
    "Brusselator, 2 x 64 x 64": (brusselator, 64),
    "Brusselator, 2 x 50 x 50": (brusselator, 50),
    "arrowhead, 300": (arrowhead, 300),
    "banded, 5 of 10,000": (banded, 10_000),
    "9 points, 100 x 100": (grid, 100),
    "Rosenbrock's gradient, 5,000": (rosenbrock_gradient, 5000),
}
LARGE = "Brusselator, 2 x 707 x 707"


def detected(build: Any, size: int) -> tuple[Any, Any, Any, float]:
    """Builds a case in the current graph; returns y, x, the pattern and the seconds that it took."""
    y, x = build(size)
    start = time.perf_counter()
    pattern = tf.sparsity(y, x)
    return y, x, pattern, time.perf_counter() - start


def measured(build: Any, size: int, steps: int = 50) -> dict[str, Any]:
    """Measures one case: entries, products J v and v J, and seconds of detection, colouring and evaluation."""
    with tf.Graph().as_default():
        y, x, pattern, detection = detected(build, size)
        start = time.perf_counter()
        entries = Entries(pattern.rows, pattern.columns, pattern.matrix_shape)
        products = plan(entries, pattern.x_shape, pattern.y_shape, True).products
        colouring = time.perf_counter() - start
        jacobian = tf.jacobian(y, x, sparse=pattern)
        at = np.random.default_rng(0).normal(size=x.shape)
        with tf.Session() as session:
            run = session.make_callable(jacobian.values, [x])
            run(at)
            run(at)
            seconds = []
            for _ in range(steps):
                start = time.perf_counter()
                run(at)
                seconds.append(time.perf_counter() - start)
    return {"entries": len(pattern), "products": products, "detection": detection, "colouring": colouring,
            "evaluation": statistics.median(seconds)}


def line(name: str, found: dict[str, Any]) -> str:
    """Returns a row of the table."""
    forward, reverse = found["products"]
    return (f"| {name} | {found['entries']:,} | {forward} + {reverse} | {found['detection'] * 1e3:.1f} | "
            f"{found['colouring'] * 1e3:.0f} | {found['evaluation'] * 1e3:.2f} |")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    large = parser.parse_args().large
    print("| Jacobian | entries | products | detection, ms | colouring, ms | evaluation, ms |")
    print("|---|---|---|---|---|---|")
    for name, (build, size) in CASES.items():
        print(line(name, measured(build, size)), flush=True)
    if large:
        with tf.Graph().as_default():
            *_, pattern, seconds = detected(brusselator, 707)
        start = time.process_time()
        entries = Entries(pattern.rows, pattern.columns, pattern.matrix_shape)
        forward, reverse = plan(entries, pattern.x_shape, pattern.y_shape, True).products
        colouring = time.process_time() - start
        print(f"{LARGE}: {len(pattern):,} entries found in {seconds:.2f} s; {forward} + {reverse} products in "
              f"{colouring:.2f} s of processor time")


if __name__ == "__main__":
    main()
