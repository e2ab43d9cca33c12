"""An unmodified example, before and after: `graphgrad run --optimize-derivatives`."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests import ROOT
from tests.support.effort import long


def _run(*options: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-m", "graphgrad", "run", *options, "examples/burgers_pinn.py"], cwd=ROOT,
                          capture_output=True, text=True, timeout=300, check=True)
    return done.stdout, done.stderr


@long("two trainings of a physics-informed net")
def test_burgers_example() -> None:
    """It prints the same losses, and the report names what was replaced."""
    (before, nothing), (after, report) = _run(), _run("--optimize-derivatives")
    assert "Nested derivatives" not in nothing
    assert len(re.findall("replaced: Taylor coefficients of order 2", report)) == 3
    numbers = [[float(n) for n in re.findall(r"\d+\.\d+", text)] for text in (before, after)]
    assert len(numbers[0]) == 6
    assert numbers[1] == pytest.approx(numbers[0], rel=1e-3)
