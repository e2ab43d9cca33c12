"""Measures loops, forward and backward, beside TensorFlow's while_loop and JAX's scan.

    python -m benchmarks.loops --tensorflow /path/to/python/with/tensorflow

Each system runs in a process of its own; they take turns in blocks, and a number is the median over blocks of a block's
fastest run. Writes `docs/inside/benchmarks-loops.md`; with `--quick` it only prints.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

_HERE = Path(__file__).resolve().parent
_now = time.perf_counter


def _lstm_data() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 64, 64)).astype(np.float32)
    w = (rng.normal(size=(64 + 128, 4 * 128)) * 0.05).astype(np.float32)
    return [x, np.int32(50), w]


def _lstm(tf: Any, x: Any, n: Any, w: Any) -> Any:
    rows = tf.TensorArray(tf.float32, 50).unstack(x)
    zeros = tf.zeros([64, 128])

    def body(t: Any, c: Any, h: Any) -> Any:
        i, g, f, o = tf.split(tf.matmul(tf.concat([rows.read(t), h], 1), w), 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(g)
        return t + 1, c, tf.tanh(c) * tf.sigmoid(o)

    return tf.reduce_sum(tf.while_loop(lambda t, *_: t < n, body, (0, zeros, zeros))[2] ** 2)


def _lstm_jax(jax: Any, x: Any, n: Any, w: Any) -> Any:
    np_, nn = jax.numpy, jax.nn
    zeros = np_.zeros((64, 128), np_.float32)

    def body(carry: Any, at: Any) -> Any:
        (c, h), (t, row) = carry, at
        i, g, f, o = np_.split(np_.concatenate([row, h], 1) @ w, 4, 1)
        new = c * nn.sigmoid(f + 1.0) + nn.sigmoid(i) * np_.tanh(g)
        more = t < n  # a loop of unknown length cannot be differentiated in JAX: what is too much is masked
        return (np_.where(more, new, c), np_.where(more, np_.tanh(new) * nn.sigmoid(o), h)), None

    (_, h), _ = jax.lax.scan(body, (zeros, zeros), (np_.arange(50), x))
    return np_.sum(h**2)


def _tiny_data() -> list[np.ndarray]:
    return [np.float32(0.9)]


def _tiny(tf: Any, x: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 1000, lambda i, y: (i + 1, tf.sin(y) * x + 0.1), (0, x))[1]


def _tiny_jax(jax: Any, x: Any) -> Any:
    return jax.lax.scan(lambda y, _: (jax.numpy.sin(y) * x + 0.1, None), x, None, length=1000)[0]


def _map_data() -> list[np.ndarray]:
    return [np.random.default_rng(0).normal(size=(10000, 8)).astype(np.float32)]


def _map(tf: Any, x: Any) -> Any:
    return tf.reduce_sum(tf.map_fn(lambda r: tf.reduce_sum(tf.sin(r) * r), x) ** 2)


def _map_jax(jax: Any, x: Any) -> Any:
    return jax.numpy.sum(jax.lax.map(lambda r: jax.numpy.sum(jax.numpy.sin(r) * r), x) ** 2)


def _nested_data() -> list[np.ndarray]:
    return [np.linspace(0.1, 1.0, 16, dtype=np.float32), (np.eye(16) * 0.9).astype(np.float32)]


def _nested(tf: Any, x: Any, w: Any) -> Any:
    def inner(y: Any) -> Any:
        def step(j: Any, z: Any) -> Any:
            return j + 1, tf.tanh(tf.tensordot(z, w, 1) + y)

        return tf.while_loop(lambda j, _: j < 30, step, (0, y))[1]

    return tf.reduce_sum(tf.while_loop(lambda i, _: i < 30, lambda i, y: (i + 1, inner(y) * 0.5 + x), (0, x))[1])


def _nested_jax(jax: Any, x: Any, w: Any) -> Any:
    np_, scan = jax.numpy, jax.lax.scan

    def inner(y: Any) -> Any:
        return scan(lambda z, _: (np_.tanh(z @ w + y), None), y, None, length=30)[0]

    return np_.sum(scan(lambda y, _: (inner(y) * 0.5 + x, None), x, None, length=30)[0])


_SLOW = 5.0  # seconds: what takes longer is run once
_MEMORY = ("all", "sqrt", "log")

# name -> (what it is, data, TensorFlow's API, JAX's, arguments that are differentiated)
CASES: dict[str, tuple[str, Any, Any, Any, tuple[int, ...]]] = {
    "LSTM": ("50 steps, the number fed; batch 64, 64 inputs, 128 units", _lstm_data, _lstm, _lstm_jax, (2,)),
    "tiny body": ("1,000 times `sin(y) * x + 0.1` of a number", _tiny_data, _tiny, _tiny_jax, (0,)),
    "map_fn": ("10,000 rows of 8: `sum(sin(r) * r)`", _map_data, _map, _map_jax, (0,)),
    "nested": ("30 times 30: `tanh(z @ w + y)` of 16 numbers", _nested_data, _nested, _nested_jax, (0, 1)),
}


# -- a worker --------------------------------------------------------------------------


def _graph_steps(kind: str, case: str) -> dict[str, Any]:
    if kind == "graphgrad":
        import graphgrad.v1 as tf
    else:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        import tensorflow.compat.v1 as tf

        tf.disable_eager_execution()
        tf.enable_control_flow_v2()
    _, data, build, _, wanted = CASES[case]
    arrays = data()
    graph = tf.Graph()
    with graph.as_default():
        feeds = [tf.placeholder(a.dtype, a.shape) for a in arrays]
        y = build(tf, *feeds)
        grads = tf.gradients(y, [feeds[i] for i in wanted])
    session = tf.Session(graph=graph)
    fed = dict(zip(feeds, arrays, strict=True))
    return {"forward": lambda: session.run(y, fed), "both": lambda: session.run([y, *grads], fed)}


def _reverse_steps(memory: str) -> tuple[Any, Any]:
    """A step of a loop of 1,000 states of 200 kB with its gradient, and a function that gives the peak of a run."""
    import graphgrad.v1 as tf

    array = np.linspace(0, 0.9, 50000, dtype=np.float32)
    with tf.Graph().as_default() as graph:
        x, n = tf.placeholder(tf.float32, [50000]), tf.placeholder(tf.int32, [])
        with tf.checkpointed_loops(None if memory == "all" else memory):
            y = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, tf.sin(y) * x + 0.1), (0, x))[1]
        slope = tf.reduce_sum(tf.gradients(y, x)[0])
    session, fed = tf.Session(graph=graph), {x: array, n: 1000}

    def peak() -> int:
        metadata = tf.RunMetadata()
        session.run(slope, fed, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
        return metadata.peak_bytes

    return lambda: session.run(slope, fed), peak


def _jax_steps(case: str) -> dict[str, Any]:
    import jax

    _, data, _, build, wanted = CASES[case]
    arrays = data()
    forward = jax.jit(lambda *a: build(jax, *a))
    both = jax.jit(jax.value_and_grad(lambda *a: build(jax, *a), wanted))
    return {"forward": lambda: jax.device_get(forward(*arrays)), "both": lambda: jax.device_get(both(*arrays))}


def _serve(kind: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    steps: dict[str, Any] = {}
    for line in sys.stdin:
        case, phase, seconds = json.loads(line)
        if phase == "reverse":
            run, peak = steps[case] = steps.get(case) or _reverse_steps(case)
            run()
            start = _now()
            run()
            print(json.dumps([_now() - start, peak()]), file=answers, flush=True)
            continue
        if case not in steps:
            steps[case] = _jax_steps(case) if kind == "jax" else _graph_steps(kind, case)
        run, times = steps[case][phase], []
        end = _now() + seconds
        while _now() < end or not times:
            start = _now()
            result = run()
            times.append(_now() - start)
        value = np.asarray(result[0] if phase == "both" else result).tolist()
        print(json.dumps([min(times), value]), file=answers, flush=True)


# -- the measurement -------------------------------------------------------------------


def _ask(worker: subprocess.Popen[str], *what: Any) -> Any:
    assert worker.stdin is not None and worker.stdout is not None
    print(json.dumps(what), file=worker.stdin, flush=True)
    line = worker.stdout.readline()
    if not line:
        raise RuntimeError("a worker ended; its message is above")
    return json.loads(line)


def measure(pythons: dict[str, str], blocks: int, seconds: float) -> dict[tuple[str, str, str], float]:
    """Seconds for each case, phase and system."""
    env = {**os.environ, "PYTHONPATH": str(_HERE.parent / "src"), "JAX_PLATFORMS": "cpu"}
    found: dict[tuple[str, str, str], float] = {}
    workers = {kind: subprocess.Popen([python, str(_HERE / "loops.py"), "--serve", kind], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, env=env)
               for kind, python in pythons.items()}
    try:
        for case in CASES:
            for phase in ("forward", "both"):
                values = {kind: _ask(w, case, phase, 0.0)[1] for kind, w in workers.items()}
                first = values["graphgrad"]
                assert all(np.allclose(v, first, rtol=1e-3) for v in values.values()), (case, values)
                times: dict[str, list[float]] = {kind: [] for kind in workers}
                for _ in range(blocks):
                    for kind, w in workers.items():
                        if not times[kind] or times[kind][-1] < _SLOW:
                            times[kind].append(_ask(w, case, phase, seconds)[0])
                for kind, t in times.items():
                    found[case, phase, kind] = statistics.median(t)
                print(case, phase, {kind: f"{found[case, phase, kind] * 1e3:.3f} ms" for kind in workers}, flush=True)
        for memory in _MEMORY:  # one run each: they take seconds
            runs = [_ask(workers["graphgrad"], memory, "reverse", 0.0) for _ in range(max(1, blocks // 2))]
            found[memory, "reverse", "seconds"] = statistics.median(r[0] for r in runs)
            found[memory, "reverse", "bytes"] = runs[0][1]
            print(memory, runs, flush=True)
    finally:
        for w in workers.values():
            w.kill()
            w.wait()
    return found


def page(found: dict[tuple[str, str, str], float], systems: list[str], date: str) -> str:
    """The page of the documentation."""
    lines = [
        "# Loops, measured", "",
        f"Measured on {date} with `python -m benchmarks.loops` on {os.cpu_count()} cores. Milliseconds for one run, "
        "feeds and results included; each",
        "number is the median over blocks of a block's fastest run, the systems taking turns. TensorFlow runs "
        "`while_loop` (v2) in a",
        "session, JAX a jitted `scan` (`lax.map` for `map_fn`). A ratio below 1 says that graphgrad is faster.", "",
        "| loop | run | " + " | ".join(systems) + " | " + " | ".join(f"by {s}" for s in systems[1:]) + " |",
        "|---|---|" + "---:|" * (2 * len(systems) - 1),
    ]
    for case, (what, *_) in CASES.items():
        for phase, words in (("forward", "forward"), ("both", "forward and backward")):
            times = [found[case, phase, s] for s in systems]
            cells = [f"{t * 1e3:.3g}" for t in times] + [f"{times[0] / t:.2f}" for t in times[1:]]
            lines.append(f"| {case}: {what} | {words} | " + " | ".join(cells) + " |")
    lines += [
        "", "## In little memory", "",
        "The gradient of 1,000 iterations of `sin(y) * x + 0.1` on 50,000 numbers, the number of iterations fed, "
        "built in",
        "`checkpointed_loops`: the most that is alive during a run (`RunMetadata.peak_bytes`), and its time.", "",
        "| memory | alive | time | by 'all' |", "|---|---:|---:|---:|",
    ]
    for memory in _MEMORY:
        seconds, size = (found[memory, "reverse", k] for k in ("seconds", "bytes"))
        lines.append(f"| {memory} | {size / 1e6:.3g} MB | {seconds:.3g} s | "
                     f"{seconds / found['all', 'reverse', 'seconds']:.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Reads the command line, measures, writes the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loops", description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", help="a Python with TensorFlow 2.21")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--quick", action="store_true", help="print only")
    options = parser.parse_args()
    if options.serve:
        _serve(options.serve)
        return
    pythons = {"graphgrad": sys.executable, "jax": sys.executable}
    if options.tensorflow:
        pythons["tensorflow"] = options.tensorflow
    found = measure(pythons, 2 if options.quick else options.blocks, options.seconds)
    text = page(found, list(pythons), time.strftime("%Y-%m-%d"))
    print(text)
    if not options.quick:
        (_HERE.parent / "docs" / "inside" / "benchmarks-loops.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
