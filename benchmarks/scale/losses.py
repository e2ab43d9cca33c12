"""Trains models in this process, or with the others of `graphgrad launch`; prints the losses, a line for each training.

    python benchmarks/scale/losses.py KINDS MODELS STEPS [small]

Kinds and models stand between semicolons; `moved` is the whole batch with weights that are moved by a rounding error.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np

from benchmarks.scale.trainings import Training, make

PARTS = 2


def losses(name: str, kind: str, steps: int, small: bool) -> list[float]:
    """Trains a model; returns the losses before each step.

    Args:
      name: the model.
      kind: one of `trainings.KINDS`, or "moved".
      steps: how many steps.
      small: whether the model is one for tests.
    """
    model: Any = make(name, small)
    if kind == "moved":
        model.weights = [np.nextafter(w, np.float32(np.inf)) for w in model.weights]
        model.data = [np.nextafter(a, np.float32(np.inf)) if a.dtype == np.float32 else a for a in model.data]
    training = Training(name, model, "whole" if kind == "moved" else kind, PARTS)
    return [training.step() for _ in range(steps)]


def main(kinds: str, names: str, steps: int, small: bool) -> None:
    """Trains each model with each kind."""
    for name in names.split(";"):
        for kind in kinds.split(";"):
            found = {"model": name, "kind": kind, "losses": losses(name, kind, steps, small),
                     "process": int(os.environ.get("GRAPHGRAD_PROCESS", "0"))}
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:] == ["small"])
