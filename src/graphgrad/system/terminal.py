"""What a terminal can show: colours, and how many columns."""

from __future__ import annotations

import os
import shutil
from typing import IO

BOLD, RED, GREEN, CYAN, MAGENTA = "1", "1;31", "32", "36", "35"


def has_colours(stream: IO[str]) -> bool:
    """Returns whether to write in colours: on a terminal, unless NO_COLOR is set; FORCE_COLOR asks for them elsewhere.

    Args:
      stream: where the text goes.
    Reference: https://no-color.org, https://force-color.org.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def coloured(text: str, colour: str) -> str:
    """Returns text in a colour.

    Args:
      text: the text.
      colour: one of this module's.
    """
    return f"\x1b[{colour}m{text}\x1b[0m"


_LEAST = 16  # columns that a wrapped cell needs


def width(stream: IO[str]) -> int | None:
    """Returns the number of columns of a terminal, None for what has no width, such as a file.

    Args:
      stream: where the text goes.
    """
    if not stream.isatty() and "COLUMNS" not in os.environ:
        return None
    return shutil.get_terminal_size().columns


def table(rows: list[tuple[str, ...]], columns: int | None) -> str:
    """Formats rows in columns, as wide as the terminal.

    Long cells are wrapped. Where that leaves too little room, each row becomes a line of its first cell, with the
    others beneath it.

    Args:
      rows: the rows, the heading first.
      columns: the width of the terminal; None for any.
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    gaps = 2 * (len(widths) - 1)
    most = max(widths)
    while columns is not None and sum(min(w, most) for w in widths[1:]) + widths[0] + gaps > columns:
        most -= 1
        if most < _LEAST:
            return _stacked(rows, columns)
    widths[1:] = [min(w, most) for w in widths[1:]]
    lines = []
    for row in rows:
        cells = [_wrapped(cell, w) for cell, w in zip(row, widths, strict=True)]
        for k in range(max(map(len, cells))):
            parts = (cell[k] if k < len(cell) else "" for cell in cells)
            lines.append("  ".join(part.ljust(w) for part, w in zip(parts, widths, strict=True)).rstrip())
    return "\n".join(lines)


def _stacked(rows: list[tuple[str, ...]], columns: int) -> str:
    lines = []
    for row in rows:
        lines += [row[0], *("  " + line for line in _wrapped("; ".join(filter(None, row[1:])), columns - 2))]
    return "\n".join(line for line in lines if line.strip())


def _wrapped(text: str, room: int) -> list[str]:
    """Breaks a text into lines; words that are longer than a line, too, at a dot or an underscore if there is one."""
    import textwrap

    if len(text) <= room:
        return [text]
    lines: list[str] = []
    for line in textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False):
        while len(line) > room:
            at = max(line.rfind(".", 1, room), line.rfind("_", 1, room)) + 1 or room
            lines.append(line[:at])
            line = line[at:]
        lines.append(line)
    return lines
