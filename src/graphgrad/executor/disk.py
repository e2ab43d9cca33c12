"""The disk cache: compiled programs for the processes to come.

One file for each program, in a directory of the user's own. **What is in it is machine code**: XLA
loads it as it is, so whoever can write there can run code as the user. Therefore a directory
that others own or can write to is not used, and an entry counts only if its digest fits.

Files are written beside and renamed, so that any number of processes may share a directory; an
entry that is damaged, of another version or for another machine is ignored and replaced.

Environment variables:
  GRAPHGRAD_CACHE_DIR: the directory; `~/.cache/graphgrad` (below XDG_CACHE_HOME if that is set) if it is not set. An
    empty value turns the cache off.
  GRAPHGRAD_CACHE_BYTES: how much it may hold, 512 MiB if not set; what was not used for longest goes first.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np

_MAGIC = b"graphgrad program 1\n"
_SUFFIX = ".program"
_DEFAULT_LIMIT = 512 << 20
_CHECK_EVERY = 64  # writes between two looks at the size of the whole

_writes = 0


def directory() -> Path | None:
    """Where the cache is, or None if it is off."""
    set_to = os.environ.get("GRAPHGRAD_CACHE_DIR")
    if set_to is not None:
        return Path(set_to) if set_to else None
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache") / "graphgrad"
    except RuntimeError:  # there is no home
        return None


@functools.lru_cache(maxsize=8)
def _usable(path: Path) -> bool:
    """Whether the directory can be made or is there, and belongs to this user alone."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = path.stat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    return info.st_uid == os.getuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def enabled() -> bool:
    """Whether there is a cache to use."""
    path = directory()
    return path is not None and _usable(path)


def _file(key: str) -> Path | None:
    path = directory()
    return path / (key + _SUFFIX) if path is not None and _usable(path) else None


def read(key: str) -> tuple[dict[str, Any], bytes] | None:
    """The header and the code stored under `key`, or None if there is no sound entry."""
    path = _file(key)
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    try:
        if not content.startswith(_MAGIC):
            raise ValueError("not an entry")
        start = len(_MAGIC) + 32
        check, rest = content[len(_MAGIC) : start], content[start:]
        if _digest(key, rest) != check:
            raise ValueError("damaged")
        size = int.from_bytes(rest[:8], "little")
        header = json.loads(rest[8 : 8 + size])
        with contextlib.suppress(OSError):
            os.utime(path)  # used just now
        return header, rest[8 + size :]
    except (ValueError, KeyError):
        remove(key)
        return None


def write(key: str, header: dict[str, Any], code: bytes) -> None:
    """Stores an entry; a disk that is full or cannot be written to is no error."""
    import tempfile

    global _writes
    path = _file(key)
    if path is None:
        return
    text = json.dumps(header).encode()
    rest = len(text).to_bytes(8, "little") + text + code
    check = _digest(key, rest)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + check + rest)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError:
        return
    _writes += 1
    if _writes % _CHECK_EVERY == 1:
        shrink(path.parent)


def remove(key: str) -> None:
    """Takes an entry away."""
    path = _file(key)
    if path is not None:
        with contextlib.suppress(OSError):
            path.unlink()


def shrink(path: Path, limit: int | None = None) -> None:
    """Takes away what was not used for longest until no more than `limit` bytes are left."""
    if limit is None:
        limit = int(os.environ.get("GRAPHGRAD_CACHE_BYTES") or _DEFAULT_LIMIT)
    found = []
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                info = entry.stat()
                found.append((info.st_mtime, info.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    for _, size, name in sorted(found):
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            os.unlink(name)
        total -= size


def dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype of this name, ml_dtypes' included."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


@functools.lru_cache(maxsize=8)
def _digest(text: str, data: bytes = b"") -> bytes:
    import hashlib

    return hashlib.sha256(text.encode() + data).digest()


def surroundings(platform: str, version: str) -> str:
    """What decides, besides a cluster, what XLA makes of it: versions, flags, the processor."""
    from platform import machine

    from jaxlib import version as jaxlib

    # JAX is not imported for its version.
    jax = importlib.util.find_spec("jax")
    sources = [_state(Path(jax.origin).with_name("version.py"))] if jax is not None and jax.origin else []
    for folder, folders, files in os.walk(Path(__file__).parent.parent):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        sources += [_state(Path(folder) / f) for f in sorted(files) if f.endswith(".py")]
    kernels = _digest(repr(sources)).hex()
    return repr((jaxlib.__version__, np.__version__, platform, version, machine(), _processor(),
                 os.environ.get("XLA_FLAGS", ""), kernels))  # fmt: skip


def _state(path: Path) -> tuple[str, int, int]:
    info = path.stat()
    return path.name, info.st_size, info.st_mtime_ns


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next((line for line in file if line.startswith(("flags", "Features"))), "")
    except OSError:
        from platform import processor

        return processor()
