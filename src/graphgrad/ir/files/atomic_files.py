"""Atomic file writes, and the operating system's errors as TensorFlow's.

Data are first written to a `Part`: a new file in the same directory under an unpredictable name, so it is never an
existing file or the target of a link. When it is complete and on the disk it is renamed. A part is locked as long as
its writer lives; parts of killed writers are removed by the next one (`sweep`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from graphgrad.errors import of_system
from graphgrad.ir.source import raise_in_words, user_source

try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None  # type: ignore[assignment]  # checked before each use

_PART = re.compile(r"\.graphgrad-[0-9a-f]{32}\.part")
_PATIENCE = 10.0  # seconds that a writer waits for another one to rename its files
_OLD = 86400.0  # seconds after which a part is abandoned, where the system has no locks
# Opens no link, does not block on a pipe, and is not inherited by other programs.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PLAIN = _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_here = threading.local()  # directories locked by this thread


class system_errors:
    """A `with` block that turns the system's errors into TensorFlow's.

    Args:
      path: the file concerned.
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
    """Creates a directory and its missing parents.

    Raises: TensorFlow's errors; FailedPreconditionError if one of them is not a directory.
    """
    with system_errors(path):
        try:
            os.makedirs(path, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from None


def open_plain(path: str, links: bool = False) -> tuple[int, os.stat_result]:
    """Opens a regular file for reading.

    Args:
      path: the file.
      links: whether it may be a link to one.
    Returns: the descriptor, and the file's status.
    Raises: OSError; FileNotFoundError for another kind, such as a pipe, which could block for ever.
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
    """An unfinished file.

    Args:
      folder: its directory.
      mode: its permissions, before the process's umask.
    Raises: OSError.

    Attributes:
      file: where to write.
    """

    def __init__(self, folder: str, mode: int = 0o666):
        self._path: str | None = _new_name(folder)
        with locked(folder):  # `sweep` sees no part without its lock
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN | _BINARY, mode)
            try:
                self.file = os.fdopen(fd, "wb")
            except BaseException:
                os.close(fd)
                raise
            _try_lock(fd)

    @property
    def path(self) -> str:
        """Its name as long as it is a part."""
        assert self._path is not None
        return self._path

    def finish(self, sync: bool = True) -> None:
        """Finishes writing; `sync`: and flushes it to the disk."""
        self.file.flush()
        if sync:
            os.fsync(self.file.fileno())

    def become(self, path: str) -> None:
        """Renames it, replacing an existing file."""
        assert self._path is not None
        os.replace(self._path, path)
        self._path = None

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *exc: Any) -> None:
        try:
            if self._path is not None:  # first the name: closing makes it visible to `sweep`
                with contextlib.suppress(OSError):
                    os.unlink(self._path)
        finally:
            with contextlib.suppress(OSError):  # a full disk raises once more
                self.file.close()


def _new_name(folder: str) -> str:
    return os.path.join(folder, f".graphgrad-{os.urandom(16).hex()}.part")


def replace_by_link(path: str, name: str) -> bool:
    """Gives a file a second name, replacing an existing file; returns whether the file system can do that."""
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
    """Writes a file that is renamed when it is complete and on the disk.

    Raises: the errors of TensorFlow; an existing file is then unchanged.
    """
    folder = os.path.dirname(path)
    with system_errors(path), Part(folder) as part:
        part.file.write(content)
        part.finish()
        with locked(folder):
            sweep(folder)
            part.become(path)
        sync_folder(folder)


def copy_whole(source: str, folder: str, name: str) -> None:
    """Copies a file into a folder, where it appears when it is complete.

    Args:
      source: the file.
      folder: the folder, which is made if it is missing.
      name: the name that the copy gets.
    """
    make_folders(folder)
    target = os.path.join(folder, name)
    if os.path.exists(target) and os.path.samefile(source, target):
        return
    with system_errors(source), open(source, "rb") as file, Part(folder) as part:
        shutil.copyfileobj(file, part.file)
        part.finish()
        part.become(target)


def _try_lock(fd: int) -> bool | None:
    """Locks a file until it is closed; returns whether it could; None if the system cannot lock."""
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
    """Excludes other writers from a directory; reentrant.

    Without an effect for a directory that cannot be locked; a stopped writer blocks others only for a limited time.

    Yields: whether it is locked; None if the system cannot do that.
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
    """Removes the parts of writers that have ended; nothing else."""
    with locked(folder) as done, contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            if _PART.fullmatch(entry.name) and done is not False:  # otherwise a part may not have its lock yet
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
    """Flushes a directory's names to the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        fd = os.open(folder or ".", _FOLDER)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
