"""The error of bytes that are no message."""

from __future__ import annotations

import sys
from typing import Any


class DecodeError(ValueError):
    """Bytes that are not a message of the requested type."""


def decode_error(problem: str) -> DecodeError:
    """Makes the error; where a program has imported protobuf's, it is an instance of that class, too."""
    theirs = getattr(sys.modules.get("google.protobuf.message"), "DecodeError", None)
    if theirs is None:
        return DecodeError(problem)
    if theirs not in _OF_BOTH:
        _OF_BOTH[theirs] = type("DecodeError", (DecodeError, theirs), {"__doc__": DecodeError.__doc__})
    return _OF_BOTH[theirs](problem)


_OF_BOTH: dict[Any, type[DecodeError]] = {}
