"""The ops on variables, under both engines: they have no row, for their results are side effects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from graphgrad import errors
from graphgrad.executor.runtime.session import HostSession, Session
from graphgrad.gradients.core.backprop import gradients
from graphgrad.ir import dtypes
from graphgrad.ir.graph import Graph
from graphgrad.ir.opdef import raw
from tests.support.host import dense

START = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
ROW_NUMBERS = np.array([2, 0, 2], np.int32)
UPDATES = np.array([[0.5, -1.0], [8.0, 2.0], [2.0, 0.25]], np.float32)


@pytest.fixture(params=[HostSession, Session])
def run(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Runs fetches in a session of a graph that is the default one."""
    with Graph().as_default(), request.param() as sess:
        yield sess.run


def _variable(run: Callable[..., Any]) -> Any:
    handle = raw.VarHandleOp(dtype=dtypes.float32, shape=(3, 2), shared_name="v")
    run(raw.AssignVariableOp(handle, START))
    return handle


def _read(handle: Any) -> Any:
    return raw.ReadVariableOp(handle, dtype=dtypes.float32, shape=(3, 2))


def test_assign(run: Callable[..., Any]) -> None:
    """Assignments replace, add and subtract; reads see them in creation order."""
    handle = raw.VarHandleOp(dtype=dtypes.float32, shape=(3, 2), shared_name="v")
    initialized = raw.VarIsInitializedOp(handle)
    assert not run(initialized)
    with pytest.raises(errors.FailedPreconditionError):
        run(_read(handle))
    run(raw.AssignVariableOp(handle, START))
    assert run(initialized)
    before = _read(handle)
    add = raw.AssignAddVariableOp(handle, np.ones((3, 2), np.float32))
    after = _read(handle)
    first, _, second = run([before, add, after])
    np.testing.assert_array_equal(first, START)
    np.testing.assert_array_equal(second, START + 1)
    run(raw.AssignSubVariableOp(handle, UPDATES))
    np.testing.assert_array_equal(run(_read(handle)), START + 1 - UPDATES)
    np.testing.assert_array_equal(run(raw.VariableShape(handle, shape=(3, 2))), [3, 2])


_SCATTERS: dict[str, Callable[[Any, int, Any], Any]] = {
    "ResourceScatterUpdate": lambda v, i, u: u,
    "ResourceScatterAdd": lambda v, i, u: v[i] + u,
    "ResourceScatterSub": lambda v, i, u: v[i] - u,
    "ResourceScatterMul": lambda v, i, u: v[i] * u,
    "ResourceScatterDiv": lambda v, i, u: v[i] / u,
    "ResourceScatterMin": lambda v, i, u: np.minimum(v[i], u),
    "ResourceScatterMax": lambda v, i, u: np.maximum(v[i], u),
}


@pytest.mark.parametrize("op_type", _SCATTERS)
def test_scatter(run: Callable[..., Any], op_type: str) -> None:
    """Updates of rows happen one after the other, for rows named twice as well."""
    handle = _variable(run)
    run(getattr(raw, op_type)(handle, ROW_NUMBERS, UPDATES))
    want = START.copy()
    for i, u in zip(ROW_NUMBERS, UPDATES, strict=True):
        want[i] = _SCATTERS[op_type](want, i, u)
    np.testing.assert_allclose(run(_read(handle)), want, rtol=1e-6)


def test_gather(run: Callable[..., Any]) -> None:
    """A gather reads rows; its gradient is zero but for them, and so is that of a read."""
    handle = _variable(run)
    rows = raw.ResourceGather(handle, ROW_NUMBERS, dtype=dtypes.float32, shape=(3, 2))
    np.testing.assert_array_equal(run(rows), START[ROW_NUMBERS])
    value = _read(handle)
    y = raw.Sum(raw.Square(rows), [0, 1])
    (sparse,) = gradients(y, [handle])
    want = np.zeros_like(START)
    np.add.at(want, ROW_NUMBERS, 2 * START[ROW_NUMBERS])
    np.testing.assert_allclose(run(dense(sparse, handle.graph)), want)
    (full,) = gradients(raw.Sum(raw.Square(value), [0, 1]), [handle])
    np.testing.assert_allclose(run(full), 2 * START)


def test_failed_run_changes_nothing(run: Callable[..., Any]) -> None:
    """A run that fails leaves every variable as it was."""
    handle = _variable(run)
    x = raw.Placeholder(dtype=dtypes.float32, shape=None)
    assign = raw.AssignAddVariableOp(handle, np.ones((3, 2), np.float32))
    bad = raw.CheckNumerics(x, message="not finite")
    with pytest.raises(errors.InvalidArgumentError, match="not finite"):
        run([assign, bad], {x: np.float32(np.inf)})
    np.testing.assert_array_equal(run(_read(handle)), START)
