"""Random programs on a mesh over several processes give what NumPy gives, and the same bits in every process."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from graphgrad.executor.runtime.session import HostSession
from tests import ROOT
from tests.programs.sharded_programs import build, run
from tests.support.effort import ALL, long
from tests.support.launched import launched

_PROGRAM = """
    import os, sys
    import numpy as np
    sys.path.insert(0, sys.argv[3])
    import graphgrad.compat.v1 as tf
    from tests.programs.sharded_programs import build, run

    count, me = int(os.environ["GRAPHGRAD_PROCESSES"]), int(os.environ["GRAPHGRAD_PROCESS"])
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        program = build(seed)
        session = tf.Session(graph=program.graph, config=tf.ConfigProto(device_count={"CPU": 4 // count}))
        np.savez(f"{seed}-{me}", *run(program, seed, session))
"""


def _check(folder: pathlib.Path, count: int, first: int, last: int) -> None:
    status, _, errors = launched(folder, _PROGRAM, count, first, last, ROOT)
    assert status == 0, errors
    for seed in range(first, last):
        program = build(seed)
        wanted = run(program, seed, HostSession(graph=program.graph))
        given = [np.load(folder / f"{seed}-{i}.npz") for i in range(count)]
        for i, value in enumerate(wanted):
            found = [g[f"arr_{i}"] for g in given]
            np.testing.assert_allclose(found[0], value, rtol=1e-9, atol=1e-9, err_msg=f"seed {seed}")
            assert all(f.tobytes() == found[0].tobytes() for f in found), (seed, i)


def test_two_processes(tmp_path: pathlib.Path) -> None:
    _check(tmp_path, 2, 0, 1)


@long("more of the same")
@pytest.mark.parametrize(("count", "first"), [(2, n) for n in range(1, 25, 4)] + [(4, n) for n in range(1, 25, 2)]
                         if ALL else [(4, 1)])
def test_more_programs(tmp_path: pathlib.Path, count: int, first: int) -> None:
    _check(tmp_path, count, first, first + 8 // count)
