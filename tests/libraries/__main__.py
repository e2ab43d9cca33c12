"""Runs the programs and compares: `python -m tests.libraries`; with `--record`, under TensorFlow, records instead."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from tests import ROOT

from . import keras_idioms

_RECORDED = ROOT / "tests" / "recorded" / "libraries"
_SUBJECTS = {"keras_idioms": keras_idioms}


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return np.asarray(value, np.float64).tolist()


def main() -> int:
    """Runs all programs; returns how many differ."""
    recording = "--record" in sys.argv
    if recording:
        import tensorflow as tf
    else:
        import graphgrad as tf  # type: ignore[no-redef]  # either module
    wrong = 0
    for subject, module in _SUBJECTS.items():
        path = _RECORDED / f"{subject}.json"
        expected = {} if recording else json.loads(path.read_text())
        for name, case in module.CASES.items():
            tf.keras.utils.set_random_seed(5)
            found = _plain(case(tf))
            if recording:
                expected[name] = found
                continue
            try:
                for here, there in zip(found, expected[name], strict=True):
                    np.testing.assert_allclose(here, there, rtol=2e-4, atol=2e-5)
                print(f"{subject}: {name}: equal")
            except (AssertionError, ValueError) as e:
                wrong += 1
                print(f"{subject}: {name}: {e}")
        if recording:
            _RECORDED.mkdir(exist_ok=True)
            path.write_text(json.dumps(expected, indent=0) + "\n")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
