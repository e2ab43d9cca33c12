"""`graphgrad compile`, and directories of compiled programs that come with a program."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import cache, disk_cache, shipped, xla
from graphgrad.executor.runtime import ahead
from tests import ROOT
from tests.support.effort import long

posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no owners of files here")

_PROGRAM = """
import sys
import numpy as np
import tensorflow as tf
fed = x = tf.placeholder(tf.float32, [None, 100])
w = tf.Variable(tf.ones([100, 100]) * 0.01)
for _ in range(3):
    x = tf.tanh(x @ w) + tf.random_uniform([100], seed=1)
loss = tf.reduce_mean(x)
step = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    for n in range(int(sys.argv[1])):
        print(n, s.run([loss, step], {fed: np.ones((500, 100))})[0], flush=True)
    print("sum", s.run(tf.reduce_sum(tf.square(w) * tf.abs(w))))
"""

# As for users, but that programs for another processor may be asked for, and XLA takes over after some runs.
_RUN = """
import sys
from graphgrad.executor.runtime import tiers
from graphgrad.executor.backend import cache, disk_cache
tiers._ALL, tiers._WORTH = 0.02, 1e-5
if sys.argv[1] == "another processor":
    disk_cache._processor = lambda: ("x86_64", "flags: none")
    sys.argv.pop(1)
