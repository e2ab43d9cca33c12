"""The scalars of messages: their kinds, and how they are written and read.

Reference: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from graphgrad.ir.proto.wire import DELIMITED, FIXED32, FIXED64, VARINT, read_packed, read_varint, signed, varint

# kind -> (wire type, struct format, default). On the wire the integers are one kind: as JSON, 64 bits are a string.
# "int" has 64 bits; "sint64" has, too, and is written in zigzag: 0, -1, 1, -2, ...
INTEGERS = frozenset({"int", "int32", "uint32", "uint64", "sint64"})
SCALARS: dict[str, tuple[int, str, Any]] = {
    **dict.fromkeys(INTEGERS, (VARINT, "", 0)), "bool": (VARINT, "", False),
    "float": (FIXED32, "<f", 0.0), "double": (FIXED64, "<d", 0.0),
    "fixed32": (FIXED32, "<I", 0), "fixed64": (FIXED64, "<Q", 0), "string": (DELIMITED, "", ""),
    "bytes": (DELIMITED, "", b""),
}


def checked(kind: str, name: str, value: Any) -> Any:
    """Converts a value to a scalar of a field's kind; raises TypeError if it does not fit."""
    if kind == "string":
        value = value.decode() if isinstance(value, bytes) else value
    elif kind in INTEGERS or kind in ("fixed32", "fixed64", "bool"):
        if kind == "bool" and not isinstance(value, (str, bytes)):
            value = bool(value)
        elif kind != "bool":
            value = value.__index__() if hasattr(value, "__index__") else None
    elif kind in ("float", "double"):
        value = None if isinstance(value, (str, bytes)) else float(value)
    if not isinstance(value, type(SCALARS[kind][2])):
        raise TypeError(f"{value!r} has type {type(value).__name__}, which does not fit field {name} of type {kind}")
    return value


_EXACTLY = {"int": int, "float": float, "double": float, "bytes": bytes, "string": str}


def checked_all(kind: str, name: str, values: Iterable[Any]) -> list[Any]:
    """Converts the values of a repeated field as `checked` does."""
    values = list(values)
    kinds = set(map(type, values))
    exactly = _EXACTLY.get(kind)
    if kinds == {exactly} or (exactly is float and kinds == {int}):
        return values if kinds == {exactly} else list(map(float, values))
    return [checked(kind, name, v) for v in values]


def encoded(kind: str, value: Any) -> bytes:
    """Encodes a scalar without key and length."""
    if SCALARS[kind][0] == VARINT:
        return varint(int(value) if kind != "sint64" else value << 1 if value >= 0 else ~(value << 1))
    if kind == "string":
        return value.encode() if isinstance(value, str) else bytes(value)
    return bytes(value) if kind == "bytes" else struct.pack(SCALARS[kind][1], value)


def read_number(kind: str, data: bytes, at: int) -> tuple[Any, int]:
    """Reads the number of a kind at a position; returns it and its end."""
    wire, form, _ = SCALARS[kind]
    if wire == VARINT:
        value = data[at]
        if value < 128:
            return (value if kind not in ("bool", "sint64") else _integer(kind, value)), at + 1
        value, at = read_varint(data, at)
        return _integer(kind, value), at
    end = at + (8 if wire == FIXED64 else 4)
    if end > len(data):
        raise ValueError("truncated message")
    return struct.unpack_from(form, data, at)[0], end


def _integer(kind: str, value: int) -> Any:
    """Returns the number of a kind in the 64 bits of a varint; of 32 bits, the lower half counts."""
    if kind == "bool":
        return value != 0
    if kind == "uint64":
        return value
    if kind == "uint32":
        return value & 0xFFFFFFFF
    if kind == "sint64":
        return value >> 1 ^ -(value & 1)
    return signed(value) if kind == "int" else ((value & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def packed_numbers(kind: str, values: Sequence[Any]) -> bytes:
    """Encodes the scalars of a packed field."""
    wire, form, _ = SCALARS[kind]
    if wire != VARINT:
        return struct.pack(f"<{len(values)}{form[1]}", *values)
    if kind != "sint64" and min(values) >= 0 and max(values) < 128:
        return bytes(values)
    return b"".join([encoded(kind, v) for v in values])


def unpacked_numbers(kind: str, data: Any) -> list[Any]:
    """Reads the scalars of a packed field."""
    if SCALARS[kind][0] == VARINT:
        numbers = list(data) if data.isascii() else read_packed(data)  # bytes below 128 are numbers
        return numbers if kind == "int" and data.isascii() else [_integer(kind, n) for n in numbers]
    return list(np.frombuffer(data, SCALARS[kind][1]).tolist())
