"""How much of what published programs use there is: it may grow, and may not fall."""

from __future__ import annotations

import sys

import pytest

from . import usage

# Table -> the share that is there: of all uses, and of those that are not of Keras and the estimators.
_REACHED = {"usage_tf_gradients": (0.9955, 0.999), "usage": (0.9725, 0.9975)}


@pytest.mark.parametrize("name", _REACHED)
def test_coverage(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The share of uses that `graphgrad run` serves."""
    for module in [n for n in sys.modules if n.split(".")[0] == "tensorflow"]:
        monkeypatch.delitem(sys.modules, module)
    rows = [r for r in usage.table(name) if not r.no_name]
    gone = list(usage.missing(rows))
    own = [r for r in rows if not r.other_system]
    everything, without = _REACHED[name]
    missing = [r.symbol for r in sorted(gone, key=lambda r: -r.uses)]
    assert usage.coverage(rows, gone) >= everything, missing
    assert usage.coverage(own, gone) >= without, missing


def test_the_measure_sees_what_is_missing() -> None:
    """Names that are not there are found to be missing, and those that are are not."""
    rows = [usage.Name(n, 1, 1, "internal") for n in (
        "[import] python.ops.math_ops.reduce_nothing", "[import] contrib.nothing", "no_such_name", "nn.no_such_name",
        "[import] python.framework.ops", "python.framework.ops.Tensor", "nn.relu", "Session", "io.gfile")]
    assert [r.symbol for r in usage.missing(rows)] == [r.symbol for r in rows[:4]]
    assert usage.coverage(rows, rows[:3]) == pytest.approx(6 / 9)
