"""The page docs/inside/benchmarks.md, made from what was measured."""

from __future__ import annotations

import datetime
import statistics

from . import imports
from .systems import NAMES, machine, on_gpu

INTRODUCTION = """\
# Benchmarks

Made by `python -m benchmarks` (`make bench`); do not edit by hand. The models (`benchmarks/models.py`) are the same
for all systems: shapes, float32, initial weights and data handed in as arrays, optimizer. The losses of the first two
steps were compared; a system that computes something else, or fails, has no figures. graphgrad and TensorFlow (graph
mode) run the same program; JAX runs a jitted function of the weights, whose buffers are donated; PyTorch is eager.
Every number is a median, written as measured, of fresh processes that take turns, so that other load on the machine
affects all: one process after the other up to the hundredth result (another system first in each repetition), and then
in turns for further steps.

What the columns say:

- *import*, *build* (the loss), *gradients* (`tf.gradients`). JAX and PyTorch have no graph to build: the cells are
  empty, and the corresponding work is part of the first run.
- *first run*: session or function, initial weights, first step, compilation included; *cached*: the same in a later
  process, which finds compiled programs in graphgrad's disk cache, or in JAX's (which has to be enabled).
- *first result*: all that a user waits for: import, building, gradients, the optimizer's operations, first run;
  *second*, *tenth*, *hundredth result*: further steps besides; ninety steps only where they take less than 10 s.
  graphgrad runs the first steps in NumPy, while another process compiles or, on one core, before it does.
- *step*: one further step, of graphgrad a compiled one, data handed in and loss handed out as NumPy arrays.
- *growth*: the peak of the process's memory after a cold start and the steps, less what it was after the import and
  with the data made (graphgrad imports JAX later, if it has to compile); *peak*: the peak itself; *alive*: graphgrad's
  own figure, `peak_bytes` of its report: variables and values between and within the programs of a step.

In graphgrad's rows, the number in parentheses is the ratio to the best of the others: below 1 graphgrad is ahead.
Cached runs are compared with the best first run, cached or not. [Performance](performance.md) explains the
numbers."""

GPU = """\
Products of float32 matrices may use the GPU's shorter format (TF32) in all systems. Figures of memory are those of the
processor's memory, but for *alive*."""

MEBI = 2**20
# Heading, metric, what one unit of the column is, the metrics of peers that it is compared with.
COLUMNS = (
    ("import, s", "import", 1, ("import",)),
    ("build, ms", "forward", 1e-3, ("forward",)),
    ("gradients, ms", "gradients", 1e-3, ("gradients",)),
    ("first run, s", "first", 1, ("first",)),
    ("cached", "first, cached", 1, ("first", "first, cached")),
    ("first result, s", "first result", 1, ("first result",)),
    ("cached", "first result, cached", 1, ("first result", "first result, cached")),
    ("second result, s", "second result", 1, ("second result",)),
    ("cached", "second result, cached", 1, ("second result", "second result, cached")),
    ("tenth result, s", "tenth result", 1, ("tenth result",)),
    ("cached", "tenth result, cached", 1, ("tenth result", "tenth result, cached")),
    ("hundredth result, s", "hundredth result", 1, ("hundredth result",)),
    ("cached", "hundredth result, cached", 1, ("hundredth result", "hundredth result, cached")),
    ("step, ms", "step", 1e-3, ("step",)),
    ("growth, MiB", "growth", MEBI, ("growth",)),
    ("peak, MiB", "process", MEBI, ("process",)),
    ("alive, MiB", "alive", MEBI, ()),
)
WORDS = {"forward": "build", "first": "first run", "first, cached": "first run, cached",
         "growth": "growth of memory", "process": "peak of memory"}


def page(results, settings, models, systems, million) -> str:
    """The whole page as text."""
    parts = [INTRODUCTION, setting(results, systems)]
    for count in settings:
        parts += [f"## {'One GPU' if on_gpu() else 'One core' if count == 1 else f'{count} cores'}",
                  GPU if on_gpu() else
                  "All systems were kept on one core by the operating system." if count == 1 else
                  "All systems with their own settings.",
                  _comparison(results, count, models, systems)]
    peers = [s for s in systems if s != "graphgrad"]
    if peers:
        parts += ["## Where graphgrad is behind", behind(results, settings, models, peers)]
    parts += ["## Budgets", _budgets(results, settings[-1], models, million)]
    if million:
        parts += ["## A million operations", million_table(million)]
    if results.failures:
        parts += ["## Failures", "\n".join(f"- {model}, {NAMES[system]}, cores: {setting}: {text}"
                                           for (setting, model, system), text in results.failures.items())]
    return "\n\n".join(parts) + "\n"


def setting(results, systems) -> str:
    """When, where and with what it was measured."""
    before, after = results.load
    lines = [f"Date: {datetime.date.today().isoformat()}. Machine: {machine()}. Load average before the start: "
             f"{before:.1f}, at the end: {after:.1f} (about 1 when nothing else runs).", ""]
    for system in systems:
        versions = dict(results.versions.get(system, {}))
        own = versions.pop("system", "?")
        others = ", ".join(f"{k} {v}" for k, v in versions.items())
        lines.append(f"- {NAMES[system]} {own} ({others})")
    return "\n".join(lines)


