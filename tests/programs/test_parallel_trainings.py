"""The benchmarks' models learn the same in one process, on several devices, and in several processes."""

from __future__ import annotations

import pytest

from benchmarks.models import MODELS
from benchmarks.scale.equality import compare, train
from tests.support.effort import long

_ALWAYS = ("MLP", "skip-gram")  # dense gradients, and rows


@pytest.mark.parametrize("name", [name if name in _ALWAYS else pytest.param(name, marks=long("others do so"))
                                  for name in MODELS])
def test_one_process_and_several_learn_the_same(name: str) -> None:
    """To rounding between the kinds, and to the last bit where they compute the same in the same order."""
    found = compare(name, train([name], 10, small=True)[name])
    assert found.is_equal, found
