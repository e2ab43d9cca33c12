"""Random programs whose shapes only the feeds decide give in each run what NumPy gives; so do nets on several cores."""

from __future__ import annotations

import os

import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import batch_split
from graphgrad.executor.runtime import executable
from graphgrad.executor.runtime.session import HostSession

from . import run_programs

_MORE = int(os.environ.get("GRAPHGRAD_RUN_PROGRAMS", "0"))  # programs of each kind to run besides, by hand


@pytest.mark.parametrize("kind, seed", [(kind, seed) for kind in ("lengths", "ranks") for seed in range(5 + _MORE)])
def test_shapes_in_turn(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five runs with other shapes each; first runs are NumPy's, or XLA's."""
    monkeypatch.setattr(executable, "first_in_numpy", seed % 2 == 0)
    monkeypatch.setattr(executable, "tiered", seed % 4 == 0)
    wanted = run_programs.results(tf, kind, seed, HostSession)
    found = run_programs.results(tf, kind, seed, tf.Session)
    assert run_programs.differences(found, wanted, 2e-4, 2e-5) == []


@pytest.mark.parametrize("seed", range(2 + _MORE))
def test_nets_on_several_cores(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many cores there are, and whether convolutions are dealt out to 1, 2 or 4 threads."""
    monkeypatch.setattr(batch_split, "LARGE", 1)
    monkeypatch.setattr(executable, "first_in_numpy", seed % 2 == 0)
    monkeypatch.setattr(executable, "tiered", seed % 4 == 0)
    wanted = run_programs.results(tf, "nets", seed, HostSession)
    for cores in (1, 2, 4) if seed == 0 else (2, 4):
        monkeypatch.setattr(batch_split, "CORES", cores)
        monkeypatch.setattr(batch_split, "_pool", [])
        found = run_programs.results(tf, "nets", seed, tf.Session)
        assert run_programs.differences(found, wanted, 1e-9, 1e-11) == [], f"{cores} cores"
