"""The user's line: the first stack frame outside this package.

A frame is kept as (code object, instruction offset), which costs almost nothing; file,
line and text are worked out only when an error asks for them.
"""

from __future__ import annotations

import linecache
import os
import sys
from types import CodeType, FrameType
from typing import NamedTuple

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_inside: dict[str, bool] = {}  # file name -> belongs to this package


class Source(NamedTuple):
    """A place in a program, as a code object and the offset of an instruction in it."""

    code: CodeType
    lasti: int

    @property
    def filename(self) -> str:
        """The path of the file, as Python knows it."""
        return self.code.co_filename

    @property
    def lineno(self) -> int:
        """The line, counted from 1."""
        for start, end, line in self.code.co_lines():
            if start <= self.lasti < end and line is not None:
                return line
        return self.code.co_firstlineno

    def __str__(self) -> str:
        text = linecache.getline(self.filename, self.lineno).strip()
        return f"{os.path.basename(self.filename)}:{self.lineno}:  {text}"


# One `Source` for each place; it keeps its code object alive, so that the id stays its own.
_seen: dict[tuple[int, int], Source] = {}


def is_internal(filename: str) -> bool:
    """Whether the file belongs to this package."""
    known = _inside.get(filename)
    if known is None:
        known = _inside[filename] = filename.startswith((_PACKAGE, "<frozen"))
    return known


def user_source(depth: int = 1) -> Source | None:
    """The nearest caller outside this package, or None when there is none.

    Args:
      depth: how many frames to skip before looking; the caller's own is 1.
    """
    frame: FrameType | None = sys._getframe(depth)
    inside = _inside
    while frame is not None:
        code = frame.f_code
        filename = code.co_filename
        known = inside.get(filename)
        if known is None:
            known = is_internal(filename)
        if not known:
            key = (id(code), frame.f_lasti)  # hashing the code object itself is slow
            source = _seen.get(key)
            if source is None:
                if len(_seen) > 65536:
                    _seen.clear()
                source = _seen[key] = Source(code, frame.f_lasti)
            return source
        frame = frame.f_back
    return None
