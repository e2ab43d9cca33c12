"""Atomic file writes, and the operating system's errors as TensorFlow's.

What is written goes to a `Part` first: a file in the same directory, made anew under a name that nobody can guess, so
it is never what lies there or what a link points to. When all of it is on the disk it is renamed. A part is locked as
long as its writer lives; those that killed writers left are taken away by the next one (`sweep`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from graphgrad.errors import of_system

from .source import raise_in_words, user_source

try:
    import fcntl
except ImportError:  # there are no such locks here
    fcntl = None  # type: ignore[assignment]  # asked before each use

_PART = re.compile(r"\.graphgrad-[0-9a-f]{32}\.part")
_PATIENCE = 10.0  # seconds for which a writer waits until another one has renamed its files
_OLD = 86400.0  # seconds after which a part is nobody's, where the system has no locks
# What is opened is no link, does not wait for somebody at the other end, and is not handed on to other programs.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PLAIN = _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_here = threading.local()  # the directories that this thread has locked


class system_errors:
    """A `with` block in which TensorFlow's errors come in the place of the system's.

    Args:
      path: the file that they are about.
    """

    def __init__(self, path: Any):
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if isinstance(error, OSError):
            raise of_system(error, os.fsdecode(self._path), str(user_source(2) or "")) from None
        if isinstance(error, MemoryError):
            raise_in_words(error)


def make_folders(path: str) -> None:
    """Makes a directory and those above it, as far as they are not there.

    Raises: TensorFlow's errors; FailedPreconditionError if one of them is something else.
    """
    with system_errors(path):
        try:
            os.makedirs(path, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from None


def open_plain(path: str, links: bool = False) -> tuple[int, os.stat_result]:
    """Opens a file for reading, if it is one of the usual kind.

    Args:
      path: the file.
      links: whether it may be a link to one.
    Returns: the descriptor, and what is known of the file.
    Raises: OSError; FileNotFoundError for another kind, such as a pipe, which could be waited for without end.
    """
    fd = os.open(path, os.O_RDONLY | (_PLAIN & ~_NO_LINK if links else _PLAIN) | _BINARY)
    try:
        info = os.fstat(fd)
        if stat.S_ISDIR(info.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(info.st_mode):
            raise FileNotFoundError(errno.ENOENT, "Not a regular file", path)
    except BaseException:
        os.close(fd)
        raise
    return fd, info


class Part:
    """A file in the making.

    Args:
      folder: the directory in which it is to be.
      mode: who may read and write it, less what the process's mask takes away.
    Raises: OSError.

    Attributes:
      file: where to write.
    """

    def __init__(self, folder: str, mode: int = 0o666):
        self._path: str | None = _new_name(folder)
        with locked(folder):  # `sweep` sees no part before its lock
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN | _BINARY, mode)
            try:
                self.file = os.fdopen(fd, "wb")
            except BaseException:
                os.close(fd)
                raise
            _try_lock(fd)

    def finish(self, sync: bool = True) -> None:
        """All is written; `sync`: and on the disk."""
        self.file.flush()
        if sync:
            os.fsync(self.file.fileno())

    def become(self, path: str) -> None:
        """Gives it its name; what had the name before is gone."""
        assert self._path is not None
        os.replace(self._path, path)
        self._path = None

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *exc: Any) -> None:
        try:
            if self._path is not None:  # first the name, which closing frees for `sweep`
                with contextlib.suppress(OSError):
                    os.unlink(self._path)
        finally:
            with contextlib.suppress(OSError):  # a disk that is full says so once more
                self.file.close()


def _new_name(folder: str) -> str:
    return os.path.join(folder, f".graphgrad-{os.urandom(16).hex()}.part")


def replace_by_link(path: str, name: str) -> bool:
    """Gives a file one more name, in the place of what has it; whether the file system can do that."""
    between = _new_name(os.path.dirname(name))
    try:
        os.link(path, between, follow_symlinks=False)
    except (OSError, NotImplementedError):
        return False
    try:
        os.replace(between, name)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(between)
        raise
    return True


def write_whole(path: str, content: bytes) -> None:
    """Writes a file that gets its name when it is complete and on the disk.

    Raises: the errors of TensorFlow; what was there before is there still.
    """
    folder = os.path.dirname(path)
    with system_errors(path), Part(folder) as part:
        part.file.write(content)
        part.finish()
        with locked(folder):
            sweep(folder)
            part.become(path)
        sync_folder(folder)


def _try_lock(fd: int) -> bool | None:
    """Whether a file could be locked until it is closed; None if the system cannot do that."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextlib.contextmanager
def locked(folder: str) -> Iterator[bool | None]:
    """Keeps others out who write into a directory; may be entered again within.

    Nobody is kept out by a directory that cannot be locked, nor for long by a writer that has stopped within.

    Gives: whether it is locked; None if the system cannot do that.
    """
    held: dict[str, bool | None] = vars(_here).setdefault("held", {})
    if folder in held:
        yield held[folder]
        return
    try:
        fd = os.open(folder or ".", _FOLDER)
    except OSError:
        yield None
        return
    try:
        until, pause = time.monotonic() + _PATIENCE, 0.0005
        while (done := _try_lock(fd)) is False and time.monotonic() < until:
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        held[folder] = done
        yield done
    finally:
        held.pop(folder, None)
        os.close(fd)


def sweep(folder: str) -> None:
    """Takes away the parts of writers that are no more; nothing else."""
    with locked(folder) as done, contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            if _PART.fullmatch(entry.name) and done is not False:  # else a part may not have its lock yet
                with contextlib.suppress(OSError):
                    _sweep_one(entry.path)


def _sweep_one(path: str) -> None:
    fd, info = open_plain(path)
    try:
        free = _try_lock(fd)
        mine = not hasattr(os, "getuid") or info.st_uid == os.getuid()
        if mine and (free or (free is None and time.time() - info.st_mtime > _OLD)):
            os.unlink(path)
    finally:
        os.close(fd)


def sync_folder(folder: str) -> None:
    """Has a directory's names on the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        fd = os.open(folder or ".", _FOLDER)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
