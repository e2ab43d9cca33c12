"""The distributions: what is in them, and that the wheel works in an environment of its own."""

from __future__ import annotations

import ast
import email
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from typing import Any

import pytest

from tests import ROOT
from tests.invariants.sources import FILES, nodes
from tests.support.effort import long

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
_SOURCES = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src" / "graphgrad").rglob("*")
            if p.suffix in (".py", ".pyi") or p.name == "py.typed" or p.match("viz/live/web/*")}
_BUILD = """
import sys
from setuptools import build_meta
print(build_meta.build_sdist(sys.argv[1]))
"""
_BUILD_WHEEL = _BUILD.replace("build_sdist", "build_wheel")


def _run(*command: object, cwd: pathlib.Path) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: Any) -> tuple[pathlib.Path, pathlib.Path]:
    """The sdist, and the wheel that is made from it; no network is needed."""
    folder = tmp_path_factory.mktemp("distributions")
    copy = folder / "copy"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    sdist = folder / _run(sys.executable, "-c", _BUILD, folder, cwd=copy).split()[-1]
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    return sdist, folder / _run(sys.executable, "-c", _BUILD_WHEEL, folder, cwd=unpacked).split()[-1]


@long("it changes when pyproject.toml does")
def test_contents(built: tuple[pathlib.Path, pathlib.Path]) -> None:
    """The wheel has every module and stub and nothing else; both have the license; the metadata are the project's."""
    sdist, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = next(n for n in names if n.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(about))
        scripts = archive.read(about.replace("METADATA", "entry_points.txt")).decode()
    assert {n for n in names if ".dist-info/" not in n} == _SOURCES
    assert any(n.endswith("licenses/LICENSE") for n in names)
    with tarfile.open(sdist) as archive:
        inside = {n.partition("/")[2] for n in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "src/graphgrad/py.typed"} <= inside
    assert (metadata["Name"], metadata["Version"]) == (_PROJECT["name"], _PROJECT["version"])
    assert metadata["Requires-Python"] == _PROJECT["requires-python"]
    assert set(metadata.get_all("Provides-Extra") or ()) == set(_PROJECT["optional-dependencies"])
    assert "graphgrad = graphgrad.cli:main" in scripts


@long("it takes an environment of its own")
def test_wheel_in_an_environment_of_its_own(built: tuple[pathlib.Path, pathlib.Path], tmp_path: pathlib.Path) -> None:
    """The installed wheel trains, compiles, saves and restores, and runs a program of TensorFlow's."""
    where = tmp_path / "environment"
    venv.create(where, with_pip=False, symlinks=True)
    python = where / "bin" / "python"
    library = pathlib.Path(sysconfig.get_path("purelib", vars={"base": str(where), "platbase": str(where)}))
    # What it depends on is taken from this environment; a path in a .pth file does not bring this checkout along.
    (library / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    _run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "-q", "--no-deps",
         "--no-index", built[1], cwd=tmp_path)
    assert "saved and restored" in _run(python, ROOT / "tools" / "release_program.py", cwd=tmp_path)
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\nx = tf.constant(3.0)\nwith tf.GradientTape() as t:\n"
                       "    t.watch(x)\n    y = x * x\nprint(float(t.gradient(y, x)))\n")
    assert _run(where / "bin" / "graphgrad", "run", program, cwd=tmp_path) == "6.0\n"


@long("what is imported seldom changes")
def test_dependencies_are_declared() -> None:
    """What the package imports of others is a dependency, or belongs to an extra."""
    declared = {"absl", "google_crc32c", "re2", "jax", "numpy", "scipy"}
    named = " ".join(_PROJECT["dependencies"])
    assert all(n in named for n in ("absl-py", "google-crc32c", "google-re2", "jax", "numpy", "scipy"))
    with_jax = {"jaxlib", "ml_dtypes"}
    of_extras = {"PIL": "image", "igraph": "draw", "google": "proto"}
    assert set(of_extras.values()) <= set(_PROJECT["optional-dependencies"])
    found = set()
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.Import):
                found |= {a.name.partition(".")[0] for a in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").partition(".")[0])
    others = {n for n in found if n not in sys.stdlib_module_names and n != "graphgrad" and n != "tensorflow"}
    assert others - declared - with_jax - set(of_extras) == set()
