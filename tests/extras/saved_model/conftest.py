"""What the tests of saved models share."""

from __future__ import annotations

import pytest

from graphgrad.ir import context


@pytest.fixture(autouse=True)
def _no_global_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The orders of shuffled data sets were recorded without a global seed, and another test may have set one."""
    monkeypatch.setattr(context.stack, "seed", None)
