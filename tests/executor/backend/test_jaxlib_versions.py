"""What differs between the versions of jaxlib whose private names are used."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from graphgrad.executor.backend import xla


def _old(aval: Any, sharding: Any, committed: bool, skip_checks: bool) -> tuple[Any, ...]:
    return aval, sharding, committed, skip_checks


def _new(aval: Any, sharding: Any, committed: bool) -> tuple[Any, ...]:
    return aval, sharding, committed


@pytest.mark.parametrize(("make", "more"), [(_old, (True, True)), (_new, (True,))], ids=["0.10", "0.11"])
def test_makers_of_result_handlers(make: Any, more: tuple[bool, ...]) -> None:
    """They are called with the arguments of their version."""
    handler_of = xla._result_handlers(SimpleNamespace(array_result_handler=make), "sharding")
    spec = xla.ArraySpec((2,), np.dtype(np.float64))
    assert handler_of(spec) == (spec, "sharding", *more)


def test_an_unknown_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing in jaxlib is an error that says which versions of JAX will do, and leaves no device."""
    def fails(*args: Any) -> None:
        raise AttributeError("module has no attribute 'batched_device_put'")

    monkeypatch.setattr(xla, "_made", [])
    monkeypatch.setattr(xla, "Device", fails)
    text = r"graphgrad does not know jaxlib .*batched_device_put.*Fix: pip install 'jax>=0.10,<0.13'"
    with pytest.raises(ImportError, match=text):
        xla.device()
    assert not xla.is_made()
