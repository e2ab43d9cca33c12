"""Regular expressions with RE2's syntax and linear time.

Reference: github.com/google/re2, `RE2::FullMatch`, `RE2::Replace`, `RE2::GlobalReplace`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op

from .string_ops import _map, _same

_HOST = ("host",)


@functools.lru_cache(maxsize=16)  # each may take 8 MB
def _compiled(pattern: bytes, groups: bool) -> Any:
    """Compiles a pattern with RE2; one without groups is matched faster."""
    from re2 import Options, _re2  # imported on first use of a pattern

    options = Options()
    options.log_errors, options.never_capture = False, not groups
    compiled = _re2.RE2(pattern, options)
    if not compiled.ok():
        problem = compiled.error().decode("utf-8", "replace")
        raise Complaint(f"Invalid pattern: {pattern.decode('utf-8', 'replace')}, error: {problem}",
                        "use RE2's syntax, in which nothing looks around or back: github.com/google/re2/wiki/Syntax")
    return compiled


def _search(compiled: Any, anchored: bool) -> Callable[[bytes, int], Any]:
    """Returns a function of a string and a position that gives the spans of a match and of its groups, or None."""
    from re2 import _re2

    anchor = _re2.RE2.Anchor.ANCHOR_BOTH if anchored else _re2.RE2.Anchor.UNANCHORED

    def search(text: bytes, at: int) -> Any:
        spans = compiled.Match(anchor, text, at, len(text))
        return None if spans[0][0] < 0 else spans

    return search


# -- replacing ---------------------------------------------------------------------------


def _template(rewrite: bytes) -> tuple[list[Any], int, bool]:
    """Parses a replacement: returns bytes and numbers of groups, the highest number, and whether it is valid.

    As in RE2, the part before an error is used, and groups after it still count.
    """
    pieces = re.split(rb"(?s)\\(.?)", rewrite)
    highest = max((int(escaped) for escaped in pieces[1::2] if escaped.isdigit()), default=0)
    parts: list[Any] = [pieces[0]]
    for escaped, text in zip(pieces[1::2], pieces[2::2], strict=True):
        if not escaped.isdigit() and escaped != b"\\":
            return parts, highest, False
        parts += [int(escaped) if escaped.isdigit() else escaped, text]
    return parts, highest, True


def _filled(parts: list[Any], text: bytes, spans: Any) -> bytes:
    """Expands the replacement of a match; unmatched groups are empty."""
    return b"".join(p if isinstance(p, bytes) else text[max(0, spans[p][0]) : max(0, spans[p][1])] for p in parts)


def _char(text: bytes, at: int) -> int:
    """Returns the number of bytes of the character at `at`; 1 for an invalid one."""
    for size in (1, 2, 3, 4):
        try:
            text[at : at + size].decode()
        except UnicodeDecodeError:
            continue
        return size
    return 1


def _replaced(text: bytes, search: Callable[[bytes, int], Any], parts: list[Any]) -> bytes:
    """Replaces all matches; an empty match right after another one does not count."""
    out, at, last = [], 0, -1
    while at <= len(text) and (spans := search(text, at)) is not None:
        begin, end = spans[0]
        out.append(text[at:begin])
        if begin == last and begin == end:
            size = _char(text, begin) if begin < len(text) else 0
            out.append(text[begin : begin + size])
            at = begin + max(1, size)
            continue
        out.append(_filled(parts, text, spans))
        at = last = end
    return b"".join([*out, text[at:]])


# -- operations --------------------------------------------------------------------------


def _bytes(what: str, value: Any) -> bytes:
    array = np.asarray(value)
    if array.ndim:
        raise Complaint(f"{what} must be scalar, but received {list(array.shape)}", "give one string")
    found = array.item()
    return found.encode() if isinstance(found, str) else found


@op("StaticRegexReplace", "input: string -> output: string", shape=_same, flags=_HOST)
def static_regex_replace_op(xp, x, *, pattern, rewrite, replace_global=True):
    """Replaces matches of a pattern; `\\1` means the first group, `\\0` the whole match."""
    parts, highest, right = _template(_bytes("Rewrite", rewrite))
    compiled = _compiled(_bytes("Pattern", pattern), highest > 0)
    if highest > compiled.NumberOfCapturingGroups() or not (right or replace_global):
        return x
    search = _search(compiled, False)

    def first(text: bytes) -> bytes:
        spans = search(text, 0)
        if spans is None:
            return text
        begin, end = spans[0]
        return text[:begin] + _filled(parts, text, spans) + text[end:]

    return _map((lambda text: _replaced(text, search, parts)) if replace_global else first, x)


@op("RegexReplace", "input: string, pattern: string, rewrite: string -> output: string", flags=_HOST)
def regex_replace_op(xp, x, pattern, rewrite, *, replace_global=True):
    """Replaces matches of a pattern; the pattern is a tensor."""
    return static_regex_replace_op.kernel(xp, x, pattern=pattern, rewrite=rewrite, replace_global=replace_global)


@regex_replace_op.shape
def _regex_replace_shape(x, pattern, rewrite):
    return x


@op("StaticRegexFullMatch", "input: string -> output: bool", shape=_same, flags=_HOST)
def static_regex_full_match_op(xp, x, *, pattern):
    """Returns whether whole strings match a pattern."""
    search = _search(_compiled(_bytes("Pattern", pattern), False), True)
    return _map(lambda text: search(text, 0) is not None, x).astype(bool)


@op("RegexFullMatch", "input: string, pattern: string -> output: bool", flags=_HOST)
def regex_full_match_op(xp, x, pattern):
    """Returns whether whole strings match a pattern, which is a tensor."""
    return static_regex_full_match_op.kernel(xp, x, pattern=pattern)


@regex_full_match_op.shape
def _regex_full_match_shape(x, pattern):
    if pattern:
        raise Complaint(f"Pattern must be scalar, but received {list(pattern)}", "give one string")
    return x


for _record in (static_regex_replace_op, regex_replace_op, static_regex_full_match_op, regex_full_match_op):
    _record.grad(NOT_DIFFERENTIABLE)
