"""Measures which parts of a program XLA's library YNNPACK should get, and writes down what the rule is based on.

    python -m benchmarks.library_fusion

Each form, an ordinary piece of a model, is compiled with each choice; the programs take turns, and a number is the
median of their runs. Results are compared with those of the choice without a library, computed in float64. Writes
`docs/inside/benchmarks-library-fusion.md`; with `--quick` it only prints.
"""

from __future__ import annotations

import argparse
import datetime
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from graphgrad.executor.backend import xla, xla_options
from graphgrad.executor.rewrite import rewriting

_PAGE = Path(__file__).resolve().parents[1] / "docs" / "inside" / "benchmarks-library-fusion.md"
_REDUCTION, _PRODUCT, _CONVOLUTION = xla_options.KINDS
_now = time.perf_counter

# Name, what YNNPACK gets, whether reductions are rewritten (`executor/rewrite/reductions.py`).
CHOICES = {
    "nothing": (frozenset[int](), False),
    "nothing, sums rewritten": (frozenset[int](), True),
    "products": (frozenset({_PRODUCT, _CONVOLUTION}), False),
    "products, sums rewritten": (frozenset({_PRODUCT, _CONVOLUTION}), True),
    "all": (frozenset({_PRODUCT, _CONVOLUTION, _REDUCTION}), False),
}


def _forms(jax: Any) -> dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]]:
    """The forms: a function, and the shapes of its arguments."""
    jnp, nn = jax.numpy, jax.nn

    def normalized(x: Any, w: Any) -> Any:
        centered = x - x.mean(-1, keepdims=True)
        return centered * w / jnp.sqrt(jnp.mean(centered * centered, -1, keepdims=True) + 1e-5)

    def dense(x: Any, w: Any, b: Any) -> Any:
        return nn.relu(x @ w + b)

    def loss(x: Any, w: Any, b: Any) -> Any:
        return jnp.mean(jnp.tanh(x @ w + b) ** 2)

    def classifier(x: Any, w: Any, b: Any) -> Any:
        logits = x @ w + b
        return -jnp.mean(nn.log_softmax(logits)[:, 0])

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8.0
        return jnp.einsum("bhqk,bhkd->bhqd", nn.softmax(scores), v)

    def whole(q: Any, k: Any, v: Any) -> Any:
        return jnp.sum(attention(q, k, v) ** 2)

    def convolved(x: Any, w: Any, b: Any) -> Any:
        y = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return nn.relu(y + b)

    def depthwise(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                            feature_group_count=x.shape[-1])

    def moments(x: Any) -> Any:
        mean = x.mean((0, 1, 2))
        return mean, jnp.mean((x - mean) ** 2, (0, 1, 2))

    everything = (0, 1, 2)
    found: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
        "sum of all": (jnp.sum, [(1_000_000,)]),
        "sum of rows": (lambda x: x.sum(1), [(4096, 256)]),
        "sum of few long rows": (lambda x: x.sum(1), [(16, 65536)]),
        "sum of columns": (lambda x: x.sum(0), [(4096, 256)]),
        "sum of squares": (lambda x: jnp.sum(x * x), [(512, 1024)]),
        "maximum of rows": (lambda x: x.max(1), [(1024, 1000)]),
        "softmax": (nn.softmax, [(1024, 1000)]),
        "layer norm": (normalized, [(2048, 128), (128,)]),
        "moments of a batch": (moments, [(32, 28, 28, 64)]),
        "bias's gradient of an image": (lambda x: x.sum((0, 1, 2)), [(32, 28, 28, 64)]),
    }
    for n, i, o in ((32, 16, 32), (64, 784, 512), (1000, 20, 20), (1024, 128, 512)):
        shapes = [(n, i), (i, o), (o,)]
        found[f"dense, {n} x {i} to {o}"] = (dense, shapes)
        found[f"dense and loss, {n} x {i} to {o}, gradients"] = (jax.grad(loss, everything), shapes)
    shapes = [(256, 512), (512, 1000), (1000,)]
    found["classifier, 256 x 512 to 1000, gradients"] = (jax.grad(classifier, everything), shapes)
    for b, h, n in ((16, 4, 64), (4, 8, 256)):
        shapes = [(b, h, n, 32)] * 3
        found[f"attention, {b} x {h} heads, {n} of 32"] = (attention, shapes)
        found[f"attention, {b} x {h} heads, {n} of 32, gradients"] = (jax.grad(whole, everything), shapes)
    shapes = [(32, 14, 14, 32), (3, 3, 32, 64), (64,)]
    found["convolution, 32 x 14 x 14 x 32, 3 x 3 to 64"] = (convolved, shapes)
    found["convolution and loss, gradients"] = (jax.grad(lambda *a: jnp.mean(convolved(*a) ** 2), everything), shapes)
    shapes = [(8, 28, 28, 32), (3, 3, 1, 32)]
    found["depthwise convolution, 8 x 28 x 28 x 32"] = (depthwise, shapes)
    found["depthwise convolution, gradients"] = (jax.grad(lambda *a: jnp.mean(depthwise(*a) ** 2), (0, 1)), shapes)
    return found


