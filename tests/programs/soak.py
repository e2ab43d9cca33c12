"""Runs random programs of the generators, many in one process, and says which differ from what they should give.

    python -m tests.programs.soak --kinds graph,function,eager --first 10000 --count 500 --tensorflow PYTHON

`--tensorflow` names a Python with TensorFlow 2.21, which runs as one process beside this one and gets programs by a
pipe. Without it, kinds that have an oracle of their own run: `state`, `nested`, `lengths`, `ranks`, `nets`.

How a program runs depends on its seed: of twenty, seventeen as users' first runs do, in NumPy; one in XLA from the
first run on; one in XLA from the second run on; one changes from NumPy to XLA after a run or two, as after a takeover.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests import ROOT

RECORDED = {"graph": (1e-7, 1e-10), "function": (1e-7, 1e-10), "eager": (1e-7, 1e-10), "tapes": (1e-4, 1e-5),
            "sessions": (1e-6, 1e-9), "idioms": (2e-4, 2e-5), "modules": (2e-4, 2e-5)}
OWN = ("state", "nested", "lengths", "ranks", "nets")


def program(kind: str, seed: int, v1: Any, v2: Any) -> Any:
    """What a program gives: lists of numbers.

    Args:
      kind: one of `RECORDED`.
      seed: which program.
      v1, v2: the modules of TensorFlow 1 and 2, or graphgrad's.
    """
    from tests.behaviours.tapes import taped_programs

    from . import random_programs, session_programs
    from .idioms import idiom_programs, module_programs

    if kind == "idioms":
        return idiom_programs.run(seed, v1, v2)
    if kind == "modules":
        return module_programs.run(seed, v2)
    if kind == "sessions":
        return session_programs.run(seed, v1, v2)
    if kind in random_programs.MODES:
        return random_programs.run(random_programs.draw(seed, kind), kind, v1, v2)
    return taped_programs.results(seed, v1, v2)


def plain(value: Any) -> Any:
    """The same in what JSON has; complex numbers as pairs."""
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items())}
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, bytes):
        return value.decode("latin1")
    array = np.asarray(value)
    if array.dtype.kind == "c":
        return plain([array.real, array.imag])
    if array.dtype.kind in "OSU":
        return plain(array.tolist())
    return array.astype(np.float64 if array.dtype.kind not in "biu" else array.dtype).tolist()


def answer(kind: str, seed: int, v1: Any, v2: Any) -> Any:
    """A program's results, or an error's text."""
    try:
        return plain(program(kind, seed, v1, v2))
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:300]}"


def serve() -> None:
    """Runs the programs that come in, one a line, in TensorFlow."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    tf.config.threading.set_inter_op_parallelism_threads(4)  # Python functions that call functions wait for others
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})  # programs run a few times only
    for line in sys.stdin:
        kind, seed = line.split()
        print(json.dumps([kind, int(seed), answer(kind, int(seed), tf.compat.v1, tf)]), file=answers)


# -- here ----------------------------------------------------------------------------------


@contextlib.contextmanager
def engine(name: str) -> Iterator[None]:
    """A block in which runs are as said: "first", "xla", "second" or "takeover"; see above."""
    from graphgrad.executor.runtime import executable, numpy_run, tiers

    settings: list[tuple[Any, str, Any]] = [(executable, "first_in_numpy", name != "xla"),
                                            (executable, "tiered", name in ("first", "takeover"))]
    if name != "first":
        settings += [(numpy_run, "is_small", lambda plan: False), (numpy_run, "is_light", lambda plan: False)]
    if name == "takeover":
        settings += [(tiers, "_ALL", 1e-3), (tiers, "_WORTH", 1e-7), (numpy_run, "SMALL", 0)]
    before = [(module, attribute, getattr(module, attribute)) for module, attribute, _ in settings]
    for module, attribute, value in settings:
        setattr(module, attribute, value)
    try:
        yield
    finally:
        for module, attribute, value in before:
            setattr(module, attribute, value)


def engine_of(seed: int) -> str:
    """How the program of a seed runs."""
    return {0: "xla", 7: "second", 13: "takeover"}.get(seed % 20, "first")


def differences(found: Any, wanted: Any, rtol: float, atol: float, where: str = "") -> list[str]:
    """Where two results differ, in words."""
    if isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        if not any(isinstance(w, (list, dict, str)) or w is None for w in wanted):
            with contextlib.suppress(TypeError):
                if np.allclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True):
                    return []
                return [f"{where}: {found}, not {wanted}"]
        return [d for i, (f, w) in enumerate(zip(found, wanted, strict=True))
                for d in differences(f, w, rtol, atol, f"{where}[{i}]")]
    if isinstance(wanted, list) and isinstance(found, list) and (n := min(len(found), len(wanted))):
        return [*differences(found[:n], wanted[:n], rtol, atol, where),
                f"{where} has {len(found)}, not {len(wanted)}, the last: {found[-1]}"]
    if isinstance(wanted, dict) and isinstance(found, dict) and found.keys() == wanted.keys():
        return [d for k in wanted for d in differences(found[k], wanted[k], rtol, atol, f"{where}[{k}]")]
    if isinstance(wanted, (int, float)) and isinstance(found, (int, float)):
        same = bool(np.isclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True))
    else:
        same = found == wanted or (isinstance(found, str) and isinstance(wanted, str)
                                   and found.split(":")[0] == wanted.split(":")[0])
    return [] if same else [f"{where}: {found}, not {wanted}"]


