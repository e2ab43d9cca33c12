"""The programs of users in `graphs` (1.x) and `eager` (2.x)."""

from __future__ import annotations

import pathlib

ROOMS = ("graphs", "eager")


def programs(*rooms: str) -> dict[str, str]:
    """The programs of some rooms, or all, by name.

    Those of 1.x import `graphgrad.v1` as users do, which files in tests must not: it changes the process.
    """
    here, theirs = pathlib.Path(__file__).parent, ("import graphgrad.compat.v1 as", "import graphgrad.v1 as")
    return {f"{room}_{path.stem}": path.read_text().replace(*theirs) for room in rooms or ROOMS
            for path in sorted((here / room).glob("*.py")) if path.stem != "__init__"}
