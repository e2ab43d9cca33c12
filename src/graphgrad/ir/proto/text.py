"""Reads the text format of protocol buffers, which `str(message)` writes.

Reference: protobuf.dev/reference/protobuf/textformat-spec.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from .messages import MapOf, Message, entry_class
from .quoting import unquoted
from .scalars import checked
from .wire import DEEPEST

_TOKEN = re.compile(r"""(?P<gap>(?:[ \t\r\n\f\v]+|\#[^\n]*)+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>[0-9.][A-Za-z0-9_.]*(?:(?<=[eE])[+-][0-9]+[fF]?)?)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<sign>[{}<>:;,\[\]/-])""", re.VERBOSE)
_BITS = {"int32": (-(1 << 31), 1 << 31), "uint32": (0, 1 << 32), "fixed32": (0, 1 << 32), "uint64": (0, 1 << 64),
         "fixed64": (0, 1 << 64),
         "int": (-(1 << 63), 1 << 63), "sint64": (-(1 << 63), 1 << 63)}
_TRUTH = {"true": True, "True": True, "t": True, "1": True, "false": False, "False": False, "f": False, "0": False}


class ParseError(ValueError):
    """A text that is not a message of the requested type."""


class _Reader:
    """The tokens of a text, one after the other.

    Args:
      text: the text.
    """

    def __init__(self, text: str):
        self._text, self._at = text, 0
        self._tokens = self._all()
        self.kind, self.token = "", ""
        self.advance()

    def _all(self) -> Iterator[tuple[str, str]]:
        while self._at < len(self._text):
            found = _TOKEN.match(self._text, self._at)
            if found is None:
                self.fail(f"unexpected {self._text[self._at]!r}")
            self._at = found.end()
            if found.lastgroup != "gap":
                yield str(found.lastgroup), found.group()

    def fail(self, problem: str) -> NoReturn:
        """Raises the error, with the line."""
        raise ParseError(f"line {self._text.count(chr(10), 0, self._at) + 1}: {problem}")

    def advance(self) -> str:
        """Returns the current token and goes to the next one; at the end its kind is empty."""
        before = self.token
        self.kind, self.token = next(self._tokens, ("", ""))
        return before

    def takes(self, *signs: str) -> bool:
        """Goes beyond the current token if it is one of these signs."""
        if self.kind != "sign" or self.token not in signs:
            return False
        self.advance()
        return True

    def expect(self, sign: str) -> None:
        """Goes beyond a sign; raises ParseError if there is another token."""
        if not self.takes(sign):
            self.fail(f"expected {sign!r}, found {self.token or 'the end'!r}")


def parse(kind: Any, text: str) -> Any:
    """Reads a message from text.

    Args:
      kind: the class of the message.
      text: the text.
    Raises: ParseError if it is no such message.
    """
    reader, made = _Reader(text), kind()
    while reader.kind:
        _read_field(reader, made, 0)
    return made


def _read_body(reader: _Reader, made: Message, depth: int) -> None:
    """Reads the fields of a message up to its closing bracket."""
    if depth > DEEPEST:
        reader.fail(f"messages are nested more than {DEEPEST} deep")
    end = "}" if reader.takes("{") else ">"
    if end == ">":
        reader.expect("<")
    while not reader.takes(end):
        _read_field(reader, made, depth)


def _read_field(reader: _Reader, made: Message, depth: int) -> None:
    if reader.kind != "name":
        reader.fail(f"expected the name of a field, found {reader.token or 'the end'!r}")
    name = reader.advance()
    if name not in made.FIELDS:
        reader.fail(f"Message type \"tensorflow.{type(made).__name__.lstrip('_')}\" has no field named \"{name}\".")
    kind = made.FIELDS[name][1]
    has_colon = reader.takes(":")
    if isinstance(kind, str) and not has_colon:
        reader.fail(f"expected ':' after {name}, found {reader.token!r}")
    if isinstance(kind, (list, MapOf)) and reader.takes("["):
        while not reader.takes("]"):
            _read_value(reader, made, name, kind, depth)
            if not reader.takes(",") and reader.token != "]":
                reader.fail(f"expected ',' or ']', found {reader.token!r}")
    else:
        _read_value(reader, made, name, kind, depth)
    reader.takes(",", ";")


def _read_value(reader: _Reader, made: Any, name: str, kind: Any, depth: int) -> None:
    single = kind[0] if isinstance(kind, list) else kind
    if isinstance(single, str):
        value = _scalar(reader, single, made.ENUMS.get(name))
        if isinstance(kind, list):
            getattr(made, name).append(value)
        else:
            setattr(made, name, value)
        return
    if isinstance(single, MapOf):
        entry = entry_class(single)()
        _read_body(reader, entry, depth + 1)
        getattr(made, name)[entry.key] = entry.value
        return
    part = getattr(made, name).add() if isinstance(kind, list) else getattr(made, name)
    _read_body(reader, part, depth + 1)
    part.SetInParent()
    made._only(name)


def _scalar(reader: _Reader, kind: str, names: dict[int, str] | None) -> Any:
    """Reads a value of a kind."""
    if kind in ("string", "bytes"):
        return _string(reader, kind)
    negative = reader.takes("-")
    token, is_name = reader.token, reader.kind == "name"
    if reader.kind not in ("name", "number"):
        reader.fail(f"expected a value, found {token or 'the end'!r}")
    reader.advance()
    if kind == "bool":
        if token not in _TRUTH or negative:
            reader.fail(f"expected true or false, found {token!r}")
        return _TRUTH[token]
    if kind in ("float", "double"):
        return checked(kind, token, _float(reader, token, negative))
    if is_name:
        number = next((n for n, text in (names or {}).items() if text == token), None)
        if number is None or negative:
            reader.fail(f"{token!r} is no value of this field")
        return number
    return _integer(reader, kind, token, negative)


def _integer(reader: _Reader, kind: str, token: str, negative: bool) -> int:
    octal = len(token) > 1 and token[0] == "0" and token[1] not in "xX"
    try:
        value = int(token, 8 if octal else 0) if len(token) < 30 else 1 << 64
    except ValueError:
        reader.fail(f"{token!r} is no integer")
    value = -value if negative else value
    least, end = _BITS[kind]
    if not least <= value < end:
        reader.fail(f"the value {token} is out of range")
    return value


def _float(reader: _Reader, token: str, negative: bool) -> float:
    lower = token.lower()
    special = {"inf": math.inf, "infinity": math.inf, "inff": math.inf, "nan": math.nan, "nanf": math.nan}
    try:
        value = special[lower] if lower in special else float(lower.removesuffix("f"))
    except ValueError:
        reader.fail(f"{token!r} is no number")
    return -value if negative else value


def _string(reader: _Reader, kind: str) -> Any:
    if reader.kind != "text":
        reader.fail(f"expected a string, found {reader.token or 'the end'!r}")
    parts = []
    try:
        while reader.kind == "text":  # adjacent strings are one
            parts.append(unquoted(reader.token))
            reader.advance()
        return b"".join(parts) if kind == "bytes" else b"".join(parts).decode()
    except ValueError as e:
        reader.fail(str(e))
