"""The disk cache: what it trusts, what it deletes, how much it holds, what its keys know; no run fails for it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import cache, disk_cache, xla
from graphgrad.executor.runtime import compiler_process

KEYS = [f"{n:064x}" for n in range(20)]
posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no owners of files here")


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """The user's directory, in which the cache has one of its own."""
    for compiler in compiler_process._the_compiler:  # it may still compile for earlier tests, and store that here
        compiler.close()
    compiler_process._the_compiler.clear()
    for thread in threading.enumerate():
        if thread.name == "graphgrad-compiled":
            thread.join(20)
    path = tmp_path / "above" / "cache"
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", str(path))
    monkeypatch.delenv("GRAPHGRAD_CACHE_BYTES", raising=False)
    monkeypatch.setattr(disk_cache, "_warned", set())
    monkeypatch.setattr(disk_cache, "_swept", set())
    cache.clear()
    yield path
    cache.clear()


def run_something() -> None:
    """A run of XLA's, which looks for a program and stores one."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2])
        for _ in range(2):
            got = sess.run(tf.tanh(x) * 3.0, {x: [0.5, 1.0]})
            np.testing.assert_allclose(got, np.tanh([0.5, 1.0]) * 3, rtol=1e-6)
        cache.clear()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the cache has said."""
    return [r.message for r in caplog.records if r.name == "graphgrad"]


# -- what is its own ---------------------------------------------------------------------------


def test_nothing_else_is_deleted(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of others in its directories stay; entries go, those not used for longest first."""
    (root / "programs").mkdir(parents=True, exist_ok=True, mode=0o700)
    (root / "programs").chmod(0o700)
    others = [folder / name for folder in (root, root / "programs")
              for name in ("array.npy", "my.program", f".{KEYS[0]}.program", f"{KEYS[0]}.program.bak")]
    for path in others:
        path.write_bytes(b"x" * 3_000_000)
        os.utime(path, (1, 1))
    folder = root / "programs" / (KEYS[19] + ".program")
    folder.mkdir()
    monkeypatch.setenv("GRAPHGRAD_CACHE_BYTES", "10000")
    for key in KEYS[:9]:
        disk_cache.write(key, {}, b"c" * 3000)
    assert all(p.stat().st_size == 3_000_000 for p in others) and folder.is_dir()
    assert [disk_cache.read(key) is not None for key in KEYS[:9]] == [False] * 6 + [True] * 3


def test_the_limit_holds_after_each_write(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where several processes write, and where the file that counts is lost or wrong."""
    monkeypatch.setenv("GRAPHGRAD_CACHE_BYTES", "50K")
    folder = root / "programs"

    def held() -> int:
        return sum(p.stat().st_size for p in folder.glob("*.program"))

    for i, key in enumerate(KEYS):
        disk_cache.write(key, {}, b"c" * 9000)
        assert held() <= 50 << 10 and disk_cache.read(key) is not None
        if i == 7:
            (folder / "size").unlink()
        if i == 11:
            (folder / "size").write_text("12")
    disk_cache.write(KEYS[0], {}, b"c" * (51 << 10))
    assert disk_cache.read(KEYS[0]) is None and held() <= 50 << 10
    program = ("from graphgrad.executor.backend import disk_cache as disk; import sys\n"
               "for i in range(40): disk.write(f'{sys.argv[1]}{i:062x}', {}, b'c' * 7000)")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    others = [subprocess.Popen([sys.executable, "-c", program, f"a{n}"], env=env) for n in range(2)]
    assert [p.wait() for p in others] == [0, 0] and 25 << 10 < held() <= 50 << 10


@pytest.mark.parametrize("text, size", [("1G", 1 << 30), ("2.5k", 2560), (" 300 MiB ", 300 << 20), ("7", 7), ("0", 0),
                                        ("10gb", 10 << 30), ("1T", 1 << 40), ("", 512 << 20)])
def test_sizes(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    """With and without units."""
    monkeypatch.setenv("GRAPHGRAD_CACHE_BYTES", text)
    assert disk_cache._limit() == size
    assert disk_cache._warned == set()


@pytest.mark.parametrize("text", ["many", "-1", "1X", "1e9", "G", "nan"])
def test_no_size(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, text: str) -> None:
    """Is said once; the cache goes on with what it holds by default, and no run fails."""
    monkeypatch.setenv("GRAPHGRAD_CACHE_BYTES", text)
    run_something()
    run_something()
    assert disk_cache._limit() == 512 << 20
    assert len(warnings(caplog)) == 1 and repr(text) in warnings(caplog)[0] and "Fix:" in warnings(caplog)[0]


# -- what is trusted -----------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("which", ["programs", "cache", "above"])
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_a_directory_that_others_can_change(root: pathlib.Path, caplog: pytest.LogCaptureFixture, which: str,
                                            mode: int) -> None:
    """Is not used any more, nor one below it; but in a sticky one nobody can put something in another's place."""
    disk_cache.write(KEYS[0], {}, b"code")
    assert disk_cache.read(KEYS[0]) == ({}, b"code")
    {"programs": root / "programs", "cache": root, "above": root.parent}[which].chmod(mode)
    if mode == 0o1777 and which != "programs":
        assert disk_cache.read(KEYS[0]) == ({}, b"code")
        return
    assert disk_cache.read(KEYS[0]) is None and not disk_cache.enabled()
    disk_cache.write(KEYS[1], {}, b"code")
    assert not (root / "programs" / (KEYS[1] + ".program")).exists()
    run_something()
    (said,) = warnings(caplog)
    assert "others can write to" in said and f"/{which}." in said and "Fix:" in said


@posix
@pytest.mark.parametrize("members, alone", [([], True), (["me"], True), (["me", "you"], False)])
def test_a_group_of_the_user_alone(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch, members: list[str],
                                   alone: bool) -> None:
    """Many systems make one for each user; it may write to a directory above."""
    import grp
    import pwd

    group = os.getgid()
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: types.SimpleNamespace(pw_uid=7, pw_gid=group, pw_name="me"))
    monkeypatch.setattr(grp, "getgrgid", lambda gid: types.SimpleNamespace(gr_name="me", gr_mem=members))
    disk_cache._alone_in.cache_clear()
    disk_cache.write(KEYS[0], {}, b"code")
    root.parent.chmod(0o775)
    assert (disk_cache.read(KEYS[0]) is not None) == alone
    root.parent.chmod(0o777)
    assert disk_cache.read(KEYS[0]) is None
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: types.SimpleNamespace(pw_uid=0, pw_gid=group, pw_name="me"))
    disk_cache._alone_in.cache_clear()
    root.parent.chmod(0o775)
    assert disk_cache.read(KEYS[0]) is None
    disk_cache._alone_in.cache_clear()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("which", ["programs", "cache", "above"])
