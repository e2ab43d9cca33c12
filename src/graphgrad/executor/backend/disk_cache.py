"""The disk cache of compiled programs.

One file for each program, in the sub-directory `programs` of a private directory. **Entries are machine code**: XLA
loads them unchecked, so anyone who can write there can run code as the user. Therefore nothing is used that others own,
can write to, or can replace: neither an entry nor its directory nor any parent. An entry is valid only if its digest
matches; a damaged one is removed, and its program compiled again.

Files are written under temporary names and renamed, so that any number of processes may share a directory, and other
files are never touched. If reading or writing fails, the run continues as if there were no cache.

Environment variables:
  GRAPHGRAD_CACHE_DIR: the directory; `~/.cache/graphgrad` (below XDG_CACHE_HOME if that is set) if it is not set. An
    empty value turns the cache off.
  GRAPHGRAD_CACHE_BYTES: its size limit, such as 2G or 300M; 512M if not set; the least recently used entries are
    removed first.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import re
import stat
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from graphgrad.executor.program.fingerprint import PARTS
from graphgrad.ir.files.atomic_files import Part, locked, open_plain, sweep
from graphgrad.system.log import Log

_MAGIC = b"graphgrad program 2\n"
_ENTRY = re.compile(r"[0-9a-f]{64}\.program")
_DEFAULT_LIMIT = 512 << 20
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", re.IGNORECASE)
_TOTAL = "size"  # the file with the total size of the entries

_log = Log("graphgrad")
_warned: set[str] = set()
_swept: set[Path] = set()
_loaded = time.time_ns()  # when this process loaded its sources


def warn(message: str) -> None:
    """Issues a warning once per process."""
    if message not in _warned:
        _warned.add(message)
        _log.warning("%s", message)


# -- the directory -------------------------------------------------------------------------


def directory() -> Path | None:
    """Returns the directory of the cache, or None if it is off."""
    set_to = os.environ.get("GRAPHGRAD_CACHE_DIR")
    if set_to is not None:
        return Path(set_to) / "programs" if set_to else None
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache") / "graphgrad" / "programs"
    except RuntimeError:  # no home directory
        return None


def _usable() -> Path | None:
    """Returns the directory of the entries, creating it if necessary; None without one that is private to this user.

    It is checked each time, with its parents: they may have changed since, and others' programs must not run. The
    returned path contains no links.
    """
    path = directory()
    if path is None:
        return None
    try:
        real = Path(os.path.realpath(path))
        reason = distrust(real)
        if not reason and not real.is_dir():
            _make(real)
            reason = distrust(real)
        if not real.is_dir():
            return None
    except (OSError, ValueError):
        return None
    if reason:
        warn(f"compiled programs are not kept on disk, since {reason}. Fix: change that, or set GRAPHGRAD_CACHE_DIR "
              "to a directory of your own, or to nothing")
        return None
    return real


def _make(path: Path) -> None:
    for folder in reversed([path, *path.parents]):
        if not folder.exists():
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)


def distrust(path: Path, groups: bool = False) -> str:
    """Says why others may be able to replace entries of a directory; "" if they cannot.

    Args:
      path: the directory.
      groups: whether a group of the user alone may write to it; to its parents it may.
    """
    if not hasattr(os, "getuid"):
        return ""
    for folder in (path, *path.parents):
        try:
            info = os.lstat(folder)
        except FileNotFoundError:  # not created yet
            continue
        if info.st_uid not in (0, os.getuid()):
            return f"{folder} belongs to another user"
        open_to = info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if folder is not path and info.st_mode & stat.S_ISVTX:
            continue  # sticky: users can neither remove nor rename files of others in it
        if (folder is not path or groups) and open_to == stat.S_IWGRP and _alone_in(info.st_gid):
            continue
        if open_to:
            return f"others can write to {folder}"
    return ""


@functools.cache
def _alone_in(group: int) -> bool:
    """Returns whether a group is a user's private one, as many systems make, with group-writable directories."""
    try:
        import grp
        import pwd

        user, found = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except (ImportError, KeyError):
        return False
    return bool(user.pw_uid and user.pw_gid == group and found.gr_name == user.pw_name
                and set(found.gr_mem) <= {user.pw_name})


