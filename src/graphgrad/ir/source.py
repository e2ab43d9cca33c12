"""The user's line: the first stack frame outside this package, and the lines from which it was called.

A frame is kept as (code object, instruction offset), which costs almost nothing; file, line and text are computed only
when an error needs them.

The callers of a frame stay the same as long as it is executed, so they are found once for each frame and kept with it,
in `f_trace`: the only place in a frame for an object that ends with it. It belongs to debuggers, which replace what
they find there; where one has been there already, the callers are found anew for each operation.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
import sys
import sysconfig
from collections import Counter
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FrameType
from typing import Any

import numpy as np

from graphgrad.errors import MORE_MEMORY, ResourceExhaustedError, memory_problem, shown_name

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = (os.path.dirname(np.__file__) + os.sep, os.path.dirname(contextlib.__file__) + os.sep + "contextlib.py")
_inside: dict[str, bool] = {}  # file name -> belongs to this package


class Source:
    """A place in a program, as a code object and the offset of an instruction in it.

    Attributes:
      code: the function, or the module.
      lasti: the offset.
      caller: the place in the user's program that called the function; None if it is not known.
    """

    __slots__ = ("code", "lasti", "caller")

    def __init__(self, code: CodeType, lasti: int, caller: Source | None = None):
        self.code = code
        self.lasti = lasti
        self.caller = caller

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

    @property
    def chain(self) -> list[Source]:
        """This place and those from which it was called, the nearest first."""
        chain: list[Source] = []
        place: Source | None = self
        while place is not None:
            chain.append(place)
            place = place.caller
        return chain

    @property
    def line(self) -> str:
        """File, line and text of this place alone."""
        text = linecache.getline(self.filename, self.lineno).strip()
        return f"{shown_name(self.filename)}:{self.lineno}:  {text}"

    def __str__(self) -> str:
        if self.caller is None:
            return self.line
        lines = [place.line for place in self.chain if not is_library(place.filename)] or [self.line]
        if is_library(self.filename):
            lines.insert(0, self.line)
        told = [lines[0]]
        for line, times in Counter(lines[1:]).items():  # the lines of a recursion are told once
            told.append(f"    called at {line}" + (f"  ({times} times)" if times > 1 else ""))
        if len(told) > _TOLD:  # the nearest, and where it all began
            told[_TOLD - 2:-1] = [f"    ... {len(told) - _TOLD + 1} more ..."]
        return "\n".join(told)


_TOLD = 8  # at most as many lines are told


def line_of(source: Source | None) -> str:
    """Returns file, line and text of a place, without its callers; '' where it is not known."""
    return "" if source is None else source.line


class _Callers:
    """What a frame knows of its callers: the places in it, made when first used, with the chain of callers.

    It is false, so that debuggers replace it, and does nothing if a debugger calls it.
    """

    __slots__ = ("code", "caller", "places")

    def __init__(self, code: CodeType, caller: Source | None):
        self.code = code
        self.caller = caller
        self.places: dict[int, Source] = {}

    def at(self, lasti: int) -> Source:
        """Returns the place at an offset."""
        place = self.places.get(lasti)
        if place is None:
            place = self.places[lasti] = Source(self.code, lasti, self.caller)
        return place

    def __bool__(self) -> bool:
        return False

    def __call__(self, *event: Any) -> None:
        return None


# One for each function and chain of callers. It keeps both alive, so that ids are not reused.
_seen: dict[tuple[int, int], _Callers] = {}


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
    """Returns the nearest caller outside this package, without its callers, or None when there is none.

    Args:
      depth: the number of frames to skip; the caller's own is 1.
    """
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else Source(frame.f_code, frame.f_lasti)


def source_of_operation(depth: int = 1) -> Source | None:
    """Returns the nearest caller outside this package, with its callers, or None when there is none.

    Args:
      depth: the number of frames to skip; the caller's own is 1.
    """
    frame: FrameType | None = sys._getframe(depth)
    inside = _inside
    while frame is not None:
        filename = frame.f_code.co_filename
        known = inside.get(filename)
        if known is None:
            known = is_internal(filename)
        if not known:
            callers = frame.f_trace
            if type(callers) is not _Callers:
                callers = _callers_of(frame)
            place = callers.places.get(frame.f_lasti)
            return callers.at(frame.f_lasti) if place is None else place
        frame = frame.f_back
    return None


def _callers_of(frame: FrameType) -> _Callers:
    """Finds what a frame and the unknown ones around it have to know, and leaves it with them."""
    unknown: list[FrameType] = []
    around: FrameType | None = frame
    found: Any = None
    while around is not None and found is None:
        if not is_internal(around.f_code.co_filename):
            found = around.f_trace
            if type(found) is not _Callers:
                found = None
                unknown.append(around)
                if around.f_code.co_name == "<module>":  # who imports a module says nothing
                    break
        around = around.f_back if found is None else around
    caller = None if found is None or around is None else found.at(around.f_lasti)
    traced = sys.gettrace() is not None
    for inner in reversed(unknown):
        code = inner.f_code
        if len(_seen) > 65536:
            _seen.clear()
        key = (id(code), id(caller))  # hashing the code object itself is slow
        found = _seen.get(key)
        if found is None:
            found = _seen[key] = _Callers(code, caller)
        if not traced and inner.f_trace is None and not code.co_flags & _RESUMED:
            inner.f_trace = found
        caller = found.at(inner.f_lasti)
    return found  # type: ignore[no-any-return]  # the frame itself is among the unknown ones


_RESUMED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR  # such a frame may be entered again from elsewhere


@functools.cache
def is_library(filename: str) -> bool:
    """Returns whether a file is one of Python's own or an installed one."""
    folders = {os.path.realpath(sysconfig.get_path(kind)) + os.sep for kind in ("stdlib", "platstdlib")}
    return filename.startswith("<frozen") or f"{os.sep}site-packages{os.sep}" in filename \
        or f"{os.sep}dist-packages{os.sep}" in filename or os.path.realpath(filename).startswith(tuple(folders))
