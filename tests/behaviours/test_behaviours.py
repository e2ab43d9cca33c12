"""Small programs give what TensorFlow gives: the first run in NumPy, all runs in XLA, and as users have it."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

import graphgrad as v2
import graphgrad.compat.v1 as v1
from graphgrad.executor.runtime import executable
from graphgrad.ir import context
from tests.support.effort import chosen

from . import harness

_ENGINES = ("numpy", "xla", "")
_ALL = [(subject, name, first) for subject in harness.SUBJECTS for name in harness.cases_of(subject)
        for k, first in enumerate(_ENGINES) if chosen(name, 9) or zlib.crc32(name.encode()) // 3 % 3 == k]  # or one


@pytest.mark.parametrize(("subject", "name", "first"), _ALL, ids=["-".join(a) for a in _ALL])
def test_as_recorded(subject: str, name: str, first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program returns is what TensorFlow returned, or what is said to differ."""
    monkeypatch.setattr(executable, "first_in_numpy", first != "xla")
    monkeypatch.setattr(executable, "tiered", not first)
    monkeypatch.setenv("GRAPHGRAD_FIRST_RUN", first)
    case = harness.cases_of(subject)[name]
    recorded: dict[str, Any] = harness.recorded(subject)
    assert name in recorded, f"run python -m tests.record.behaviours {subject} beside TensorFlow"
    with context.use(context.EAGER):
        found = case.run(v1, v2)
    expected = recorded[name]
    if case.differs:
        assert harness.differences(expected, harness.as_json(case.expected), case.rtol, case.atol), "it does not differ"
        expected = harness.as_json(case.expected)
    assert harness.differences(found, expected, case.rtol, case.atol) == []