def table(header, rows, words=1) -> str:
    """A Markdown table; the first columns, of words, left, the others right."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * words + "---:|" * (len(header) - words)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def number(value, scale=1.0) -> str:
    """Three digits, or a dash."""
    if value is None:
        return "–"
    value *= scale
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio(ours, theirs) -> str:
    """ours / theirs."""
    return "–" if not ours or not theirs else f"{ours / theirs:.2f}"


def _comparison(results, setting, models, systems) -> str:
    rows = []
    for model in models:
        for system in systems:
            row = [model if system == systems[0] else "", NAMES[system]]
            for _, metric, unit, rivals in COLUMNS:
                value = results.median(setting, model, metric, system)
                cell = "" if value is None else f"{value / MEBI:,.1f}" if unit == MEBI else number(value, 1 / unit)
                if system == "graphgrad" and value is not None:
                    best = results.best(setting, model, rivals, systems[1:])
                    cell += f" ({value / best[0]:.2f})" if best else ""
                row.append(cell)
            rows.append(row)
    return table(["model", "system", *[c[0] for c in COLUMNS]], rows, words=2)


def behind(results, settings, models, peers) -> str:
    """For each column how many models are not behind, and those that are, the worst first."""
    lines = []
    for setting in settings:
        lines += [f"Cores: {setting}.", ""]
        for _, metric, _, rivals in COLUMNS:
            found = []
            for model in models:
                own = results.median(setting, model, metric, "graphgrad")
                best = results.best(setting, model, rivals, peers)
                if own is not None and best:
                    found.append((own / best[0], model, NAMES[best[1]]))
            if not found:
                continue
            late = [f"{model} {ratio:.2f} × {peer}" for ratio, model, peer in sorted(found, reverse=True)
                    if ratio >= 1.005]
            middle = statistics.median(ratio for ratio, *_ in found)
            lines.append(f"- {WORDS.get(metric, metric)}: not behind in {len(found) - len(late)} of {len(found)} "
                         f"models, median ratio {middle:.2f}" + (f"; behind: {', '.join(late)}." if late else "."))
        lines.append("")
    return "\n".join(lines).rstrip()


def _budgets(results, setting, models, million) -> str:
    rows = []

    def row(what, limit, value, unit, scale):
        met = "–" if value is None else "yes" if value <= limit else f"no, {value / limit:.2f} ×"
        rows.append([what, f"≤ {number(limit / scale)} {unit}", f"{number(value, 1 / scale)} {unit}", met])

    def middle(metric, per=None):
        found = []
        for model in models:
            value = results.median(setting, model, metric, "graphgrad")
            count = results.median(setting, model, per, "graphgrad") if per else 1
            if value is not None and count:
                found.append(value / count)
        return statistics.median(found) if found else None

    row("import", 0.2, middle("import"), "s", 1)
    for kind, words in (("compiled", "with bytecode"), ("cold", "without bytecode")):
        if kind in results.imports:
            seconds = results.imports[kind]
            row(f"import, {words}, beside `import numpy` (whole processes)", imports.LIMIT,
                seconds["graphgrad"] / seconds["numpy"], "×", 1)
    for what, metric, limit in (("building", "forward", 10e-6), ("`gradients()`", "gradients", 12e-6)):
        row(f"{what}, an operation (median of the models, the first of a process)", limit,
            middle(metric, f"{metric} operations"), "µs", 1e-6)
    for words, size, runs in million:
        if size == max(s for _, s, _ in million):
            name = words.split(":")[0]
            build = statistics.median(r["build seconds"] / r["forward"] for r in runs)
            row(f"building, {name}, {size:,} operations", 10e-6, build, "µs", 1e-6)
            added = statistics.median(r["gradients seconds"] / r["added"] for r in runs)
            row(f"`gradients()`, {name}, {size:,} operations", 12e-6, added, "µs", 1e-6)
    if "smallest graph" in models:
        smallest = results.median(setting, "smallest graph", "step", "graphgrad")
        row("`Session.run` of the smallest graph, one feed", 40e-6, smallest, "µs", 1e-6)
    return table(["what", "budget", "graphgrad", "met"], rows)


def million_table(million) -> str:
    """The table of large graphs."""
    rows = []
    for words, size, runs in million:
        def middle(f, runs=runs):
            return statistics.median(f(r) for r in runs)

        rows.append([
            words, f"{size:,}",
            number(middle(lambda r: r["build seconds"] / r["forward"]), 1e6),
            number(middle(lambda r: r["gradients seconds"] / r["added"]), 1e6),
            f"{middle(lambda r: r['added']):,.0f}",
            number(middle(lambda r: (r["built"] - r["empty"]) / r["forward"])),
            number(middle(lambda r: (r["differentiated"] - r["empty"]) / (r["forward"] + r["added"]))),
            number(middle(lambda r: r["differentiated"]), 1 / 2**20),
        ])
    header = ["graph", "operations", "building, µs/op", "gradients, µs/op added", "added", "built, bytes/op",
              "differentiated, bytes/op", "peak memory, MiB"]
    return table(header, rows)
