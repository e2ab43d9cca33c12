"""Measures what an operation costs in graphs of 1,000 to 1,000,000 operations, and draws docs/inside/growth.svg.

    python -m benchmarks.growth [--sizes N,N] [--repetitions N] [--page FILE] [--picture FILE]

Each graph is made in processes of its own. Times are of the processor: other load on the machine changes them little.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from .report import number, table
from .systems import HERE, machine

SIZES = (1_000, 10_000, 100_000, 1_000_000)
CASES = {"chain": "chain of `tanh`", "wide": "sum of all of a chain", "lstm": "LSTM, unrolled",
         "layers": "net of layers"}
PHASES = {"build": "building", "gradients": "gradients", "plan": "planning", "first": "first run", "step": "later run"}
COLORS = {"build": "#4477aa", "gradients": "#ee6677", "plan": "#228833", "first": "#aa8800", "step": "#aa3377"}
_START, _END = "<!-- growth: begin, written by `python -m benchmarks.growth` -->", "<!-- growth: end -->"


# -- graphs --------------------------------------------------------------------------------


def _chain(tf, x, n):
    y = x
    for _ in range(n):
        y = tf.tanh(y)
    return y, [x]


def _wide(tf, x, n):
    terms = [x]
    for _ in range(n):
        terms.append(tf.tanh(terms[-1]))
    return tf.add_n(terms), [x]


def _repeated(tf, make, state, n):
    """Calls a function of the state until there are n operations; all calls add as many as the first one."""
    graph = tf.get_default_graph()
    before = len(graph.get_operations())
    state = make(*state)
    for _ in range((n - before) // (len(graph.get_operations()) - before) - 1):
        state = make(*state)
    return state


def _lstm(tf, x, n):
    w = tf.get_variable("w", [16, 32], initializer=tf.random_uniform_initializer(-0.1, 0.1, 1))

    def step(c, h):
        i, g, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), w), 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(g)
        return c, tf.tanh(c) * tf.sigmoid(o)

    return _repeated(tf, step, (tf.zeros([4, 8]), tf.zeros([4, 8])), n)[1], [w]


def _layers(tf, x, n):
    weights = []

    def layer(y):
        w, b = tf.Variable(tf.fill([8, 8], 0.1)), tf.Variable(tf.zeros([8]))
        weights.extend((w, b))
        return (tf.nn.relu(tf.matmul(y, w) + b),)

    return _repeated(tf, layer, (x,), n)[0], weights


_MAKE = {"chain": _chain, "wide": _wide, "lstm": _lstm, "layers": _layers}


def measure(case: str, n: int, steps: bool) -> dict[str, float]:
    """Measures one graph in this process.

    Args:
      case: a key of `CASES`.
      n: about the number of operations before the gradient.
      steps: whether XLA runs it, and later runs are measured; else NumPy does, and the first run is measured.
    Returns: phase -> processor time in µs for an operation: of building and gradients for those that are added, of
      the others for all that a run needs.
    """
    os.environ["GRAPHGRAD_FIRST_RUN"] = "xla" if steps else "numpy"
    import numpy as np

    import graphgrad.v1 as tf
    from graphgrad.executor.runtime import executable

    now, planning = time.process_time, []

    def timed(*args, plan=executable.make_plan):
        start = now()
        try:
            return plan(*args)
        finally:
            planning.append(now() - start)

    executable.make_plan = timed
    graph, result = tf.get_default_graph(), {}
    x = tf.placeholder(tf.float32, [4, 8])
    feed = {x: np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)}
    start = now()
    y, xs = _MAKE[case](tf, x, n)
    end, built = now(), len(graph.get_operations())
    result["build"] = (end - start) / built
    start = now()
    grads = tf.gradients(y, xs)
    end, all_of_them = now(), len(graph.get_operations())
    result["gradients"] = (end - start) / (all_of_them - built)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        planning.clear()
        fetches = [tf.group(*grads), y]
        start = now()
        session.run(fetches, feed)
        end = now()
        result["plan"] = planning[0] / all_of_them
        if steps:
            times = []
            for _ in range(5):
                start = now()
                session.run(fetches, feed)
                times.append(now() - start)
            result["step"] = min(times) / all_of_them
        else:
            result["first"] = (end - start - sum(planning)) / all_of_them
    return {phase: seconds * 1e6 for phase, seconds in result.items()}


def measure_all(sizes, repetitions: int) -> dict[tuple[str, int, str], float]:
    """Measures all graphs, each in fresh processes; returns (case, size, phase) -> the median, in µs."""
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE.parent / "src"), env.get("PYTHONPATH")]))
    env["GRAPHGRAD_CACHE_DIR"] = ""
    found: dict[tuple[str, int, str], list[float]] = {}
    for size in sizes:
        for case in CASES:
            for _ in range(repetitions):
                for steps in ("", "steps"):
                    done = subprocess.run([sys.executable, "-m", "benchmarks.growth", "--one", case, str(size), steps],
                                          cwd=HERE.parent, env=env, capture_output=True, text=True)
                    if done.returncode:
                        print(f"{case}, {size:,} {steps}: {done.stderr.strip()[-200:]}", file=sys.stderr)
                        continue
                    for phase, value in json.loads(done.stdout).items():
                        found.setdefault((case, size, phase), []).append(value)
            print(case, f"{size:,}", *[f"{p} {statistics.median(found[case, size, p]):.1f}" for p in PHASES
                                       if (case, size, p) in found], file=sys.stderr, flush=True)
    return {key: statistics.median(values) for key, values in found.items()}


# -- the page and the picture ------------------------------------------------------------------


def text_of(found, sizes, date: str) -> str:
    """The table."""
    rows = []
    for case, words in CASES.items():
        for size in sizes:
            values = [found.get((case, size, phase)) for phase in PHASES]
            rows.append([words if size == sizes[0] else "", f"{size:,}", *map(number, values)])
    return (f"Processor time in µs for an operation ({date}; {machine()}, which did other work, too):\n\n"
            + table(["graph", "operations", *PHASES.values()], rows, words=1))


def picture(found, sizes) -> str:
    """The same as an SVG: a panel for each graph, both axes logarithmic."""
    width, height, left, top, gap = 230, 190, 68, 34, 34
    low, high = 0.1, 1000.0
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def at(panel, size, value):
        across = (math.log10(size) - first) / max(1e-9, last - first)
        up = (math.log10(min(max(value, low), high)) - math.log10(low)) / math.log10(high / low)
        return left + panel * (width + gap) + across * width, top + height * (1 - up)

    whole = left + len(CASES) * (width + gap)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {top + height + 66}" '
             'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    for panel, (case, words) in enumerate(CASES.items()):
        x0, y0 = at(panel, sizes[0], high)
        parts.append(f'<text x="{x0}" y="{y0 - 10}" font-weight="bold">{words.replace("`", "")}</text>')
        for k in range(5):
            value = low * 10**k
            y = at(panel, sizes[0], value)[1]
            parts.append(f'<line x1="{x0}" x2="{x0 + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
            if panel == 0:
                parts.append(f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,g} µs</text>')
        for size in sizes:
            x = at(panel, size, low)[0]
            parts.append(f'<text x="{x:.1f}" y="{y0 + height + 16}" text-anchor="middle">10'
                         f'<tspan dy="-4" font-size="9">{math.log10(size):.0f}</tspan></text>')
        for phase, color in COLORS.items():
            points = [at(panel, s, found[case, s, phase]) for s in sizes if (case, s, phase) in found]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points]
    y = top + height + 48
    for n, (phase, words) in enumerate(PHASES.items()):
        x = left + n * 130
        parts.append(f'<line x1="{x}" x2="{x + 22}" y1="{y - 4}" y2="{y - 4}" stroke="{COLORS[phase]}" '
                     f'stroke-width="2"/><text x="{x + 28}" y="{y}">{words}</text>')
    parts.append(f'<text x="{whole - gap}" y="{y}" text-anchor="end">operations before the gradient</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=3, metavar=("CASE", "N", "STEPS"), help=argparse.SUPPRESS)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of operations")
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs" / "inside" / "performance.md",
                        help="the page whose table is replaced; '-' for none")
    parser.add_argument("--picture", type=Path, default=HERE.parent / "docs" / "inside" / "growth.svg")
    options = parser.parse_args()
    if options.one:
        case, n, steps = options.one
        print(json.dumps(measure(case, int(n), bool(steps))))
        return
    sizes = [int(n) for n in options.sizes.split(",")]
    found = measure_all(sizes, options.repetitions)
    text = text_of(found, sizes, time.strftime("%Y-%m-%d"))
    print(text)
    if str(options.page) != "-":
        before, _, rest = options.page.read_text(encoding="utf-8").partition(_START)
        _, _, after = rest.partition(_END)
        options.page.write_text(f"{before}{_START}\n\n{text}\n\n{_END}{after}", encoding="utf-8")
        options.picture.write_text(picture(found, sizes), encoding="utf-8")


if __name__ == "__main__":
    main()
