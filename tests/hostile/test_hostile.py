"""Hostile input of every kind: nothing crashes, hangs, or raises what is no error of TensorFlow's."""

import pytest

from tests.support.effort import ALL

from . import harness


@pytest.mark.parametrize("kind", harness.kinds())
def test_hostile(kind: str) -> None:
    """Up to a hundred seeds; with GRAPHGRAD_TEST_ALL 20,000, or as many as ten minutes allow."""
    quick = harness.quick(kind)
    report = harness.run(kind, range(20_000 if ALL else quick), seconds=600 if ALL else float("inf"), hang=120)
    assert not report.failures, str(report)