def enabled() -> bool:
    """Returns whether there is a usable cache."""
    return _usable() is not None


def _limit() -> int:
    """Returns the largest size of the cache, in bytes."""
    text = os.environ.get("GRAPHGRAD_CACHE_BYTES") or str(_DEFAULT_LIMIT)
    match = _SIZE.fullmatch(text)
    if match is None:
        warn(f"GRAPHGRAD_CACHE_BYTES={text!r} is no size, so that 512M hold. Fix: write 2G, 300M or a number of bytes")
        return _DEFAULT_LIMIT
    return int(float(match[1]) * (1 << 10 * " kmgt".index(match[2].lower() or " ")))


# -- entries -------------------------------------------------------------------------------


def read(key: str) -> tuple[dict[str, Any], bytes] | None:
    """Returns the header and the code stored under `key`, or None if there is no valid entry."""
    folder = _usable()
    if folder is None:
        return None
    path = folder / f"{key}.program"
    try:
        return parsed(key, content(path, _limit()))
    except OSError:
        return None
    except ValueError:  # permanently unusable
        with contextlib.suppress(OSError):
            path.unlink()
        return None


def exists(key: str) -> bool:
    """Returns whether there is an entry, valid or not."""
    folder = _usable()
    return folder is not None and (folder / f"{key}.program").is_file()


def parsed(key: str, data: bytes) -> tuple[dict[str, Any], bytes]:
    """Returns the header and the code of an entry; raises ValueError if it is damaged."""
    start = len(_MAGIC) + 32
    check, rest = data[len(_MAGIC) : start], memoryview(data)[start:]
    if not data.startswith(_MAGIC) or _checksum(key, rest) != check:
        raise ValueError("damaged")
    size = int.from_bytes(rest[:8], "little")
    return json.loads(bytes(rest[8 : 8 + size])), bytes(rest[8 + size :])


def content(path: Path, limit: int, groups: bool = False) -> bytes:
    """Returns the bytes of an entry.

    Args:
      path: the file.
      limit: its largest size.
      groups: for entries that come with a program: root's, too; a group of the user alone may write to them, and
        installers may have given them second names.
    Raises: OSError; ValueError if others may have written it, or it is too large.
    """
    try:
        fd, info = open_plain(str(path))
    except OSError:
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise ValueError("no file") from None
        raise
    with os.fdopen(fd, "rb") as file:
        open_to = info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if groups:
            mine = not hasattr(os, "getuid") or info.st_uid in (0, os.getuid())
            mine &= not open_to or (open_to == stat.S_IWGRP and _alone_in(info.st_gid))
        else:
            mine = not hasattr(os, "getuid") or info.st_uid == os.getuid()
            mine &= not open_to and info.st_nlink == 1
        if not mine or info.st_size > limit:
            raise ValueError("not an entry")
        if not groups:
            with contextlib.suppress(OSError):
                os.utime(fd if os.utime in os.supports_fd else path)  # marks it as just used
        return file.read()


def write(key: str, header: dict[str, Any], code: bytes) -> None:
    """Stores an entry; a full or read-only disk is not an error."""
    folder = _usable()
    if folder is None:
        return
    data = packed(key, header, code)
    with contextlib.suppress(OSError):
        if _make_room(folder, len(data)):
            put(str(folder), key, data, 0o600)


def packed(key: str, header: dict[str, Any], code: bytes) -> bytes:
    """Returns the bytes of an entry."""
    text = json.dumps(header).encode()
    rest = len(text).to_bytes(8, "little") + text + code
    return _MAGIC + _checksum(key, memoryview(rest)) + rest


def put(folder: str, key: str, data: bytes, mode: int) -> None:
    """Writes an entry of these bytes, with these permissions, into a directory; raises OSError."""
    with Part(folder, mode) as part:
        part.file.write(data)
        part.finish(sync=False)
        part.become(os.path.join(folder, f"{key}.program"))


