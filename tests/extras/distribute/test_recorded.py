"""Strategies against what TensorFlow does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.executor.plan.placement import default_placement
from graphgrad.ir import context
from tests.record import RECORDED
from tests.support.effort import long

from .cases import CASES, OPTIMIZERS, outcome

_FOUND: dict[str, Any] = json.loads((RECORDED / "distribute.json").read_text())


@pytest.fixture(autouse=True)
def two_devices(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Eager mode, with a processor that counts as two devices."""
    monkeypatch.setattr(default_placement, "cpus", 2)
    with context.use(context.EAGER):
        yield


def same(found: Any, wanted: Any, path: str = "") -> None:
    """Asserts that two structures are alike, with numbers equal to rounding."""
    if isinstance(wanted, dict):
        assert isinstance(found, dict) and found.keys() == wanted.keys(), (path, found, wanted)
        for key, value in wanted.items():
            same(found[key], value, f"{path}.{key}")
    elif isinstance(wanted, list):
        assert isinstance(found, list) and len(found) == len(wanted), (path, found, wanted)
        for i, value in enumerate(wanted):
            same(found[i], value, f"{path}[{i}]")
    elif isinstance(wanted, float):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=path)
    else:
        assert found == wanted and type(found) is type(wanted), (path, found, wanted)


_LATER = long("other optimizers have slots, too")


@pytest.mark.parametrize("name", [pytest.param(name, marks=_LATER) if name in OPTIMIZERS and name != "Adam" else name
                                  for name in CASES])
def test_case(name: str) -> None:
    """Each case gives what it gives in TensorFlow."""
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    same(outcome(lambda: CASES[name](tf, strategy)), _FOUND[name])
