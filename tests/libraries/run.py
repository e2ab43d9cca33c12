"""Runs the programs of subjects in this environment and compares: `python -m tests.libraries.run SUBJECT ...`.

With `--record`, under TensorFlow, it records instead. A subject is a module beside this one or in a folder here:

  CASES: the programs by name; each gets the module `tensorflow` and returns numbers.
  EXPECTED: what programs return whose library does not run on TensorFlow 2.21, with where that is known from.
  FACE: which TensorFlow `import tensorflow` is, 1 or 2; 2 if not given.
  prepare: is called with the module before each program; if not given, seeds are set and 1.x gets a new graph.
  RTOL, ATOL: how far numbers may differ.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import random
import sys
import traceback
from typing import Any

import numpy as np

from tests import ROOT

RECORDED = ROOT / "tests" / "recorded" / "libraries"


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return np.asarray(value, np.float64).tolist()


def _tensorflow(version: int, recording: bool) -> Any:
    """Returns the module that `import tensorflow` gives the libraries."""
    if not recording:
        from graphgrad.compat.importing import install

        install(version)
    elif version == 1:
        import tensorflow.compat.v1

        tensorflow.compat.v1.disable_v2_behavior()
    return importlib.import_module("tensorflow")


def _prepare(tf: Any) -> None:
    random.seed(5)
    np.random.seed(5)
    if tf.executing_eagerly():
        tf.random.set_seed(5)
    else:
        tf.compat.v1.reset_default_graph()
        tf.compat.v1.set_random_seed(5)


def _difference(found: Any, expected: Any, module: Any) -> str:
    """Returns how results differ; nothing if they agree."""
    try:
        for here, there in zip(found, expected, strict=True):
            np.testing.assert_allclose(here, there, getattr(module, "RTOL", 2e-4), getattr(module, "ATOL", 2e-5))
    except (AssertionError, ValueError, TypeError) as e:
        return str(e) or type(e).__name__
    return ""


def run(subject: str, recording: bool) -> int:
    """Runs a subject's programs; returns how many differ."""
    (place,) = pathlib.Path(__file__).parent.rglob(f"{subject}.py")
    module = importlib.import_module(".".join(place.relative_to(ROOT).with_suffix("").parts))
    tf = _tensorflow(getattr(module, "FACE", 2), recording)
    path = RECORDED / f"{subject}.json"
    expected = dict(getattr(module, "EXPECTED", {}))
    if not recording and path.exists():
        expected = json.loads(path.read_text()) | expected
    prepare = getattr(module, "prepare", _prepare)
    wrong, recorded = 0, {}
    for name, case in module.CASES.items():
        if recording and name in expected:
            continue
        prepare(tf)
        if recording:
            recorded[name] = _plain(case(tf))
            continue
        try:
            problem = _difference(_plain(case(tf)), expected[name], module)
        except Exception:  # a program of a library may fail in any way; the others are still run
            problem = traceback.format_exc()
        wrong += bool(problem)
        print(f"{subject}: {name}: {problem or 'equal'}", flush=True)
    if recording:
        RECORDED.mkdir(exist_ok=True)
        lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in recorded.items()]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return wrong


if __name__ == "__main__":
    subjects = [a for a in sys.argv[1:] if not a.startswith("-")]
    sys.exit(sum(run(subject, "--record" in sys.argv) for subject in subjects))
