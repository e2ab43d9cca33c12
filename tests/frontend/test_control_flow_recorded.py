"""Programs of control flow, their first and second derivatives: TensorFlow's values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.frontend.function.function import Function
from graphgrad.ir import context
from tests.support.recordings import Recorded

from . import control_flow_cases as cases


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with context.use(context.EAGER):
        yield


def _case(name: str) -> Function:
    return Function(lambda x: cases.derivatives(tf, name, x), engine="numpy")


@pytest.mark.parametrize("name", cases.CASES)
def test_recorded(name: str) -> None:
    """Value, gradient, and the gradient of the gradient."""
    entry = Recorded.of("control_flow").entry(name)
    assert entry is not None, "run tests/record/control_flow.py"
    found = _case(name)(tf.constant(cases.X))
    for order, (value, expected) in enumerate(zip(found, entry["outputs"], strict=False)):
        np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-12, err_msg=f"order {order}")


def test_compiled() -> None:
    """XLA gives TensorFlow's values, too."""
    names = ["while", "arrays", "nested", "autograph", "until"]
    together = tf.function(lambda x: [cases.derivatives(tf, name, x)[:2] for name in names])
    for name, found in zip(names, together(tf.constant(cases.X)), strict=True):
        entry = Recorded.of("control_flow").entry(name)
        assert entry is not None
        for value, expected in zip(found, entry["outputs"], strict=False):
            np.testing.assert_allclose(value, expected, rtol=1e-9, err_msg=name)
