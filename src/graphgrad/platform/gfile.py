"""`tf.gfile` and `tf.io.gfile`: files and folders, with TensorFlow's errors."""

from __future__ import annotations

import contextlib
import glob as _glob
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from graphgrad.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnimplementedError,
)
from graphgrad.ir.files.atomic_files import make_folders, system_errors
from graphgrad.ir.source import user_source


class FileStatistics(NamedTuple):
    """The status of a file: length in bytes, modification time in ns, whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def _path(path: Any) -> str:
    text = os.fspath(path)
    text = text.decode() if isinstance(text, bytes) else str(text)
    if text.startswith("file://"):
        return text.removeprefix("file://")
    if "://" in text:
        scheme = text.partition("://")[0]
        raise _error(UnimplementedError, f"File system scheme '{scheme}' not implemented (file: '{text}')",
                     "copy the file to a local folder")
    return text


def _error(kind: type[Any], problem: str, fix: str) -> OpError:
    error: OpError = kind(None, None, f"{problem}\n  Asked for at {user_source(2)}\n  Fix: {fix}")
    return error


_MODES = ("r", "w", "a", "r+", "w+", "a+")


class GFile:
    """A file, opened when it is first read or written.

    Args:
      name: the path.
      mode: "r", "w", "a", "r+", "w+" or "a+", with "b" for bytes.
    Raises: NotFoundError, PermissionDeniedError, InvalidArgumentError when it is used.
    Reference: TensorFlow 2.21 `tf.compat.v1.gfile.GFile`.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "f")
    >>> with tf.gfile.GFile(path, "w") as f:
    ...     f.write("one\\ntwo\\n")
    >>> list(tf.gfile.GFile(path))
    ['one\\n', 'two\\n']
    """

    def __init__(self, name: Any, mode: str = "r"):
        self._name = name
        self._mode = mode
        self._binary = "b" in mode
        self._file: Any = None
        if mode.replace("b", "") not in _MODES:
            raise _error(InvalidArgumentError, f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+': {mode!r}",
                         "use one of these, with 'b' for bytes")
        self._reads = "r" in mode or "+" in mode
        self._writes = mode.replace("b", "") != "r"

    @property
    def name(self) -> Any:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode."""
        return self._mode

    def _open(self, reading: bool = False, writing: bool = False) -> Any:
        if reading and not self._reads:
            raise _error(PermissionDeniedError, "File isn't open for reading", "open it with mode 'r'")
        if writing and not self._writes:
            raise _error(PermissionDeniedError, "File isn't open for writing", "open it with mode 'w'")
        if self._file is None:
            path = _path(self._name)
            with system_errors(path):
                self._file = open(path, self._mode.replace("b", "") + "b")  # noqa: SIM115  # closed by `close`
                if "a" in self._mode and "+" in self._mode:
                    self._file.seek(0)
        return self._file

    def _errors(self) -> system_errors:
        return system_errors(_path(self._name))

    def _text(self, data: bytes) -> Any:
        return data if self._binary else data.decode()

    def read(self, n: int = -1) -> Any:
        """Reads the next `n` bytes, all by default: a str, or bytes in a mode with "b"."""
        with self._errors():
            return self._text(self._open(reading=True).read(n))

    def readline(self) -> Any:
        """Reads the next line; empty at the end."""
        with self._errors():
            return self._text(self._open(reading=True).readline())

    def readlines(self) -> list[Any]:
        """Reads the remaining lines."""
        with self._errors():
            return [self._text(line) for line in self._open(reading=True)]

    def write(self, file_content: Any) -> None:
        """Writes a str or bytes."""
        data = file_content if isinstance(file_content, (bytes, bytearray)) else str(file_content).encode()
        with self._errors():
            self._open(writing=True).write(data)

    def tell(self) -> int:
        """Returns the current position in the file."""
        with self._errors():
            return int(self._open().tell())

    def seek(self, offset: Any = None, whence: int = 0, position: Any = None) -> None:
        """Moves to an offset: from the beginning (0), the current position (1) or the end (2)."""
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        with self._errors():
            self._open(reading=True).seek(offset if position is None else position, whence)

    def seekable(self) -> bool:
        """Returns True."""
        return True

    def size(self) -> int:
        """Returns the length in bytes."""
        return Stat(self._name).length

    def flush(self) -> None:
        """Flushes the buffer to the system."""
        if self._file is not None and self._writes:
            with self._errors():
                self._file.flush()

    def close(self) -> None:
        """Closes the file; it is opened again when used again."""
        if self._file is not None:
            file, self._file = self._file, None
            with self._errors():
                file.close()

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def __del__(self) -> None:
        self.close()


