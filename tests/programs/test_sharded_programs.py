"""Random programs that are split over a mesh give what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.programs.sharded_programs import build, run
from tests.support.effort import ALL


@pytest.mark.parametrize("seed", range(40 if ALL else 2))
def test_splitting_changes_no_number(seed: int) -> None:
    program = build(seed)
    assert any(op.type == "XlaSharding" for op in program.graph.get_operations())
    split = run(program, seed, tf.Session(graph=program.graph, config=tf.ConfigProto(device_count={"CPU": 4})))
    whole = run(program, seed, HostSession(graph=program.graph))
    for found, wanted in zip(split, whole, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