def own(kind: str, seed: int) -> list[str]:
    """Where a program that needs no TensorFlow differs from its oracle."""
    import graphgrad.compat.v1 as v1
    from graphgrad.executor.backend import batch_split
    from graphgrad.executor.runtime.session import HostSession

    from . import nested_gradients, run_programs

    if kind == "state":
        from . import test_state_programs as state

        state.compare_tape(seed, 3)
        state.compare_session(seed)
        return []
    if kind == "nested":
        apart = nested_gradients.difference(seed)
        return [] if apart is None or apart < 1e-7 else [f"{apart} apart"]
    before = batch_split.LARGE
    if kind == "nets":
        batch_split.LARGE = 1
    try:
        wanted = run_programs.results(v1, kind, seed, HostSession)
        found = run_programs.results(v1, kind, seed, v1.Session)
    finally:
        batch_split.LARGE = before
    return run_programs.differences(found, wanted, *((1e-9, 1e-11) if kind == "nets" else (2e-4, 2e-5)))


class _Oracle:
    """TensorFlow in a process of its own; it works ahead."""

    def __init__(self, python: str, wanted: list[tuple[str, int]]):
        env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen([python, "-m", "tests.programs.soak", "--serve"], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._wanted = wanted
        threading.Thread(target=self._ask, daemon=True).start()

    def _ask(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self.process.stdin as pipe:
            for kind, seed in self._wanted:
                pipe.write(f"{kind} {seed}\n")
                pipe.flush()

    def __iter__(self) -> Iterator[tuple[str, int, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            kind, seed, found = json.loads(line)
            yield kind, seed, found


def compared(kind: str, seed: int, wanted: Any, chosen: str) -> list[str] | None:
    """Where a program differs from what TensorFlow gives; None if TensorFlow cannot build it."""
    import graphgrad as v2
    import graphgrad.compat.v1 as v1
    from graphgrad.ir import context

    from . import random_programs
    from .idioms import idiom_programs

    if isinstance(wanted, str):
        return None
    crosses = random_programs.Runner._crosses
    random_programs.Runner._crosses = lambda *_: False  # type: ignore[method-assign]  # the order is automatic here
    try:
        with context.use(context.EAGER), engine(chosen):
            found = answer(kind, seed, v1, v2)
    finally:
        random_programs.Runner._crosses = crosses  # type: ignore[method-assign]  # as before
    if kind in ("idioms", "modules") and isinstance(found, list):
        found, wanted = idiom_programs.comparable(found, wanted)
    return differences(found, wanted, *RECORDED[kind])


def _say(kind: str, seed: int, how: str, found: list[str]) -> None:
    print(f"{kind} {seed} [{how}]:", *(f[:600] for f in found[:4]), sep="\n  ", flush=True)


def _run_own(kinds: list[str], seeds: range, chosen: Callable[[int], str], until: float) -> int:
    failed = 0
    for kind in kinds:
        count = 0
        for seed in seeds:
            if time.monotonic() > until:
                break
            try:
                with engine(chosen(seed)):
                    found = own(kind, seed)
            except Exception as e:
                found = [f"{type(e).__name__}: {str(e)[:1500]}"]
            count += 1
            if found:
                failed += 1
                _say(kind, seed, chosen(seed), found)
        print(f"{kind}: {count} programs, {failed} differ so far", flush=True)
    return failed


def main() -> int:
    """The command; 1 if a program differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--serve", action="store_true", help="run programs in TensorFlow; used by the command itself")
    parser.add_argument("--kinds", default="graph,function,eager", help="which, with commas (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: %(default)s)")
    parser.add_argument("--count", type=int, default=100, help="how many seeds of each (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long at most")
    parser.add_argument("--engine", choices=("first", "xla", "second", "takeover"), help="one for all seeds")
    parser.add_argument("--tensorflow", default="", metavar="PYTHON", help="a Python with TensorFlow")
    args = parser.parse_args()
    if args.serve:
        serve()
        return 0
    kinds, seeds = args.kinds.split(","), range(args.first, args.first + args.count)
    until = time.monotonic() + args.seconds

    def chosen(seed: int) -> str:
        return args.engine or engine_of(seed)

    failed = _run_own([k for k in kinds if k in OWN], seeds, chosen, until)
    wanted = [(kind, seed) for seed in seeds for kind in kinds if kind in RECORDED]
    if not wanted:
        return int(failed > 0)
    counts = {kind: [0, 0, 0] for kind, _ in wanted}
    oracle = _Oracle(args.tensorflow, wanted)
    for kind, seed, there in oracle:
        found = compared(kind, seed, there, chosen(seed))
        counts[kind][0] += 1
        counts[kind][1] += found is None
        if found:
            counts[kind][2] += 1
            _say(kind, seed, chosen(seed), found)
        if time.monotonic() > until:
            oracle.process.kill()
            break
    for kind, (n, impossible, differing) in counts.items():
        print(f"{kind}: {n} programs, {impossible} TensorFlow cannot build, {differing} differ", flush=True)
    return int(failed > 0 or any(c[2] for c in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
