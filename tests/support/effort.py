"""How much is tested: what takes long and says little more, only where GRAPHGRAD_TEST_ALL is set (`make test-all`)."""

from __future__ import annotations

import os
from typing import Any

import pytest

ALL = "GRAPHGRAD_TEST_ALL" in os.environ


def long(why: str) -> Any:
    """A mark for tests that run only where everything is asked for.

    Args:
      why: why their like is enough otherwise.
    """
    return pytest.mark.skipif(not ALL, reason=f"takes long; {why}; GRAPHGRAD_TEST_ALL=1 runs it")
