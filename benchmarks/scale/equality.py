"""Whether models learn the same in one process and in several: the losses of each kind of training, compared.

    python -m benchmarks.scale.equality [--small] [--steps 12] [--page docs/inside/scale.md] [models ...]

In one process: the whole batch, a mesh of two devices, and two replicas; in two processes: Horovod's names,
`MultiWorkerMirroredStrategy`, and the same mesh. The last two of one process have counterparts in two, which have to
give the same bits.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.models import MODELS

ROOT = Path(__file__).parents[2]
ALONE, TOGETHER = ("whole", "moved", "mesh", "replicas"), ("horovod", "workers", "mesh")
# The kinds that compute the same in the same order, wherever it is.
_SAME = {"mesh of 2 devices": ["mesh", "mesh, process 0", "mesh, process 1"],
         "2 replicas": ["replicas", *(f"{kind}, process {i}" for kind in ("horovod", "workers") for i in (0, 1))]}
_START, _END = "<!-- equality: begin, written by `python -m benchmarks.scale.equality` -->", "<!-- equality: end -->"
OWN_MOMENTS = {"ResNet-20"}  # models whose loss depends on which examples are together
ROUNDING = 1e-5  # relative: what the losses of float32 may differ by
AMPLIFIED = 20.0  # or so many times what moved weights make


class Comparison(NamedTuple):
    """How a model's losses differ between the kinds, relatively, at most over all steps.

    Attributes:
      model: its name.
      first, last: the losses of the whole batch.
      moved: where each weight, and each number of the data, is the next larger one.
      mesh, replicas: of the mesh and the replicas, from the whole batch; None where that computes something else.
      unequal: the kinds that should give the same bits, and do not.
    """

    model: str
    first: float
    last: float
    moved: float
    mesh: float
    replicas: float | None
    unequal: list[str]

    @property
    def is_equal(self) -> bool:
        """Whether all is as it should be."""
        limit = max(ROUNDING, AMPLIFIED * self.moved)
        return not self.unequal and max(self.mesh, self.replicas or 0.0) <= limit


def train(names: list[str], steps: int, small: bool) -> dict[str, dict[str, list[float]]]:
    """Trains models; returns the losses: model -> kind, with the process where there are several -> losses.

    Args:
      names: the models.
      steps: how many steps.
      small: whether the models are those for tests.
    """
    program = [str(ROOT / "benchmarks/scale/losses.py")]
    found: dict[str, dict[str, list[float]]] = collections.defaultdict(dict)
    for kinds, start in ((ALONE, []), (TOGETHER, ["-m", "graphgrad", "launch", "-n", "2"])):
        arguments = [";".join(kinds), ";".join(names), str(steps), *(["small"] if small else [])]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        ended = subprocess.run([sys.executable, *start, *program, *arguments], env=environment, text=True,
                               capture_output=True)
        if ended.returncode:
            raise RuntimeError(ended.stderr[-3000:])
        for line in ended.stdout.splitlines():
            text = line.partition("] ")[2] if start else line
            if not text.startswith("{"):
                continue
            one = json.loads(text)
            kind = one["kind"] + (f", process {one['process']}" if start else "")
            found[one["model"]][kind] = one["losses"]
    return found


def compare(name: str, losses: dict[str, list[float]]) -> Comparison:
    """Compares the losses of a model.

    Args:
      name: the model.
      losses: kind, with the process where there are several -> losses.
    """
    unequal = [kind for kinds in _SAME.values() for kind in kinds if losses[kind] != losses[kinds[0]]]
    whole = losses["whole"]

    def apart(kind: str) -> float:
        return max(abs(a - b) / max(abs(b), 1e-30) for a, b in zip(losses[kind], whole, strict=True))

    return Comparison(name, whole[0], whole[-1], apart("moved"), apart("mesh"),
                      None if name in OWN_MOMENTS else apart("replicas"), unequal)


def table(found: list[Comparison], steps: int) -> str:
    """Returns the table as text."""
    lines = [f"| model | first loss | loss {steps} | moved | mesh | replicas | equal bits |",
             "|---|---:|---:|---:|---:|---:|---|"]
    for one in found:
        replicas = "other moments" if one.replicas is None else f"{one.replicas:.1g}"
        lines.append(f"| {one.model} | {one.first:.5g} | {one.last:.5g} | {one.moved:.1g} | {one.mesh:.1g} "
                     f"| {replicas} | {'no: ' + ', '.join(one.unequal) if one.unequal else 'yes'} |")
    return "\n".join(lines)


def main() -> int:
    """Trains, prints the table, and writes it into a page; returns how many models differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--small", action="store_true", help="the sizes of the tests")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--page", type=Path, help="a page with the marks of this table")
    options = parser.parse_args()
    found = []
    for name in options.models or MODELS:
        found.append(compare(name, train([name], options.steps, options.small)[name]))
        print(table(found[-1:], options.steps).splitlines()[-1], flush=True)
    if options.page:
        before, _, rest = options.page.read_text(encoding="utf-8").partition(_START)
        after = rest.partition(_END)[2]
        options.page.write_text(f"{before}{_START}\n\n{table(found, options.steps)}\n\n{_END}{after}",
                                encoding="utf-8")
    return sum(not one.is_equal for one in found)


if __name__ == "__main__":
    sys.exit(main())
