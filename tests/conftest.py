"""Makes tests independent of each other, and gives them a disk cache of their own."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Gives the tests a disk cache of their own, which the processes of one run share, and XLA from the first run."""
    os.environ.setdefault("GRAPHGRAD_FIRST_RUN", "xla")
    if "GRAPHGRAD_CACHE_DIR" not in os.environ:
        os.environ["GRAPHGRAD_CACHE_DIR"] = _folder(config)
    # Where no bytecode is to stand beside the sources, each of hundreds of processes would compile what it imports.
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ.setdefault("PYTHONPYCACHEPREFIX", _folder(config))


def _folder(config: pytest.Config) -> str:
    folder = tempfile.mkdtemp(prefix="graphgrad-tests-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    return folder


@pytest.fixture(autouse=True)
def _own_modes() -> Iterator[None]:
    """A test that switches between the behaviours of TensorFlow 1 and 2 switches for itself alone."""
    from graphgrad.frontend.graph import operators
    from graphgrad.frontend.variables.references import References
    from graphgrad.gradients.core.inside_loop import OldControlFlow
    from graphgrad.ir import context, dimension

    before = (operators._tensor_equality, dimension.objects_in_use, context.eager_by_default(),
              References.by_default)
    old = OldControlFlow.on
    context.stack.root = None
    context.stack.settled = False
    yield
    operators._tensor_equality, dimension.objects_in_use = before[:2]
    context.set_eager_default(before[2])
    References.by_default = before[3]
    OldControlFlow.on = old
    context.stack.root = None
    context.stack.settled = False


@pytest.fixture
def first_in_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """First runs may be NumPy's, and the second ones are XLA's."""
    from graphgrad.executor.runtime import executable

    monkeypatch.setenv("GRAPHGRAD_FIRST_RUN", "numpy")
    monkeypatch.setattr(executable, "first_in_numpy", True)
    monkeypatch.setattr(executable, "tiered", False)


@pytest.fixture
def first_in_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs are XLA's, so that equal ones give equal bits."""
    from graphgrad.executor.runtime import executable

    monkeypatch.setattr(executable, "first_in_numpy", False)


@pytest.fixture
def graph() -> Iterator[Any]:
    """A graph that is the default one while the test runs."""
    from graphgrad.ir.graph import Graph

    with Graph().as_default() as g:
        yield g
