"""Strings of the text format of protocol buffers."""

from __future__ import annotations

import re

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
_ESCAPE = re.compile(r"\\([0-7]{1,3}|[xX][0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_UNESCAPED = {"n": b"\n", "r": b"\r", "t": b"\t", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v", '"': b'"',
              "'": b"'", "\\": b"\\", "?": b"?"}


def quoted(value: str | bytes) -> str:
    """Writes a string of the text format, with quotes and escapes."""
    chars = value.decode("latin-1") if isinstance(value, bytes) else value.encode().decode("latin-1")
    return '"' + "".join(_ESCAPES.get(c) or (c if " " <= c < "\x7f" else f"\\{ord(c):03o}") for c in chars) + '"'


def unquoted(text: str) -> bytes:
    """Reads a string of the text format, with its quotes; raises ValueError for anything else."""
    if len(text) < 2 or text[0] not in "\"'" or text[-1] != text[0]:
        raise ValueError(f"no string: {text}")
    parts = []
    at, body = 0, text[1:-1]
    for escape in _ESCAPE.finditer(body):
        parts.append(body[at : escape.start()].encode())
        at = escape.end()
        found = escape.group()[1:]
        if found[0] in _UNESCAPED:
            parts.append(_UNESCAPED[found[0]])
        elif found[0] in "uU" and len(found) > 1:
            parts.append(chr(int(found[1:], 16)).encode())
        elif found[0] in "01234567" or (found[0] in "xX" and len(found) > 1):
            number = int(found[1:], 16) if found[0] in "xX" else int(found, 8)
            parts.append(bytes([number & 255]))
        else:
            raise ValueError(f"no string: {text} (escape \\{found})")
    return b"".join([*parts, body[at:].encode()])
