"""The page docs/benchmarks.md, made from what was measured."""

from __future__ import annotations

import datetime
import statistics

from .systems import machine

INTRODUCTION = """\
# Benchmarks

Made by `python -m benchmarks` (`make bench`); do not edit by hand. Every number is a median, written as
measured. graphgrad and TensorFlow run the same programs (`benchmarks/models.py`), each in fresh processes of
its own, and take turns, so that what else the machine does meets both. A ratio is graphgrad's time by
TensorFlow's: below 1 graphgrad is faster. [Performance](performance.md) says what stands behind the numbers."""

BUDGETS = {"import": 0.2, "build": 10e-6, "gradients": 12e-6, "dispatch": 40e-6}


def page(results, models, systems, million) -> str:
    """The whole page as text."""
    peer = "tensorflow" in systems
    parts = [INTRODUCTION, setting(results, systems), "## Budgets", _budgets(results, models, peer, million)]
    parts += ["## Steps", _models_table(results, models, peer, "step", "one step, in ms", 1e3),
              "## First run",
              "Session, initial values of the variables and the first step, in a fresh process. \"Second process\" "
              "finds graphgrad's disk cache filled by an earlier one.",
              _first_table(results, models, peer),
              "## Building", "Time for each operation, in µs; and how many operations there are.",
              _build_table(results, models, peer)]  # fmt: skip
    if million:
        parts += ["## A million operations", "\n".join(million_table(million))]
    notes = _notes(results, models, peer)
    if notes:
        parts += ["## Notes", notes]
    return "\n\n".join(parts) + "\n"


def setting(results, systems) -> str:
    """When, where and with what it was measured."""
    before, after = results.load
    lines = [f"Date: {datetime.date.today().isoformat()}. Machine: {machine()}. Load average before the start: "
             f"{before:.1f}, at the end: {after:.1f} (about 1 when nothing else runs).", ""]  # fmt: skip
    for system in systems:
        versions = dict(results.versions.get(system, {}))
        own = versions.pop("system", "?")
        others = ", ".join(f"{k} {v}" for k, v in versions.items())
        lines.append(f"- {system} {own} ({others})")
    return "\n".join(lines)


