"""Directories of compiled programs that come with an installed program: they are read, never written.

`graphgrad compile --output DIR` fills one; the environment variable GRAPHGRAD_PROGRAMS names them, and so does `use`.
Entries are machine code, so what `disk_cache` demands holds here, too: only the user and root may be able to put
something in their place. A directory that lies beside a program is not enough: somebody has to name it.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from . import disk_cache

_VARIABLE = "GRAPHGRAD_PROGRAMS"
_MOST = 1 << 30  # bytes of an entry
_named: list[str] = []


def use(folder: str) -> None:
    """Adds a directory for the rest of the process, before those of the environment."""
    path = os.path.abspath(folder)
    if path not in _named:
        _named.insert(0, path)


def forget(folder: str) -> None:
    """Undoes `use`."""
    with contextlib.suppress(ValueError):
        _named.remove(os.path.abspath(folder))


def folders() -> list[str]:
    """Lists the directories, the one named last first."""
    from_environment = [f for f in os.environ.get(_VARIABLE, "").split(os.pathsep) if f]
    return list(dict.fromkeys([*_named, *from_environment]))


def as_environment() -> dict[str, str]:
    """Returns this process's environment with the directories, for another process."""
    return {**os.environ, _VARIABLE: os.pathsep.join(found)} if (found := folders()) else dict(os.environ)


def exists(folder: str, key: str) -> bool:
    """Returns whether there is an entry, valid or not."""
    path = os.path.join(folder, f"{key}.program")
    return os.path.isfile(path) and not os.path.islink(path)


def read(folder: str, key: str) -> tuple[dict[str, Any], bytes] | None:
    """Returns the header and the code stored under `key`, or None if there is no valid entry."""
    try:
        real = Path(os.path.realpath(folder))
        if not (path := real / f"{key}.program").exists():
            return None
        if reason := disk_cache.distrust(real, groups=True):
            disk_cache.warn(f"the compiled programs in {folder} are not used, since {reason}. Fix: change that, or do "
                            f"not name it in {_VARIABLE}")
            return None
        return disk_cache.parsed(key, disk_cache.content(path, _MOST, groups=True))
    except (OSError, ValueError):
        return None


class Output:
    """A directory to be filled; call it with an entry to store it.

    Args:
      folder: the directory, made if it is missing.
    Raises: OSError.

    Attributes:
      keys: of the entries that were stored, or were there.
      failed: why an entry could not be stored; "" if all were.
    """

    def __init__(self, folder: str):
        os.makedirs(folder, exist_ok=True)
        self.folder = os.path.realpath(folder)
        self.keys: set[str] = set()
        self.failed = ""

    def __call__(self, key: str, header: dict[str, Any], code: bytes) -> None:
        """Stores an entry, unless it is there."""
        self.keys.add(key)
        if read(self.folder, key) is None:
            try:
                disk_cache.put(self.folder, key, disk_cache.packed(key, header, code), 0o644)
            except OSError as error:
                self.failed = str(error)

    def bytes(self) -> int:
        """Returns the size of the entries."""
        total = 0
        for key in self.keys:
            with contextlib.suppress(OSError):
                total += os.stat(os.path.join(self.folder, f"{key}.program")).st_size
        return total

    def distrust(self) -> str:
        """Says why what is stored would not be used where it is; "" if it would."""
        return disk_cache.distrust(Path(self.folder), groups=True)