def test_a_directory_of_somebody_else(root: pathlib.Path, caplog: pytest.LogCaptureFixture, which: str) -> None:
    """Is not used, nor one below it."""
    disk_cache.write(KEYS[0], {}, b"code")
    os.chown({"programs": root / "programs", "cache": root, "above": root.parent}[which], 12345, 12345)
    assert disk_cache.read(KEYS[0]) is None
    assert len(warnings(caplog)) == 1 and "belongs to another user" in warnings(caplog)[0]


@posix
def test_a_link_is_followed_to_where_it_leads(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """What counts is what lies above the directory itself."""
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    own.mkdir()
    root.parent.mkdir()
    root.symlink_to(own)
    disk_cache.write(KEYS[0], {}, b"code")
    assert disk_cache.read(KEYS[0]) == ({}, b"code")
    root.unlink()
    (own / "programs").rename(shared / "programs")
    shared.chmod(0o777)
    root.symlink_to(shared)
    assert disk_cache.read(KEYS[0]) is None


@posix
@pytest.mark.parametrize("kind", ["pipe", "link", "second name", "group", "others", "folder", "huge"])
def test_an_entry_that_is_no_entry(root: pathlib.Path, tmp_path: pathlib.Path, kind: str) -> None:
    """Is not read, and not waited for; another takes its place."""
    disk_cache.write(KEYS[0], {}, b"code")
    path, kept = root / "programs" / (KEYS[0] + ".program"), tmp_path / "kept"
    if kind == "second name":
        os.link(path, kept)
    elif kind in ("group", "others"):
        path.chmod(0o620 if kind == "group" else 0o602)
    elif kind == "huge":
        os.truncate(path, 1 << 40)
    else:
        path.rename(kept)
        {"pipe": os.mkfifo, "folder": os.mkdir, "link": lambda p: os.symlink(kept, p)}[kind](path)
    assert disk_cache.read(KEYS[0]) is None
    disk_cache.write(KEYS[0], {}, b"code")
    assert (disk_cache.read(KEYS[0]) is None) == (kind == "folder")
    run_something()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_an_entry_of_somebody_else(root: pathlib.Path) -> None:
    """Is not read."""
    disk_cache.write(KEYS[0], {}, b"code")
    os.chown(root / "programs" / (KEYS[0] + ".program"), 12345, 12345)
    assert disk_cache.read(KEYS[0]) is None


def test_all_that_is_made_is_private(root: pathlib.Path) -> None:
    """Whatever the process's mask."""
    mask = os.umask(0)
    try:
        disk_cache.write(KEYS[0], {}, b"code")
    finally:
        os.umask(mask)
    made = [root.parent, root, *root.rglob("*")]
    assert len(made) == 5 and not any(p.stat().st_mode & 0o077 for p in made)


# -- no run fails ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["file", "pipe", "loop", "no such home", "long", "null", "proc"])
def test_where_no_cache_can_be(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Programs are compiled, and that is all."""
    root.parent.mkdir()
    if kind == "file":
        root.write_text("mine")
    elif kind == "pipe":
        os.mkfifo(root)
    elif kind == "loop":
        root.symlink_to(root)
    elif kind == "no such home":
        monkeypatch.delenv("GRAPHGRAD_CACHE_DIR")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr(pathlib.Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    else:
        monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", {"long": "/tmp/" + "x" * 5000, "proc": "/proc/x"}.get(kind, "x"))
        if kind == "null":
            monkeypatch.setattr(disk_cache, "directory", lambda: pathlib.Path("a\0b"))
    run_something()
    assert kind != "file" or root.read_text() == "mine"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError(), RuntimeError("not here")])
def test_what_cannot_be_stored(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Is compiled again."""

    def fail(*args: Any) -> Any:
        raise error

    monkeypatch.setattr(disk_cache, "_make_room" if isinstance(error, OSError) else "write", fail)
    run_something()
    monkeypatch.undo()
    monkeypatch.setattr(xla.Program, "serialize", fail)
    run_something()


# -- what keys know --------------------------------------------------------------------------------


def test_contents_of_sources_count(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two builds with files of equal names, sizes and times share no programs; equal ones do."""
    found = []
    monkeypatch.setattr(disk_cache, "_loaded", 1 << 62)
    for name, text in (("a", "x = 1"), ("b", "x = 2"), ("c", "x = 1")):
        folder = tmp_path / name / "executor" / "backend"
        folder.mkdir(parents=True)
        (tmp_path / name / "ops").mkdir()
        for path in (folder / "disk_cache.py", tmp_path / name / "ops" / "kernels.py"):
            path.write_text(text)
            os.utime(path, (1, 1))
        monkeypatch.setattr(disk_cache, "__file__", str(folder / "disk_cache.py"))
        found.append(disk_cache._software.__wrapped__())
    assert found[0] == found[2] != found[1]
    compiled = tmp_path / "none" / "executor" / "backend" / "disk_cache.pyc"
    monkeypatch.setattr(disk_cache, "__file__", str(compiled))  # no sources came with it
    assert disk_cache._software.__wrapped__() != disk_cache._software.__wrapped__()
    monkeypatch.setattr(disk_cache, "__file__", str(folder / "disk_cache.py"))
    monkeypatch.setattr(disk_cache, "_loaded", 0)  # the sources changed after the process had read them
    assert disk_cache._software.__wrapped__() != disk_cache._software.__wrapped__()


def test_settings_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever changes what is compiled changes the key."""

    def now(*args: str) -> str:
        return disk_cache.surroundings(*(args or ("cpu", "1", "options")))

    seen = {now(), now("gpu", "1", "options"), now("cpu", "2", "options"), now("cpu", "1", "others")}
    for name in ("XLA_FLAGS", "JAX_DEFAULT_MATMUL_PRECISION"):
        monkeypatch.setenv(name, "x")
        seen.add(now())
    monkeypatch.setattr(disk_cache, "_processor", lambda: ("x86_64", "flags: none"))
    seen.add(now())
    assert len(seen) == 7 and now() in seen
