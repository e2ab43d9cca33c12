"""Random programs with state give what TensorFlow gives, in three runs: results, gradients, variables, Python's calls.

To compare more of them than the suite does: `GRAPHGRAD_PROGRAMS=FILE pytest tests/programs/test_random_programs.py`
with a file that tests/record/programs/random_programs.py has written.
"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad as v2
import graphgrad.compat.v1 as v1
from graphgrad.executor.runtime import executable
from graphgrad.ir import context
from tests.support.effort import ALL

from . import random_programs

_PATH = pathlib.Path(__file__).parents[1] / "recorded" / "random_programs.jsonl"
_RECORDED = [json.loads(line) for line in
             pathlib.Path(os.environ.get("GRAPHGRAD_PROGRAMS", _PATH)).read_text().splitlines()]
if not ALL and "GRAPHGRAD_PROGRAMS" not in os.environ:
    _RECORDED = _RECORDED[::4]
_PARTS = ("y", "dy/dx", "dy/dv", "dy/dw", "v", "w", "calls")


@pytest.mark.parametrize(("mode", "seed", "recorded"), [pytest.param(*r, id=f"{r[0]}-{r[1]}") for r in _RECORDED])
def test_as_recorded(mode: str, seed: int, recorded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a user runs: NumPy first, then XLA. The order of effects is always automatic here."""
    monkeypatch.setattr(random_programs.Runner, "_crosses", lambda *_: False)
    monkeypatch.setattr(executable, "first_in_numpy", True)
    with context.use(context.EAGER):
        found = random_programs.run(random_programs.draw(seed, mode), mode, v1, v2)
    if isinstance(recorded, str):
        return  # TensorFlow cannot build it: that it is built here is enough
    for i, (here, there) in enumerate(zip(found, recorded, strict=True)):
        for part, a, b in zip(_PARTS, here, there, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-10, err_msg=f"{part} in run {i + 1}")
