"""Documentation: the examples are true, and every public function has a docstring."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tests import ROOT
from tests.invariants.sources import MODULES, PACKAGE
from tests.support import exempt
from tests.support.effort import long
from tests.support.faces import FACES, exported

from .page_programs import programs

_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.REPORT_ONLY_FIRST_FAILURE
_PAGES = sorted([*(PACKAGE.parent.parent / "docs").rglob("*.md"), PACKAGE.parent.parent / "README.md"])


def _examples() -> list[Any]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = []
    for name in MODULES:
        if name in ("graphgrad.__main__", "graphgrad.v1"):  # importing them changes the mode of the process
            continue
        for test in finder.find(importlib.import_module(name), name):
            if test.examples:
                found.append(test)
    return [pytest.param(t, id=t.name.removeprefix("graphgrad.")) for t in found]


@pytest.mark.parametrize("test", _examples())
def test_examples(test: doctest.DocTest, request: pytest.FixtureRequest) -> None:
    """The examples of docstrings give what they show."""
    if request.node.callspec.id in exempt.DOCTESTS:
        pytest.skip(exempt.DOCTESTS[request.node.callspec.id])
    _run(test)


def _run(test: doctest.DocTest) -> None:
    import graphgrad.compat.v1 as tf
    from graphgrad.executor.runtime.session import HostSession
    from graphgrad.ir.dtypes import as_dtype

    with tf.Graph().as_default(), HostSession() as sess:
        test.globs = {"tf": tf, "np": np, "sess": sess, "as_dtype": as_dtype, **_defined(test)}
        report: list[str] = []
        failed = doctest.DocTestRunner(optionflags=_FLAGS).run(test, out=report.append).failed
    assert not failed, "".join(report)


def _defined(test: doctest.DocTest) -> dict[str, Any]:
    """What an internal module's example may use: the module's own names."""
    parts = test.name.split(".")
    module = next((m for m in (".".join(parts[:i]) for i in range(len(parts), 0, -1)) if m in MODULES), None)
    return {k: v for k, v in vars(importlib.import_module(module)).items() if k[0] != "_"} if module else {}


@pytest.mark.parametrize("path", [p for p in _PAGES if p.exists()], ids=lambda p: p.name)
def test_pages(path: pathlib.Path) -> None:
    """The examples of the documentation pages give what they show."""
    test = doctest.DocTestParser().get_doctest(path.read_text(), {}, path.name, str(path), 0)
    if test.examples:
        _run(test)


_COMPILED = long("its program is compiled; the others are not"), {"memory", "from-jax"}
_PROGRAMS = [pytest.param(p, n, id=f"{p.stem}-{n}", marks=[_COMPILED[0]] if p.stem in _COMPILED[1] else [])
             for p in _PAGES for n in range(len(programs(p.read_text())))]


@pytest.mark.parametrize(("path", "number"), _PROGRAMS)
def test_programs_of_pages(path: pathlib.Path, number: int) -> None:
    """A program of a page runs, in a process of its own, and its blocks print what the page shows."""
    command = [sys.executable, "-m", "tests.docs.page_programs", str(path), str(number)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    for block, printed in zip(programs(path.read_text())[number], json.loads(done.stdout), strict=True):
        same = doctest.OutputChecker().check_output(block.shown or "", printed, _FLAGS)
        assert same, f"{path.name}:{block.line} prints\n{printed}"


@pytest.mark.parametrize("face", FACES)
def test_public_functions_have_docstrings(face: str) -> None:
    """Every function and class that a face exports says what it does."""
    bare = set()
    for name, value in exported(face).items():
        if (inspect.isfunction(value) or inspect.isclass(value)) and not value.__module__.startswith("absl."):
            owner = f"{value.__module__.removeprefix('graphgrad.')}.{value.__qualname__}"
            if not (value.__doc__ or "").strip() and owner not in exempt.DOCSTRINGS:
                bare.add(f"{name} ({owner})")
    assert not bare, f"without a docstring: {sorted(bare)}"
