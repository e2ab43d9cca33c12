"""What must not be overwritten on an accelerator is copied; a processor stands in for one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import xla

START = np.arange(5000.0, dtype=np.float32)


@pytest.fixture
def accelerator(monkeypatch: pytest.MonkeyPatch, first_in_xla: None) -> Iterator[Any]:
    """The default device, which says that it is no processor."""
    device = xla.device()
    monkeypatch.setattr(device, "platform", "cuda")
    yield device
    assert not list(device._pins)


def _step(sess: Any) -> tuple[Any, Any, Any]:
    """A variable, a step that updates it, and its cell, which holds a buffer."""
    v = tf.get_variable("v", initializer=START, use_resource=True)
    step = v.assign_add(tf.sin(v) * 2.0).op
    sess.run(v.initializer)
    sess.run(step)
    (cell,) = sess._cells.values()
    assert type(cell.held) is xla.device().buffer
    return v, step, cell


def _next(x: np.ndarray) -> np.ndarray:
    return x + 2.0 * np.sin(x)


@pytest.mark.parametrize("enough", [True, False], ids=["memory suffices", "little memory"])
@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "free"])
def test_values_stay(accelerator: Any, monkeypatch: pytest.MonkeyPatch, pinned: bool, enough: bool) -> None:
    """The old value is there as long as it is pinned, and where memory may not suffice; else it is written over."""
    with tf.Graph().as_default(), tf.Session() as sess:
        v, step, cell = _step(sess)
        monkeypatch.setattr(xla.Program, "_may_donate", lambda self: enough)
        expected = _next(START)
        for _ in range(3):
            old = cell.held
            pin = accelerator.pin(old) if pinned else None
            sess.run(step)
            assert old.is_deleted() is (enough and not pinned)
            if not old.is_deleted():
                np.testing.assert_allclose(xla.to_numpy(old), expected, rtol=1e-5, atol=1e-3)
            expected = _next(expected)
            np.testing.assert_allclose(sess.run(v), expected, rtol=1e-5, atol=1e-2)
            del pin, old


def test_a_report_of_a_step_changes_nothing(accelerator: Any) -> None:
    """`explain` runs a step and drops what it assigns."""
    with tf.Graph().as_default(), tf.Session() as sess:
        v, step, _ = _step(sess)
        for _ in range(3):
            sess.explain(step)
            np.testing.assert_allclose(sess.run(v), _next(START), rtol=1e-5, atol=1e-3)
        sess.run(step)
        np.testing.assert_allclose(sess.run(v), _next(_next(START)), rtol=1e-5, atol=1e-2)
