"""The user's line: the first stack frame outside this package.

A frame is kept as (code object, instruction offset), which costs almost nothing; file, line and text are computed only
when an error needs them.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
from types import CodeType, FrameType
from typing import NamedTuple

import numpy as np

from graphgrad.errors import MORE_MEMORY, ResourceExhaustedError, memory_problem

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = (os.path.dirname(np.__file__) + os.sep, os.path.dirname(contextlib.__file__) + os.sep + "contextlib.py")
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


# One `Source` for each place; it keeps its code object alive, so that the id is not reused.
_seen: dict[tuple[int, int], Source] = {}


def is_internal(filename: str) -> bool:
    """Returns whether the file belongs to this package."""
    known = _inside.get(filename)
    if known is None:
        known = _inside[filename] = filename.startswith((_PACKAGE, "<frozen"))
    return known


# Errors that Python raises for unexpected arguments of a function.
STRAY = (AttributeError, IndexError, KeyError, ArithmeticError, MemoryError, StopIteration)


def is_own(error: BaseException) -> bool:
    """Returns whether an error comes from this package and its libraries, not from user functions that it called."""
    at = error.__traceback__
    while at is not None:
        filename = at.tb_frame.f_code.co_filename
        if not is_internal(filename) and not filename.startswith(_LIBRARIES):
            return False
        at = at.tb_next
    return True


def raise_in_words(error: BaseException) -> None:
    """Raises TensorFlow's error for an unexpected one of this package, naming the called function and the user's line.

    Args:
      error: one of `STRAY`; nothing is raised if it comes from user functions.
    """
    if not is_own(error):
        return
    frame: FrameType | None = sys._getframe(1)
    function = ""
    while frame is not None and is_internal(frame.f_code.co_filename):
        function, frame = frame.f_code.co_name, frame.f_back
    text = f"{type(error).__name__}: {error}".split("\n")[0]
    line = f"  Called at {user_source(2) or ''}\n"
    if isinstance(error, MemoryError):
        raise ResourceExhaustedError(None, None, f"{function}: {memory_problem(error)}.\n{line}"
                                     f"  Fix: {MORE_MEMORY}") from error
    cls = TypeError if isinstance(error, AttributeError) else ValueError
    raise cls(f"{function}: its arguments do not fit each other ({text}).\n{line}"
              "  Fix: check kinds, shapes and values of the arguments") from error


def user_source(depth: int = 1) -> Source | None:
    """Returns the nearest caller outside this package, or None when there is none.

    Args:
      depth: the number of frames to skip; the caller's own is 1.
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