class FastGFile(GFile):
    """Another name of `GFile`."""


# -- questions -------------------------------------------------------------------------


def Exists(filename: Any) -> bool:
    """Returns whether a file or folder exists.

    Args:
      filename: the path.
    Reference: TensorFlow 2.21 `tf.compat.v1.gfile.Exists`.

    >>> tf.gfile.Exists("/no/such/file")
    False
    """
    return os.path.exists(_path(filename))


def IsDirectory(dirname: Any) -> bool:
    """Returns whether a folder exists.

    Args:
      dirname: the path.
    Reference: TensorFlow 2.21 `tf.compat.v1.gfile.IsDirectory`.
    """
    return os.path.isdir(_path(dirname))


def Stat(filename: Any) -> FileStatistics:
    """Returns the length and the modification time of a file, and whether it is a folder.

    Args:
      filename: the path.
    Returns: a tuple (length in bytes, mtime_nsec, is_directory).
    Raises: NotFoundError if there is none.
    Reference: TensorFlow 2.21 `tf.compat.v1.gfile.Stat`.
    """
    path = _path(filename)
    with system_errors(path):
        found = os.stat(path)
    folder = os.path.isdir(path)
    return FileStatistics(found.st_size, found.st_mtime_ns, folder)


def ListDirectory(dirname: Any) -> list[str]:
    """Lists the names in a folder, in no particular order.

    Args:
      dirname: the path of the folder.
    Returns: a list of strings, without "." and "..".
    Raises: NotFoundError if it does not exist.
    Reference: TensorFlow 2.21 `tf.compat.v1.gfile.ListDirectory`.
    """
    path = _path(dirname)
    if not os.path.isdir(path):
        raise _error(NotFoundError, f"Could not find directory {path}", "check the path")
    return os.listdir(path)


