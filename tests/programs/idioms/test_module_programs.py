"""Programs of 2.x in the idioms of public ones give what TensorFlow gives, step by step."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import graphgrad as v2
from graphgrad.ir import context
from tests.support.effort import ALL

from .. import soak
from . import idiom_programs, module_programs

_PATH = pathlib.Path(__file__).parents[2] / "recorded" / "module_programs.jsonl"
_RECORDED = [json.loads(line) for line in _PATH.read_text().splitlines()][: None if ALL else 5]


@pytest.mark.parametrize(("seed", "recorded"), [pytest.param(*r, id=str(r[0])) for r in _RECORDED])
def test_as_recorded(seed: int, recorded: Any) -> None:
    with context.use(context.EAGER), soak.engine(soak.engine_of(seed)):
        found = soak.plain(module_programs.run(seed, v2))
    here, there = idiom_programs.comparable(found, recorded)
    assert soak.differences(here, there, *soak.RECORDED["modules"]) == []
