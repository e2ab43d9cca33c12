"""Formats values for Print, Assert, `tf.print` and `tf.strings.format`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.attribute_limits import whole


def number(value: Any) -> str:
    """Formats a number as TensorFlow does: with as many digits as it takes to read the same value back."""
    kind = getattr(value, "dtype", np.dtype(type(value))).kind
    if kind == "b":
        return "1" if value else "0"
    if kind in "iu":
        return str(whole(value))
    if kind == "c":
        return "?"
    x = float(value)
    if x != x:
        return "nan"
    digits, more, cast = (15, 17, float) if np.dtype(type(value)) == np.float64 else (6, 9, np.float32)
    text = f"{x:.{digits}g}"
    return text if cast(text) == cast(x) else f"{x:.{more}g}"


def element(value: Any, quoted: bool) -> str:
    """Formats one element of a tensor; quotes and escapes strings if requested."""
    if isinstance(value, (bytes, str)):
        text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
        if not quoted:
            return text
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return f'"{escaped}"'
    return number(value)


def summarize_value(array: Any, limit: int) -> str:
    """Formats the first `limit` elements (all if negative), rows in brackets: `[1 2][3...]...`."""
    array = np.asarray(array)
    if array.size == 0:
        return ""
    limit = array.size if limit < 0 else limit
    if array.ndim < 2:
        shown = " ".join(element(v, False) for v in array.ravel()[:limit])
        return shown + "..." * (limit < array.size)
    left = limit

    def nested(part: np.ndarray) -> str:
        nonlocal left
        if part.ndim > 1:
            return "[" + rows(part) + "]"
        n = min(len(part), left)
        left -= n
        return "[" + " ".join(element(v, False) for v in part[:n]) + "..." * (n < len(part)) + "]"

    def rows(part: np.ndarray) -> str:
        return "".join(nested(row) for row in part if left > 0)

    return rows(array) + "..." * (limit < array.size)


def pretty(array: Any, edge: int) -> str:
    """Formats a tensor in nested brackets, at most `edge` elements from each end of an axis (all if negative)."""
    array = np.asarray(array)
    if array.ndim == 0:
        return element(array[()], True)
    return _pretty(array, edge, 1)


def _pretty(part: np.ndarray, edge: int, depth: int) -> str:
    if part.ndim == 1:
        items = [element(v, True) for v in _ends(part, edge, part[:0])]
        if edge >= 0 and len(part) > 2 * edge:
            items.insert(edge, "...")
        return "[" + " ".join(items) + "]"
    gap = "\n" * (part.ndim - 1) + " " * depth
    rows = [_pretty(row, edge, depth + 1) for row in _ends(part, edge, part[:0])]
    if edge >= 0 and len(part) > 2 * edge:
        rows.insert(edge, "...")
    return "[" + gap.join(rows) + "]" if part.size else "[]"


def _ends(part: np.ndarray, edge: int, nothing: np.ndarray) -> list[Any]:
    if edge < 0 or len(part) <= 2 * edge:
        return list(part)
    return [*part[:edge], *(part[-edge:] if edge else nothing)]


__all__ = ["element", "number", "pretty", "summarize_value"]
