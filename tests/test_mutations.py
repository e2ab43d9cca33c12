"""The list of mutants fits the sources: a mutant that changes nothing shows nothing."""

from __future__ import annotations

import pathlib

import pytest

from mutations import MUTANTS

_ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.part}: {m.what}")
def test_mutants_change_something(mutant) -> None:
    assert mutant.old in (_ROOT / "src" / "graphgrad" / mutant.path).read_text()
    assert mutant.new != mutant.old
    for name in mutant.tests.split():
        assert (_ROOT / "tests" / f"test_{name}.py").is_file()
