"""Jacobians: `jacobian` beside JAX's `jax.jacrev` and TensorFlow's `GradientTape.jacobian`, all compiled functions.

    python -m benchmarks.jacobians [--tensorflow PYTHON]

Each system runs in a process of its own; rounds alternate between them, and medians are given.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from benchmarks.systems import HERE

# Name: (examples, inputs, hidden, outputs, kind). The function is tanh(tanh(x W) V).
CASES = {
    "Jacobian, 128 outputs, 128 inputs": (1, 128, 256, 128, "jacobian"),
    "Jacobian, 1,024 outputs, 1,024 inputs": (32, 32, 64, 32, "jacobian"),
    "batch Jacobian, 256 examples, 32 outputs, 32 inputs": (256, 32, 64, 32, "batch_jacobian"),
    "Hessian of the sum, 512 inputs": (8, 64, 128, 16, "hessian"),
}
STEPS = 30


def _arrays(case: str):
    import numpy as np

    rng = np.random.default_rng(0)
    b, i, h, o, kind = CASES[case]
    x, w, v = (rng.normal(size=s).astype(np.float32) for s in ((b, i), (i, h), (h, o)))
    return x, w * np.float32(i**-0.5), v * np.float32(h**-0.5), kind


def _graphgrad(case: str):
    import graphgrad.v1 as tf

    x, w, v, kind = _arrays(case)
    at = tf.placeholder(tf.float32, x.shape)
    y = tf.tanh(tf.matmul(tf.tanh(tf.matmul(at, w)), v))
    result = {"jacobian": tf.jacobian, "batch_jacobian": tf.batch_jacobian,
              "hessian": lambda y, x: tf.hessians(y, x)[0]}[kind](y, at)
    session = tf.Session()
    return lambda: session.run(result, {at: x})


def _jax(case: str):
    import jax
    import numpy as np

    x, w, v, kind = _arrays(case)

    def f(x):
        return jax.numpy.tanh(jax.numpy.tanh(x @ w) @ v)

    compiled = jax.jit({"jacobian": jax.jacrev(f), "batch_jacobian": jax.vmap(jax.jacrev(f)),
                        "hessian": jax.jacrev(jax.grad(lambda x: f(x).sum()))}[kind])
    return lambda: np.asarray(compiled(x))


def _tensorflow(case: str):
    import tensorflow as tf

    x, w, v, kind = _arrays(case)

    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.tanh(tf.tanh(x @ w) @ v)
            if kind == "hessian":
                y = tape.gradient(y, x)
        if kind == "batch_jacobian":
            return outer.batch_jacobian(y, x)
        return outer.jacobian(y, x)

    at = tf.constant(x)
    return lambda: f(at).numpy()


def work(system: str) -> None:
    """Answers lines of commands: a case's name; gives the seconds to the first result, and the median of the steps."""
    ready = {}
    make = {"graphgrad": _graphgrad, "jax": _jax, "tensorflow": _tensorflow}[system]
    for line in sys.stdin:
        case, answer = line.strip(), {}
        if case not in ready:
            start = time.perf_counter()
            ready[case] = make(case)
            answer["sum"] = float(abs(ready[case]()).sum(dtype=float))
            answer["first"] = time.perf_counter() - start
        seconds = []
        for _ in range(STEPS):
            start = time.perf_counter()
            ready[case]()
            seconds.append(time.perf_counter() - start)
        print(json.dumps({**answer, "step": statistics.median(seconds)}), flush=True)


def compare(pythons: dict[str, str], rounds: int = 3) -> list[str]:
    """The lines of a table: for each case and system the first result and a step, in milliseconds."""
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE.parent / "src"), str(HERE.parent),
                                                      env.get("PYTHONPATH")]))
    lines = ["| case | " + " | ".join(f"{s}: first | step" for s in pythons) + " |",
             "|---" * (1 + 2 * len(pythons)) + "|"]
    for case in CASES:
        workers = {s: subprocess.Popen([p, "-m", "benchmarks.jacobians", "--work", s], env=env, text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                   for s, p in pythons.items()}
        answers: dict[str, list[dict[str, float]]] = {s: [] for s in pythons}
        for _ in range(rounds):
            for system, worker in workers.items():
                worker.stdin.write(case + "\n")
                worker.stdin.flush()
                answers[system].append(json.loads(worker.stdout.readline()))
        for worker in workers.values():
            worker.stdin.close()
            worker.wait()
        sums = [a[0]["sum"] for a in answers.values()]
        assert max(sums) - min(sums) < 1e-3 * max(sums), f"the systems disagree on {case}: {sums}"
        cells = [f"{a[0]['first'] * 1e3:.0f} | {statistics.median(r['step'] for r in a) * 1e3:.2f}"
                 for a in answers.values()]
        lines.append(f"| {case} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.jacobians", description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", default=os.environ.get("GRAPHGRAD_BENCH_TF"), metavar="PYTHON",
                        help="an interpreter that has TensorFlow 2.21; default: $GRAPHGRAD_BENCH_TF, or none")
    parser.add_argument("--work", metavar="SYSTEM", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return
    pythons = {"graphgrad": sys.executable, "jax": sys.executable}
    if options.tensorflow:
        pythons["tensorflow"] = options.tensorflow
    print("\n".join(compare(pythons)))


if __name__ == "__main__":
    main()