def remove(key: str) -> None:
    """Removes an entry."""
    folder = _usable()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / f"{key}.program").unlink()


def _checksum(key: str, data: memoryview) -> bytes:
    import hashlib

    digest = hashlib.sha256(key.encode())
    digest.update(data)
    return digest.digest()


# -- the total size -------------------------------------------------------------------------


def _make_room(folder: Path, size: int) -> bool:
    """Makes room for so many more bytes within the limit; returns whether that is possible.

    The file `size` counts the bytes that processes have written, so that few of them have to list all entries. It may
    be too large, if a process ended before it wrote what it had announced; never too small.
    """
    limit = _limit()
    if size > limit:
        return False
    with locked(str(folder)) as alone:
        if folder not in _swept:
            _swept.add(folder)
            sweep(str(folder))
        total = _total(folder) if alone else None
        if total is None or total + size > limit:
            sweep(str(folder))
            total = shrink(folder, limit - size - min(limit // 8, limit - size))
        if alone:
            with Part(str(folder), 0o600) as part:
                part.file.write(b"%d %d" % (total + size, total + size))
                part.become(str(folder / _TOTAL))
    return True


def _total(folder: Path) -> int | None:
    """Returns the number in the file `size`; None if it cannot be read."""
    try:
        fd, _ = open_plain(str(folder / _TOTAL))
        with os.fdopen(fd, "rb") as file:
            once, again = map(int, file.read(64).split())
        return once if once == again else None
    except (OSError, ValueError):
        return None


def shrink(folder: Path, limit: int) -> int:
    """Removes the least recently used entries until at most `limit` bytes are left; returns how many are."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _ENTRY.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    info = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(info.st_mode):
                        found.append((info.st_mtime, info.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    for _, size, name in sorted(found):
        if total <= limit:
            break
        with contextlib.suppress(OSError):
            os.unlink(name)
            total -= size
    return total


def dtype(name: str) -> np.dtype[Any]:
    """Returns the NumPy dtype of this name, including those of ml_dtypes."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


# -- the compilation environment ----------------------------------------------------------------


def surroundings(platform: str, version: str, options: str) -> str:
    """Describes all that affects compilation besides the cluster itself; nothing that does may be missing here.

    Args:
      platform, version: of the device's client.
      options: its compile options.
    """
    settings = sorted(i for i in os.environ.items() if i[0].startswith(("JAX_", "XLA_")))
    jax = sys.modules.get("jax")
    precision = getattr(getattr(jax, "config", None), "jax_default_matmul_precision", None)
    return repr((_software(), _processor(), platform, version, options, settings, precision))


@functools.cache
def _software() -> str:
    """Digests versions and the sources of kernels, lowering and compilation.

    If sources have changed since this process loaded them, or are missing, it is unknown which code runs: then nothing
    is shared.
    """
    import hashlib

    from jaxlib import version as jaxlib

    # Gets JAX's version without importing it.
    jax = importlib.util.find_spec("jax")
    digest = hashlib.blake2b(repr((sys.version_info, np.__version__, jaxlib.__version__)).encode())
    files = [Path(jaxlib.__file__)]
    if jax is not None and jax.origin:
        files.append(Path(jax.origin).with_name("version.py"))
    sources = [f for part in PARTS for f in sorted((Path(__file__).parents[2] / part).rglob("*.py"))]
    known = bool(sources)
    try:
        for path in files + sources:
            with open(path, "rb", buffering=0) as file:
                content = file.read()
                known &= os.fstat(file.fileno()).st_ctime_ns <= _loaded
            digest.update(f"{path.name} {len(content)}\n".encode())
            digest.update(content)
    except OSError:
        known = False
    if not known:
        digest.update(os.urandom(16))
    return digest.hexdigest()


@functools.cache
def _processor() -> tuple[str, str]:
    """Returns the kind of machine and the processor's features."""
    from platform import machine, node

    try:
        with open("/proc/cpuinfo") as file:
            return machine(), next(line for line in file if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        return machine(), node()  # unknown features: only the same machine is known to match
