"""What may come of a hostile argument: a result, or one of TensorFlow's errors in words of this package."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import traceback
from collections.abc import Sequence
from typing import Any

import graphgrad
from graphgrad import errors

_PACKAGE = os.path.dirname(os.path.abspath(graphgrad.__file__)) + os.sep
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


@functools.cache
def _raises(path: str) -> frozenset[int]:
    """The lines of `raise` statements of a file."""
    tree = ast.parse("".join(linecache.getlines(path)))
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)


def complaint_about(error: BaseException, raw: bool, given: Sequence[Any] = ()) -> str:
    """What is wrong with an error; "" if nothing.

    Args:
      error: what was raised.
      raw: whether an operation was called by its own name, whose errors name it.
      given: the objects that a function was given: where one of them lacks a method, TensorFlow, too, raises
        AttributeError.
    """
    frames = traceback.extract_tb(error.__traceback__)
    inner = frames[-1] if frames else None
    at = f"{inner.filename}:{inner.lineno} {inner.line}" if inner else "nowhere"
    what = f"{type(error).__name__}: {str(error)[:300]}"
    if inner is not None and inner.filename.startswith(_HERE) and not isinstance(error, errors.Complaint):
        return ""  # what the caller's own objects raise
    if not any(f.filename.startswith(_PACKAGE) for f in frames):
        return ""  # what the program's own calls of NumPy raise
    if isinstance(error, errors.Complaint):
        named = "Called at" in str(error) and "Fix:" in str(error) and isinstance(error, (ValueError, TypeError))
        return "" if named else f"a complaint that nobody put into context: {what} at {at}"
    if isinstance(error, errors.OpError):
        text = str(error)
        if isinstance(error, errors.InternalError):
            return f"a fault of this package: {what} at {at}"
        if raw and "Fix:" not in text:
            return f"no remedy: {what} at {at}"
        return ""
    if not isinstance(error, (TypeError, ValueError, NotImplementedError, LookupError, AttributeError, RuntimeError)):
        return f"no class of TensorFlow's: {what} at {at}"
    if isinstance(error, AttributeError) and not raw and any(error.obj is g for g in given):
        return ""
    if isinstance(error, AttributeError) and not raw and not type(error.obj).__module__.startswith("graphgrad"):
        return ""  # an object of the caller's that is not of the kind that it should be: TensorFlow says the same
    if isinstance(error, IndexError) and not raw and inner is not None and inner.name == "__getitem__":
        return ""  # a shape of fewer dimensions is indexed as a list is, in TensorFlow, too
    own = _own_words(inner)
    if isinstance(error, (TypeError, ValueError)) and not raw:
        return ""
    return "" if own else f"a leak: {what} at {at}"


def is_refusal(error: AssertionError) -> bool:
    """Returns whether this package raised an error of this class, which is TensorFlow's in some places."""
    inner = traceback.extract_tb(error.__traceback__)[-1]
    return inner.filename.startswith(_PACKAGE) and "Fix:" in str(error)


def _own_words(frame: Any) -> bool:
    """Whether a `raise` of this package, or a call of the test itself, is where an error comes from."""
    if frame is None or frame.filename.startswith((_HERE, "<")):
        return True
    if not frame.filename.startswith(_PACKAGE):
        return False
    return frame.lineno in _raises(frame.filename)
