"""Compares, to the last bit, what processes of the same model compute: losses of each step, and variables at the end.

    python -m benchmarks.determinism [--models A B] [--processes N] [--steps N] [--page FILE]

Half of the processes have all cores, the others one. Those of either half have in turn no disk cache, an empty one, and
one that another process has filled; every other pair runs beside programs that keep all cores busy, if nothing does so
already; and each has a hash seed of its own. Bits are to be equal within a half: another number of threads may add up
in another order.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .models import MODELS
from .report import table
from .systems import HERE, cores, machine

CACHES = ("none", "empty", "filled")
_START = "<!-- determinism: begin, written by `python -m benchmarks.determinism` -->"
_END = "<!-- determinism: end -->"


class Setting(NamedTuple):
    """How a process runs.

    Attributes:
      cores: the number of its cores.
      cache: one of `CACHES`.
      busy: whether another program keeps the cores busy.
      seed: what the hashes of its texts begin with.
    """

    cores: int
    cache: str
    busy: bool
    seed: int


class Outcome(NamedTuple):
    """What a process computed.

    Attributes:
      losses: the bits of the loss of each step.
      variables: name -> digest of the final value of each variable, or of each gradient where nothing is learned.
    """

    losses: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]


def settings(processes: int, all_cores: int) -> list[Setting]:
    """Deals out caches, other load and cores.

    Args:
      processes: how many processes there are.
      all_cores: how many cores there are.
    """
    both = sorted({all_cores, 1}, reverse=True)
    return [Setting(both[n % len(both)], CACHES[(n // len(both)) % len(CACHES)],
                    bool(n // len(both) % 2), n + 1) for n in range(processes)]


def compute(model: str, steps: int) -> Outcome:
    """Runs a model in this process."""
    import graphgrad.v1 as tf

    from .worker import Graphgrad

    system = Graphgrad()
    system.start(MODELS[model]())
    for phase in system.phases:
        getattr(system, phase)()
    losses = [_bits(system.first()), *(_bits(system.step()) for _ in range(steps - 1))]
    with system.graph.as_default():
        named = {v.name: v for v in tf.global_variables()}
    if not system.model.optimizer:
        values = dict(enumerate(system.session.run(system.fetches, system.feeds)))
    else:
        values = system.session.run(named)
    return Outcome(tuple(losses), tuple((str(k), hashlib.sha256(_raw(v)).hexdigest()) for k, v in values.items()))


def _raw(value) -> bytes:
    import numpy as np

    return np.ascontiguousarray(value).tobytes()


def _bits(value) -> str:
    return _raw(value).hex()


@contextlib.contextmanager
def _load(on: bool) -> Iterator[None]:
    """Keeps all cores busy in a `with` block, if that is wanted and nothing does so already."""
    on = on and os.getloadavg()[0] < 2 * len(cores())
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in cores() if on]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def run(model: str, steps: int, setting: Setting, filled: str) -> Outcome:
    """Runs a model in a process of its own.

    Args:
      model: a key of `MODELS`.
      steps: the number of steps.
      setting: how it runs.
      filled: a folder for those that get a filled cache; the first one fills it.
    """
    with tempfile.TemporaryDirectory() as empty, _load(setting.busy):
        env = dict(os.environ) | {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE.parent / "src"), os.environ.get("PYTHONPATH")])),
            "GRAPHGRAD_CACHE_DIR": {"none": "", "empty": empty, "filled": filled}[setting.cache],
            "PYTHONHASHSEED": str(setting.seed)}
        allowed = ",".join(map(str, cores()[:setting.cores]))
        done = subprocess.run([sys.executable, "-m", "benchmarks.determinism", "--one", model, str(steps), allowed],
                              cwd=HERE.parent, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{model}, {setting}: {done.stderr.strip()[-500:]}")
    losses, variables = json.loads(done.stdout.splitlines()[-1])
    return Outcome(tuple(losses), tuple(map(tuple, variables)))


def difference(a: Outcome, b: Outcome) -> str:
    """What differs first between two outcomes, in words; empty if nothing does."""
    for n, (x, y) in enumerate(zip(a.losses, b.losses, strict=True)):
        if x != y:
            return f"losses from step {n + 1} on"
    names = [name for (name, x), (_, y) in zip(a.variables, b.variables, strict=True) if x != y]
    return f"variables {', '.join(names)}" if names else ""


def compare(outcomes: Sequence[tuple[Setting, Outcome]]) -> list[str]:
    """The differences within each number of cores, in words: against the most frequent outcome."""
    found = []
    for number in dict.fromkeys(s.cores for s, _ in outcomes):
        group = [(s, o) for s, o in outcomes if s.cores == number]
        usual = collections.Counter(o for _, o in group).most_common(1)[0][0]
        found += [f"{s}: {words}" for s, o in group if (words := difference(usual, o))]
    return found


def text_of(rows: dict[str, list[tuple[Setting, Outcome]]], steps: int, date: str) -> str:
    """The table."""
    lines = []
    for model, outcomes in rows.items():
        by_cores = {n: [o for s, o in outcomes if s.cores == n] for n in dict.fromkeys(s.cores for s, _ in outcomes)}
        same = len({group[0] for group in by_cores.values()}) == 1
        lines.append([model, ", ".join(f"{len(group)} with {n} core{'s' * (n > 1)}" for n, group in by_cores.items()),
                      ", ".join(str(len(set(group))) for group in by_cores.values()),
                      "–" if len(by_cores) < 2 else "yes" if same else "no"])
    return (f"{steps} steps of each model ({date}; {machine()}, which did other work, too):\n\n"
            + table(["model", "processes", "different outcomes", "one core as all"], lines, words=4))


def main() -> None:
    """The command; exits with 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.determinism", description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=3, metavar=("MODEL", "STEPS", "CORES"), help=argparse.SUPPRESS)
    parser.add_argument("--models", nargs="+", default=[""], metavar="MODEL", help="names, or what they begin with")
    parser.add_argument("--processes", type=int, default=20, help="of each model")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs" / "inside" / "reliability.md",
                        help="the page whose table is replaced; '-' for none")
    options = parser.parse_args()
    if options.one:
        model, steps, allowed = options.one
        if allowed:
            os.sched_setaffinity(0, map(int, allowed.split(",")))  # before anything asks how many cores there are
        print(json.dumps(compute(model, int(steps))))
        return
    rows: dict[str, list[tuple[Setting, Outcome]]] = {}
    differences = []
    for model in (m for m in MODELS if m.startswith(tuple(options.models))):
        rows[model] = []
        with tempfile.TemporaryDirectory() as filled:
            for setting in settings(options.processes, len(cores()) or 1):
                start = time.perf_counter()
                rows[model].append((setting, run(model, options.steps, setting, filled)))
                print(f"{model}, {setting}: {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
        differences += [f"{model}, {words}" for words in compare(rows[model])]
        print(text_of({model: rows[model]}, options.steps, "").splitlines()[-1], file=sys.stderr, flush=True)
    text = text_of(rows, options.steps, time.strftime("%Y-%m-%d"))
    print(text)
    if str(options.page) != "-":
        before, start_mark, rest = options.page.read_text(encoding="utf-8").partition(_START)
        if start_mark:
            after = rest.partition(_END)[2]
            options.page.write_text(f"{before}{_START}\n\n{text}\n\n{_END}{after}", encoding="utf-8")
    print(*differences, sep="\n", file=sys.stderr)
    raise SystemExit(bool(differences))


if __name__ == "__main__":
    main()