def table(header, rows) -> str:
    """A Markdown table; the first column left, the others right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
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


def _columns(results, model, metric, peer, scale):
    ours = results.median(model, metric, "graphgrad")
    if not peer:
        return [number(ours, scale)]
    theirs = results.median(model, metric, "tensorflow")
    return [number(ours, scale), number(theirs, scale), ratio(ours, theirs)]


def _heads(peer, what=""):
    return [f"graphgrad{what}"] + ([f"TensorFlow{what}", "ratio"] if peer else [])


def _all(results, models, metric, system):
    values = [results.median(m, metric, system) for m in models]
    return [v for v in values if v is not None]


def _budgets(results, models, peer, million) -> str:
    rows = []

    def row(what, budget, limit, ours, theirs, scale, unit):
        met = "–" if ours is None else "yes" if ours <= limit else f"no, {ours / limit:.2f} ×"
        rows.append([what, budget, f"{number(ours, scale)} {unit}", met]
                    + ([f"{number(theirs, scale)} {unit}" if theirs else "–", ratio(ours, theirs)] if peer else []))

    def two(metric):
        return results.median("", metric, "graphgrad"), results.median("", metric, "tensorflow") if peer else None

    def middle(metric):
        pair = [_all(results, models, metric, s) for s in ("graphgrad", "tensorflow")]
        return [statistics.median(p) if p else None for p in pair]

    row("import", "≤ 0.2 s", BUDGETS["import"], *two("import"), 1, "s")
    row("building, an operation (median of the models)", "≤ 10 µs", BUDGETS["build"], *middle("forward"), 1e6, "µs")
    row("`gradients()`, an added operation (median of the models)", "≤ 12 µs", BUDGETS["gradients"],
        *middle("gradients"), 1e6, "µs")  # fmt: skip
    for words, size, runs in million:
        if size == max(s for _, s, _ in million):
            name = words.split(":")[0]
            build = statistics.median(r["build seconds"] / r["forward"] for r in runs)
            row(f"building, {name}, {size:,} operations", "≤ 10 µs", BUDGETS["build"], build, None, 1e6, "µs")
            added = statistics.median(r["gradients seconds"] / r["added"] for r in runs)
            row(f"`gradients()`, {name}, {size:,} operations", "≤ 12 µs", BUDGETS["gradients"], added, None, 1e6, "µs")
    row("`Session.run` of the smallest graph, one feed", "≤ 40 µs", BUDGETS["dispatch"], *two("dispatch"), 1e6, "µs")
    header = ["what", "budget", "graphgrad", "met", *(["TensorFlow", "ratio"] if peer else [])]
    text = table(header, rows)
    if peer:
        for metric, what in (("first", "First run"), ("step", "Step")):
            pairs = [(results.median(m, metric, "graphgrad"), results.median(m, metric, "tensorflow")) for m in models]
            ratios = [a / b for a, b in pairs if a and b]
            if ratios:
                within = sum(r <= 1 for r in ratios)
                text += (f"\n\n{what}, budget ≤ 1.0 × TensorFlow: met by {within} of {len(ratios)} models; median "
                         f"ratio {statistics.median(ratios):.2f}, worst {max(ratios):.2f}.")
    return text


def _models_table(results, models, peer, metric, what, scale) -> str:
    return table([what, *_heads(peer)], [[m, *_columns(results, m, metric, peer, scale)] for m in models])


def _first_table(results, models, peer) -> str:
    rows = []
    for m in models:
        cells = _columns(results, m, "first", peer, 1)
        cached = results.median(m, "first, cached", "graphgrad")
        cells.append(number(cached))
        if peer:
            cells.append(ratio(cached, results.median(m, "first", "tensorflow")))
        rows.append([m, *cells])
    return table(["first run, in s", *_heads(peer), "graphgrad, second process", *(["ratio"] if peer else [])], rows)


def _build_table(results, models, peer) -> str:
    rows = []
    for m in models:
        cells = []
        for phase in ("forward", "gradients"):
            counts = [results.median(m, f"{phase} ops", s) for s in ("graphgrad", *(["tensorflow"] if peer else []))]
            cells += ["/".join(number(c) for c in counts), *_columns(results, m, phase, peer, 1e6)]
        rows.append([m, *cells])
    header = ["building"]
    for phase in ("forward", "gradients"):
        header += [f"{phase}: operations", *_heads(peer)]
    return table(header, rows)


def million_table(million) -> list[str]:
    """The lines of the table of large graphs."""
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
        ])  # fmt: skip
    header = ["graph", "operations", "building, µs/op", "gradients, µs/op added", "added", "built, bytes/op",
              "differentiated, bytes/op", "peak memory, MiB"]  # fmt: skip
    return table(header, rows).splitlines()


def _notes(results, models, peer) -> str:
    lines = [f"- {m}, {s}: failed at {text}" for (m, s), text in results.failures.items()]
    if peer:
        for m in models:
            ours, theirs = results.losses.get((m, "graphgrad")), results.losses.get((m, "tensorflow"))
            if not ours or not theirs:
                continue
            first, *later = [abs(a - b) / max(abs(b), 1e-6) for a, b in zip(ours, theirs, strict=False)]
            worst = max([first, *later])
            # Adam makes whole steps of rounding errors; with other kernels TensorFlow differs from itself by 1 %.
            if not (first <= 1e-4 and worst <= 0.02):
                a, b = (", ".join(f"{v:.6g}" for v in losses) for losses in (ours, theirs))
                lines.append(f"- {m}: the losses of the first steps differ by up to {worst:.1e} (graphgrad {a}; "
                             f"TensorFlow {b})")
    return "\n".join(lines)