from graphgrad.cli import main
status = main(sys.argv[1:])
print("compiled", cache.counts["compiled"], "found", cache.counts["disk"], "jax", "jax" in sys.modules)
sys.exit(status)
"""


@pytest.fixture
def program(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(_PROGRAM)
    return str(path)


def _graphgrad(*args: str, status: int = 0, **environment: str) -> list[str]:
    """Runs the command line in a process of its own; returns the lines that it prints."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "GRAPHGRAD_FIRST_RUN": "", "GRAPHGRAD_CACHE_DIR": "",
           **environment}
    done = subprocess.run([sys.executable, "-c", _RUN, *args], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_a_program_that_ships_its_compiled_programs(program: str, tmp_path: pathlib.Path) -> None:
    """It compiles nothing and imports no JAX; for another processor it compiles as usual; the numbers are equal."""
    folder = str(tmp_path / "shipped")
    lines = _graphgrad("compile", "--output", folder, program, "3")
    assert lines[3].startswith("sum") and lines[4] == "2 compiled programs: 2 new, 0 found"
    assert lines[5].startswith("2 files, ") and lines[5].endswith(f"in {folder}")
    assert all(entry.stat().st_mode & 0o777 == 0o644 for entry in pathlib.Path(folder).iterdir())

    plain = _graphgrad("run", program, "30")
    assert plain.pop().startswith("compiled")
    warm = _graphgrad("run", program, "30", GRAPHGRAD_PROGRAMS=folder)
    assert warm.pop() == "compiled 0 found 1 jax False"
    assert warm == plain
    assert _graphgrad("another processor", "run", program, "30", GRAPHGRAD_PROGRAMS=folder)[:-1] == plain

    (said,) = [line for line in _graphgrad("compile", "--check", "--output", folder, program, "3") if "of" in line]
    assert said == "2 of 2 compiled programs found"
    assert _graphgrad("another processor", "compile", "--check", "--output", folder, program, "3",
                      status=1)[4] == "0 of 2 compiled programs found"
    assert _graphgrad("compile", "--check", program, "3", status=1)[4] == "0 of 2 compiled programs found"
    assert len(os.listdir(folder)) == 2


@long("it compiles as a program that ships its compiled programs does")
def test_into_the_disk_cache(program: str, tmp_path: pathlib.Path) -> None:
    """From there into a directory without compiling again; the program may be stopped."""
    own, folder = str(tmp_path / "cache"), str(tmp_path / "new" / "shipped")
    lines = _graphgrad("compile", "--steps", "3", program, "100", GRAPHGRAD_CACHE_DIR=own)
    assert len(lines) == 5 and lines[1].startswith("1 ")  # the initial values are a run, too
    assert lines[2:4] == ["1 compiled programs: 1 new, 0 found", f"stored in {own}/programs"]
    lines = _graphgrad("compile", "--output", folder, program, "1", GRAPHGRAD_CACHE_DIR=own)
    assert lines[2] == "2 compiled programs: 1 new, 1 found" and lines[3].startswith("2 files")
    assert len(list((tmp_path / "cache" / "programs").glob("*.program"))) == 1
    assert _graphgrad("compile", program, "1", status=1)[3] == "not stored"


def test_errors(program: str, tmp_path: pathlib.Path) -> None:
    """They are those of the program, or of the command line."""
    (tmp_path / "file").touch()
    assert _graphgrad("compile", "--output", str(tmp_path / "file"), program, "1", status=2)
    assert _graphgrad("compile", "--steps", "0", program, "1", status=2)
    assert _graphgrad("compile", program, "none", status=1)[0].startswith("0 compiled programs")


# -- what is trusted ---------------------------------------------------------------------------


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A directory with the programs of `_value`, which this process uses."""
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", "")
    monkeypatch.setattr(disk_cache, "_warned", set())
    path = tmp_path / "above" / "shipped"
    with ahead.compiling(output=str(path)):
        cache.clear()
        _value()
    assert list(path.glob("*.program"))
    tf.use_compiled_programs(path)
    yield path
    shipped.forget(str(path))
    cache.clear()


def _value() -> None:
    cache.clear()
    with tf.Graph().as_default(), tf.Session() as s:
        x = tf.placeholder(tf.float32, [40])
        np.testing.assert_allclose(s.run(tf.tanh(x) * 3.5, {x: np.ones(40)}), np.tanh(np.ones(40)) * 3.5, rtol=1e-6)


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The machine code that this process loads."""
    found: list[bytes] = []
    load = xla.Device.load

    def noting(self: Any, code: bytes, *args: Any) -> Any:
        found.append(code)
        return load(self, code, *args)

    monkeypatch.setattr(xla.Device, "load", noting)
    return found


def test_it_is_used(folder: pathlib.Path, loaded: list[bytes]) -> None:
    """Installers may have given files a second name."""
    _value()
    assert len(loaded) == 1
    (entry,) = folder.glob("*.program")
    os.link(entry, folder.parent / "kept")
    _value()
    assert len(loaded) == 2


@posix
@pytest.mark.parametrize("kind", ["damaged", "another's", "cut", "empty", "pipe", "link", "folder", "group", "others",
                                  "open folder", "open above", "no permission"])
def test_an_entry_that_others_may_have_made(folder: pathlib.Path, loaded: list[bytes], kind: str) -> None:
    """Is not loaded, nor removed."""
    (path,) = folder.glob("*.program")
    data, kept = path.read_bytes(), folder / "kept"
    if kind == "damaged":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif kind == "another's":
        path.write_bytes(disk_cache.packed("0" * 64, {}, b"code"))
    elif kind in ("cut", "empty"):
        path.write_bytes(data[: len(data) // 2 if kind == "cut" else 0])
    elif kind in ("group", "others"):
        path.chmod(0o664 if kind == "group" else 0o646)
    elif kind in ("open folder", "open above"):
        (folder if kind == "open folder" else folder.parent).chmod(0o777)
    elif kind == "no permission":
        path.chmod(0)
    else:
        path.rename(kept)
        {"pipe": os.mkfifo, "folder": os.mkdir, "link": lambda p: os.symlink(kept, p)}[kind](path)
    _value()
    assert loaded == [] or (kind == "no permission" and os.getuid() == 0)  # root may read it
    assert os.path.lexists(path)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("which", ["entry", "folder", "above"])
def test_of_somebody_else(folder: pathlib.Path, loaded: list[bytes], caplog: pytest.LogCaptureFixture,
                          which: str) -> None:
    """Is not loaded; a directory is complained about, once."""
    (path,) = folder.glob("*.program")
    os.chown({"entry": path, "folder": folder, "above": folder.parent}[which], 12345, 12345)
    _value()
    _value()
    assert loaded == []
    said = [r.message for r in caplog.records if r.name == "graphgrad"]
    assert len(said) == (which != "entry") and all("belongs to another user" in s and "Fix:" in s for s in said)