def _compiled(text: str, choice: str, device: xla.Device) -> Any:
    kinds, rewritten = CHOICES[choice]
    code = rewriting.parsed(text, rewritten)
    return device.compile(code, [], kinds).executable


def _choice_of_the_rule(text: str) -> str:
    kinds = xla_options.libraries(text)
    wanted = (kinds, not xla_options.sums(kinds))
    return next(name for name, choice in CHOICES.items() if choice == wanted)


def _flat(results: Any) -> list[np.ndarray]:
    return [np.asarray(r[0]) for r in results.disassemble_into_single_device_arrays()]


def measure(jax: Any, function: Callable[..., Any], shapes: list[tuple[int, ...]], rounds: int,
            ) -> tuple[dict[str, float], str, dict[str, float]]:
    """Times a form.

    Args:
      jax: the module.
      function, shapes: of `_forms`.
      rounds: how often each program runs.
    Returns: milliseconds by choice, the rule's choice, the largest error by choice, relative to the largest number.
    """
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=s).astype(np.float32) for s in shapes]
    text = jax.jit(function).lower(*arrays).as_text()
    device = xla.device()
    exact = [np.asarray(r) for r in jax.tree.leaves(jax.jit(function)(*[a.astype(np.float64) for a in arrays]))]
    programs = {name: _compiled(text, name, device) for name in CHOICES}
    buffers = [device.put(a) for a in arrays]
    times: dict[str, list[float]] = {name: [] for name in programs}
    errors = {}
    for name, program in programs.items():
        for _ in range(3):
            found = _flat(program.execute_sharded(buffers))
        errors[name] = max(float(np.max(np.abs(f - e)) / (np.max(np.abs(e)) + 1e-30))
                           for f, e in zip(found, exact, strict=True))
    for _ in range(rounds):
        for name, program in programs.items():
            start = _now()
            results = program.execute_sharded(buffers).disassemble_into_single_device_arrays()
            device.wait([r[0] for r in results])
            times[name].append(_now() - start)
    return {name: statistics.median(t) * 1e3 for name, t in times.items()}, _choice_of_the_rule(text), errors


def page(results: dict[str, Any], cores: int) -> str:
    """Makes the page of the results of `measure` by form."""
    names = list(CHOICES)
    lines = [
        "# What XLA's library gets, measured", "",
        "Made by `python -m benchmarks.library_fusion`; do not edit by hand. Which parts of a program YNNPACK gets is",
        "decided by a rule (`executor/backend/xla_options.py`), which looks at the program alone. Where it may not",
        "have sums, they are rewritten as products with ones (`executor/rewrite/reductions.py`). Here each form was",
        "compiled with each choice. Milliseconds of a run, median, the programs taking turns. The rule's choice is",
        "**bold**. What differs from float64 by more than 1e-4 of the largest number is marked with a !.", "",
        f"Date: {datetime.date.today()}. Machine: {os.cpu_count()} cores, of which {cores} were used. "
        f"Load average before: {os.getloadavg()[0]:.1f}.", "",
        "| form | " + " | ".join(names) + " | the rule's by the best |",
        "|---|" + "---:|" * (len(names) + 1),
    ]
    ratios = []
    for form, (times, rule, errors) in results.items():
        right = [n for n in names if errors[n] <= 1e-4]
        ratio = times[rule] / min(times[n] for n in right)
        ratios.append(ratio)
        cells = [(f"**{times[n]:.3g}**" if n == rule else f"{times[n]:.3g}") + (" !" if n not in right else "")
                 for n in names]
        lines.append(f"| {form} | " + " | ".join(cells) + f" | {ratio:.2f} |")
    within = sum(r <= 1.1 for r in ratios)
    lines += ["", f"In {within} of {len(ratios)} forms the rule's choice takes at most 1.1 times as long as the best; "
              f"the median is {statistics.median(ratios):.2f}, the largest {max(ratios):.2f}.", ""]
    return "\n".join(lines)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few runs, and nothing is written")
    parser.add_argument("--one-core", action="store_true", help="keep the process on one core")
    args = parser.parse_args()
    if args.one_core:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import jax

    jax.config.update("jax_enable_x64", True)
    results = {}
    for form, (function, shapes) in _forms(jax).items():
        results[form] = measure(jax, function, shapes, 15 if args.quick else 101)
        times, rule, errors = results[form]
        print(form, rule, {n: round(t, 3) for n, t in times.items()}, max(errors.values()), flush=True)
    text = page(results, len(os.sched_getaffinity(0)))
    if args.quick:
        print(text)
    else:
        _PAGE.write_text(text)


if __name__ == "__main__":
    main()
