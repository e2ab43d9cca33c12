"""Every line of ours in docs/howto/scientists.md is run, and gives what NumPy's formulas give."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.ir import context
from tests import ROOT

PAGE = (ROOT / "docs" / "howto" / "scientists.md").read_text()
LINES = dict(re.findall(r"^\| ([^|]+) \| `(tf\.[^`]+)` \|$", PAGE, re.M))
_X = np.array([1.0, 2.0])
_GRADIENT = np.cos(_X) * _X**2 + 2.0 * np.sin(_X) * _X
_SECOND = 4.0 * np.cos(_X) * _X - np.sin(_X) * _X**2 + 2.0 * np.sin(_X)
EXPECTED: dict[str, Any] = {
    "gradient": _GRADIENT,
    "Jacobian": np.diag(2.0 * _X),
    "Hessian": np.diag(_SECOND),
    "derivative along a direction": [2.0, 0.0],
    "weighted sum of gradients": [2.0, 0.0],
    "Hessian times a vector": [_SECOND[0], 0.0],
    "Laplacian": _SECOND.sum(),
    "third derivative": 48.0,
    "by two arguments": [2.0, 3.0],
    "sparse Jacobian, for SciPy": [[2.0, 1.0]],
    "a function for SciPy, and its derivative": _GRADIENT,
    "a derivative as a formula": "sin(x) + x * cos(x)",
    "compiled, for many calls": np.diag(_SECOND),
}


def _names() -> dict[str, Any]:
    """What the page says is there."""
    names: dict[str, Any] = {}
    block = re.search(r"\n\n((?:    .*\n|\n)+)\| task \| line", PAGE)
    assert block
    exec(re.sub(r"^    ", "", block[1], flags=re.M), names)
    return names


def test_all_lines_are_known():
    assert set(LINES) == set(EXPECTED)


@pytest.mark.parametrize("task", LINES)
def test_lines(task, first_in_numpy):
    with context.use(context.EAGER):
        found = eval(LINES[task], _names())
        if isinstance(EXPECTED[task], str):
            assert str(found) == EXPECTED[task]
            return
        np.testing.assert_allclose([np.asarray(t) for t in found] if isinstance(found, tuple) else np.asarray(found),
                                   EXPECTED[task], 1e-12)


def test_with_scipy(first_in_numpy):
    scipy = pytest.importorskip("scipy")
    pytest.importorskip("scipy.optimize")
    pytest.importorskip("scipy.integrate")
    blocks = re.findall(r"\n\n((?:    .*\n)+)", PAGE.partition("## With SciPy")[2])
    names, found = {"tf": tf, "np": np, "scipy": scipy}, []
    with context.use(context.EAGER):
        for block in blocks:
            made, solved = (line.strip() for line in block.splitlines())
            exec(made, names)
            found.append(eval(solved, names))
    np.testing.assert_allclose(found[0].x, [1.0, 1.0], 1e-6)
    np.testing.assert_allclose(found[1].fun, 0.0, atol=1e-6)
    energy = found[2].y[1] ** 2 / 2.0 - np.cos(found[2].y[0])
    np.testing.assert_allclose(energy, energy[0], atol=0.02)
