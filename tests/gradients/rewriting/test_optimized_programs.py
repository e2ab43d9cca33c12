"""`optimize_derivatives` on unmodified programs: the same numbers, by Taylor coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession

from .pinn_programs import ALL


def _results(name: str, enabled: bool) -> tuple[list[Any], Any, int]:
    with tf.Graph().as_default() as graph:
        with tf.optimize_derivatives(enabled):
            fetches, weights, feed = ALL[name](tf)
            before = len(graph.get_operations())
            slopes = tf.gradients(fetches[0], weights)
        report = tf.derivatives_report()
        with HostSession() as sess:
            sess.run(tf.global_variables_initializer())
            found = sess.run([*fetches, *[s for s in slopes if s is not None]], feed)
        return found, report, len(graph.get_operations()) - before


@pytest.mark.parametrize("name", ALL)
def test_numbers(name: str) -> None:
    """Values and gradients by weights are those of nested derivatives, up to rounding."""
    nested, nothing, _ = _results(name, False)
    found, report, _ = _results(name, True)
    assert not nothing.findings
    assert any(f.replaced for f in report.findings) , str(report)
    for a, b in zip(found, nested, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_beam_is_shorter() -> None:
    """The gradient of a fourth derivative has less than half of the operations."""
    assert _results("beam", True)[2] < 0.5 * _results("beam", False)[2]


def test_trained_weights_are_equal() -> None:
    """An optimizer takes the same steps."""
    ends = []
    for enabled in (False, True):
        with tf.Graph().as_default(), tf.optimize_derivatives(enabled):
            fetches, weights, feed = ALL["burgers"](tf)
            step = tf.train.GradientDescentOptimizer(0.01).minimize(fetches[0])
            with HostSession() as sess:
                sess.run(tf.global_variables_initializer())
                losses = [sess.run([step, fetches[0]], feed)[1] for _ in range(3)]
                ends.append([*losses, *sess.run(weights)])
    for a, b in zip(*ends, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
