"""The programs of users in `graphs` (1.x) and `eager` (2.x)."""

from __future__ import annotations

import pathlib

ROOMS = ("graphs", "eager")


def paths(room: str) -> list[pathlib.Path]:
    """The files of a room."""
    return sorted(p for p in (pathlib.Path(__file__).parent / room).glob("*.py") if p.stem != "__init__")


def programs() -> dict[str, str]:
    """The programs by name."""
    return {f"{room}_{path.stem}": path.read_text() for room in ROOMS for path in paths(room)}
