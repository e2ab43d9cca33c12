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


def width(stream: IO[str]) -> int | None:
    """Returns the number of columns of a terminal, None for what has no width, such as a file.

    Args:
      stream: where the text goes.
    """
    if not stream.isatty() and "COLUMNS" not in os.environ:
        return None
    return shutil.get_terminal_size().columns


def table(rows: list[tuple[str, ...]], columns: int | None) -> str:
    """Formats rows in columns; the last one is wrapped where the line would be too long.

    Args:
      rows: the rows, the heading first.
      columns: the width of the terminal; None for any.
    """
    import textwrap

    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    indent = sum(widths) + 2 * len(widths)
    lines = []
    for row in rows:
        head = "".join(cell.ljust(w) + "  " for cell, w in zip(row, widths, strict=False))
        room = max(20, (columns or 0) - indent)
        rest = [row[-1]] if columns is None else textwrap.wrap(row[-1], room, break_long_words=False) or [""]
        lines.append((head + rest[0]).rstrip())
        lines += [" " * indent + line for line in rest[1:]]
    return "\n".join(lines)