def Glob(filename: Any) -> list[str]:
    """Returns the paths that match a pattern, or one of several patterns.

    Args:
      filename: a pattern with `*`, `?` and `[...]`, or a list of patterns.
    """
    patterns = filename if isinstance(filename, (list, tuple)) else [filename]
    return [path for pattern in patterns for path in sorted(_glob.glob(_path(pattern)))]


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields each folder beneath `top` with the folders and files in it.

    Args:
      top: the folder to start from.
      in_order: whether a folder comes before those in it.
    """
    return os.walk(_path(top), topdown=in_order)


# -- changes ---------------------------------------------------------------------------


def MkDir(dirname: Any) -> None:
    """Makes a folder, unless it exists.

    Args:
      dirname: the path of the folder.
    Raises: NotFoundError if its parent does not exist.
    Reference: TensorFlow 2.21 `tf.compat.v1.gfile.MkDir`.
    """
    path = _path(dirname)
    if not os.path.isdir(path):
        with system_errors(path), contextlib.suppress(FileExistsError):
            os.mkdir(path)


def MakeDirs(dirname: Any) -> None:
    """Makes a folder and those of its parents that do not exist.

    Args:
      dirname: the path of the folder.
    Raises: FailedPreconditionError and others of the system.
    Reference: TensorFlow 2.21 `tf.compat.v1.gfile.MakeDirs`.
    """
    path = _path(dirname)
    make_folders(path)


def Remove(filename: Any) -> None:
    """Deletes a file.

    Args:
      filename: the path.
    Raises: NotFoundError if there is none.
    Reference: TensorFlow 2.21 `tf.compat.v1.gfile.Remove`.
    """
    path = _path(filename)
    with system_errors(path):
        os.remove(path)


def DeleteRecursively(dirname: Any) -> None:
    """Deletes a folder and everything in it.

    Args:
      dirname: the path of the folder.
    Raises: NotFoundError if there is none.
    Reference: TensorFlow 2.21 `tf.compat.v1.gfile.DeleteRecursively`.
    """
    path = _path(dirname)
    if os.path.isfile(path):
        return Remove(path)
    with system_errors(path):
        import shutil

        shutil.rmtree(path)
    return None


def _free(path: str, overwrite: bool) -> None:
    if os.path.exists(path) and not overwrite:
        raise _error(AlreadyExistsError, f"file already exists: {path}", "give overwrite=True, or another name")


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copies a file.

    Args:
      oldpath, newpath: the source and the target.
      overwrite: whether an existing target is replaced.
    Raises: AlreadyExistsError, NotFoundError.
    """
    old, new = _path(oldpath), _path(newpath)
    with system_errors(old):
        os.stat(old)
    _free(new, overwrite)
    with system_errors(new):
        import shutil

        shutil.copyfile(old, new)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Renames a file or folder.

    Args:
      oldname, newname: the source and the target.
      overwrite: whether an existing target is replaced.
    Raises: AlreadyExistsError, NotFoundError.
    """
    old, new = _path(oldname), _path(newname)
    with system_errors(old):
        os.stat(old)
    _free(new, overwrite)
    with system_errors(new):
        os.replace(old, new)


# -- the names of TensorFlow 2 ---------------------------------------------------------


def exists(path: Any) -> bool:
    """Returns whether a file or folder exists; see `tf.gfile.Exists`."""
    return Exists(path)


def isdir(path: Any) -> bool:
    """Returns whether a folder exists; see `tf.gfile.IsDirectory`."""
    return IsDirectory(path)


def stat(path: Any) -> FileStatistics:
    """Returns the length and the modification time of a file, and whether it is a folder; see `tf.gfile.Stat`."""
    return Stat(path)


def listdir(path: Any) -> list[str]:
    """Lists the names in a folder, in no particular order; see `tf.gfile.ListDirectory`."""
    return ListDirectory(path)


def glob(pattern: Any) -> list[str]:
    """Returns the paths that match a pattern, or one of several patterns.

    Args:
      pattern: a pattern with `*`, `?` and `[...]`, or a list of patterns.
    Returns: a list of strings, sorted for each pattern.
    Reference: TensorFlow 2.21 `tf.io.gfile.glob`.
    """
    return Glob(pattern)


def walk(top: Any, topdown: bool = True,
         onerror: Callable[..., Any] | None = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields each folder beneath `top` with the folders and files in it.

    Args:
      top: the folder to start from.
      topdown: whether a folder comes before those in it.
      onerror: called with the error of a folder that cannot be read.
    """
    return os.walk(_path(top), topdown, onerror)


def mkdir(path: Any) -> None:
    """Makes a folder, unless it exists; see `tf.gfile.MkDir`."""
    MkDir(path)


def makedirs(path: Any) -> None:
    """Makes a folder and those of its parents that do not exist; see `tf.gfile.MakeDirs`."""
    MakeDirs(path)


def remove(path: Any) -> None:
    """Deletes a file; see `tf.gfile.Remove`."""
    Remove(path)


def rmtree(path: Any) -> None:
    """Deletes a folder and everything in it; see `tf.gfile.DeleteRecursively`."""
    DeleteRecursively(path)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file.

    Args:
      src, dst: the source and the target.
      overwrite: whether an existing target is replaced.
    Raises: AlreadyExistsError, NotFoundError.
    Reference: TensorFlow 2.21 `tf.io.gfile.copy`.
    """
    Copy(src, dst, overwrite)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Renames a file or folder.

    Args:
      src, dst: the source and the target.
      overwrite: whether an existing target is replaced.
    Raises: AlreadyExistsError, NotFoundError.
    Reference: TensorFlow 2.21 `tf.io.gfile.rename`.
    """
    Rename(src, dst, overwrite)


def join(path: Any, *paths: Any) -> str:
    """Joins pieces to a path.

    Args:
      path, *paths: the pieces; those before an absolute one are dropped.
    Returns: a string.
    Reference: TensorFlow 2.21 `tf.io.gfile.join`.

    >>> tf.io.gfile.join("a", "b.txt")
    'a/b.txt'
    """
    return os.path.join(path, *paths)


def get_registered_schemes() -> list[str]:
    """Returns the schemes of paths: those of local files.

    Returns: ['', 'file'].
    Reference: TensorFlow 2.21 `tf.io.gfile.get_registered_schemes`.

    >>> tf.io.gfile.get_registered_schemes()
    ['', 'file']
    """
    return ["", "file"]
