"""Makes tests independent of each other, and gives them a disk cache of their own."""

import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.effort import chosen


def pytest_configure(config: pytest.Config) -> None:
    """Gives the tests a disk cache of their own, which the processes of one run share, and XLA from the first run."""
    if "GRAPHGRAD_FIRST_RUN" not in os.environ:
        os.environ["GRAPHGRAD_FIRST_RUN"] = "xla"
        os.environ["GRAPHGRAD_TEST_ENGINES"] = "both"
    if "GRAPHGRAD_CACHE_DIR" not in os.environ:
        os.environ["GRAPHGRAD_CACHE_DIR"] = _folder(config)
    # Where no bytecode is to stand beside the sources, each of hundreds of processes would compile what it imports.
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ.setdefault("PYTHONPYCACHEPREFIX", _folder(config))


# What stands on the executor. Its tests ask for an engine by themselves where one is their subject.
_ABOVE = {"extras", "frontend", "gradients", "layers", "training"}


@pytest.fixture(autouse=True)
def _engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the executor one test in three, by its name, compiles first runs; in the others they are NumPy's.

    The second runs of plans are compiled everywhere. `make test-all` compiles all.
    """
    room = request.path.relative_to(pathlib.Path(__file__).parent).parts[0]
    if room in _ABOVE and "GRAPHGRAD_TEST_ENGINES" in os.environ and not chosen(request.node.nodeid, 3):
        from graphgrad.executor.runtime import executable

        monkeypatch.setattr(executable, "first_in_numpy", True)
        monkeypatch.setattr(executable, "tiered", False)


def _folder(config: pytest.Config) -> str:
    folder = tempfile.mkdtemp(prefix="graphgrad-tests-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    return folder


def pytest_collection_finish(session: pytest.Session) -> None:
    """Ends the run if a module of tests has switched eager mode off for all, by what it imports."""
    from graphgrad.ir import context

    if not context.eager_by_default():
        raise pytest.UsageError("a module of tests has imported graphgrad.v1, which ends eager mode for all tests")


@pytest.fixture(autouse=True)
def _own_modes() -> Iterator[None]:
    """A test that switches between the behaviours of TensorFlow 1 and 2, or sets a seed, does so for itself alone."""
    from graphgrad.frontend.graph import operators
    from graphgrad.frontend.variables.references import References
    from graphgrad.gradients.core.inside_loop import OldControlFlow
    from graphgrad.ir import context, dimension
    from graphgrad.ops.random import seeds

    context.stack.seed = None
    seeds._eager.__init__()  # type: ignore[misc]  # the object is shared; only its state begins anew
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
