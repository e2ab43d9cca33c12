"""How an uncaught error of a program is shown: the user's frames and the message, in colours on a terminal."""

from __future__ import annotations

import os
import re
import sys
import traceback
from types import TracebackType
from typing import IO, Any

from graphgrad.frontend.config.settings import is_traceback_filtering_enabled
from graphgrad.ir.source import is_internal, is_library
from graphgrad.system.terminal import CYAN, GREEN, MAGENTA, RED, coloured, has_colours


def show(error: BaseException, path: str, everything: bool = False, stream: IO[str] | None = None) -> None:
    """Prints the traceback of an uncaught error.

    Frames of this package are left out, and those of libraries that it called. So are causes of which nothing else
    would be left.

    Args:
      error: the error.
      path: the program's file; what called it is left out.
      everything: whether nothing else is left out; GRAPHGRAD_TRACEBACK=full and
        `tf.debugging.disable_traceback_filtering()` ask for it, too.
      stream: where to print; standard error by default.
    """
    stream = stream or sys.stderr
    everything = everything or os.environ.get("GRAPHGRAD_TRACEBACK") == "full" or not is_traceback_filtering_enabled()
    shown = traceback.TracebackException(type(error), error, _from(error, path))
    left_out = 0 if everything else _shorten(shown)
    text = "".join(shown.format())
    if left_out:
        frames = f"{left_out} frame{'s' * (left_out != 1)}"
        text += f"({frames} of graphgrad left out; `graphgrad run --traceback` shows them.)\n"
    sys.stdout.flush()
    stream.write(_in_colours(text) if has_colours(stream) else text)


def _from(error: BaseException, path: str) -> TracebackType | None:
    """Returns the part of a traceback that begins in the program."""
    at = error.__traceback__
    while at is not None and at.tb_frame.f_code.co_filename != path:
        at = at.tb_next
    if at is None and isinstance(error, ImportError):  # a parent package of the module may have failed
        return error.__traceback__
    return at


def _shorten(shown: Any) -> int:
    """Leaves out what is not the user's, in an error and its causes; returns the number of frames."""
    kept: list[Any] = []
    left_out = 0
    inside = False  # of this package, or of a library that it called
    for frame in shown.stack:
        inside = is_internal(frame.filename) or (inside and is_library(frame.filename))
        if inside:
            left_out += 1
        else:
            kept.append(frame)
    shown.stack = traceback.StackSummary.from_list(kept)
    for name in ("__cause__", "__context__"):
        other = getattr(shown, name)
        if other is not None and not (name == "__context__" and shown.__suppress_context__):
            count = _shorten(other)
            left_out += count
            if not other.stack and count:
                setattr(shown, name, None)
    return left_out


_LINES = [
    (re.compile(r'^(  File )(".*?")(, line )(\d+)', re.M),
     r"\1" + coloured(r"\2", MAGENTA) + r"\3" + coloured(r"\4", MAGENTA)),
    (re.compile(r"^((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit|Warning|Iteration)\b)", re.M), coloured(r"\1", RED)),
    (re.compile(r"^(  (?:Built|Asked(?: for)?|Called|Used|Fed|Born) .*|    called at .*)$", re.M),
     coloured(r"\1", CYAN)),
    (re.compile(r"\b(Fix:)"), coloured(r"\1", GREEN)),
]


def _in_colours(text: str) -> str:
    for pattern, replacement in _LINES:
        text = pattern.sub(replacement, text)
    return text
