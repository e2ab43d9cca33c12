"""The list of mutants fits the sources: a mutant that changes nothing shows nothing."""

from __future__ import annotations

import pytest

from tests import ROOT

from .mutations import MUTANTS, file_of


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.part}: {m.what}")
def test_mutants_change_something(mutant) -> None:
    assert mutant.old in (ROOT / "src" / "graphgrad" / mutant.path).read_text()
    assert mutant.new != mutant.old
    for name in mutant.tests.split():
        assert (ROOT / file_of(name)).is_file()
