"""What is done to bytes: damage of any kind, and messages that are whole and mean nonsense."""

from __future__ import annotations

import random
import struct
import zlib
from typing import Any

from graphgrad.ir.proto.wire import DELIMITED, VARINT, delimited, read_fields, varint

_ODD = [
    0,
    1,
    2,
    127,
    128,
    255,
    256,
    65535,
    1 << 31,
    (1 << 31) - 1,
    (1 << 32) - 1,
    1 << 40,
    (1 << 62),
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
]


def damaged(rng: random.Random, data: bytes, other: bytes = b"") -> bytes:
    """The bytes with one thing or several done to them."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data = rng.choice(_DAMAGE)(rng, data, other)
        if len(data) > 1 << 21:
            return data[: 1 << 21]
    return data


def _place(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _flipped(rng: random.Random, data: bytes, other: bytes) -> bytes:
    made = bytearray(data or b"\0")
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    return bytes(made)


def _cut(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: _place(rng, data)]


def _removed(rng: random.Random, data: bytes, other: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + data[at + rng.choice((1, 2, 4, 8, 100)) :]


def _doubled(rng: random.Random, data: bytes, other: bytes) -> bytes:
    at = _place(rng, data)
    piece = data[at : at + rng.choice((1, 4, 30, 1000))]
    return data[:at] + piece * rng.choice((2, 2, 3, 50)) + data[at:]


def _overwritten(rng: random.Random, data: bytes, other: bytes) -> bytes:
    at, value = _place(rng, data), rng.choice(_ODD)
    piece = rng.choice(
        (
            lambda: struct.pack("<Q", value)[: rng.choice((1, 2, 4, 8))],
            lambda: struct.pack(">Q", value)[-rng.choice((1, 2, 4, 8)) :],
            lambda: varint(value),
            lambda: b"\xff" * rng.choice((1, 9, 10, 11, 400)),
            lambda: rng.randbytes(rng.choice((1, 3, 50))),
        )
    )()
    return data[:at] + piece + data[at + len(piece) :]


def _inserted(rng: random.Random, data: bytes, other: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + rng.choice((b"\x80" * 500, varint(rng.choice(_ODD)), rng.randbytes(8), other[:200])) + data[at:]


def _spliced(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: _place(rng, data)] + other[_place(rng, other) :]


_DAMAGE = (_flipped, _flipped, _cut, _removed, _doubled, _overwritten, _overwritten, _inserted, _spliced)


# -- messages ------------------------------------------------------------------------------


def meddled(rng: random.Random, data: bytes) -> bytes:
    """A message of which some fields are others, with lengths that are right."""
    for _ in range(rng.choice((1, 1, 2, 4, 12))):
        data = _meddled(rng, data, 0)
        if len(data) > 1 << 20:
            break
    return data


def _meddled(rng: random.Random, data: bytes, depth: int) -> bytes:
    try:
        fields = list(read_fields(data))
    except (ValueError, IndexError):
        return damaged(rng, data, data)
    if not fields:
        return data if rng.random() < 0.5 else _written([_strange(rng)])
    at = rng.randrange(len(fields))
    number, wire, value = fields[at]
    if wire == DELIMITED and depth < 12 and rng.random() < 0.8 and _is_message(value):
        fields[at] = number, wire, _meddled(rng, value, depth + 1)
        return _written(fields)
    what = rng.randrange(9)
    if what == 0:
        del fields[at]
    elif what == 1:
        fields += [fields[at]] * rng.choice((1, 2, 40))
    elif what == 2:
        rng.shuffle(fields)
    elif what == 3:
        fields[at] = rng.randrange(1, 20), wire, value
    elif what == 4:
        fields.insert(at, _strange(rng))
    elif what == 5:
        other = rng.choice(fields)
        fields[at] = number, other[1], other[2]
    elif what == 6 and wire == DELIMITED:  # within itself
        for _ in range(rng.choice((1, 3, 60, 200))):
            value = delimited(number, value)
        fields[at] = number, wire, value
    elif wire == VARINT:
        fields[at] = number, wire, rng.choice((*_ODD, value + 1, value ^ 1, rng.randrange(30)))
    elif wire == DELIMITED:
        names = [v for _, w, v in fields if w == DELIMITED]
        fields[at] = (
            number,
            wire,
            rng.choice((rng.choice(names), damaged(rng, value, rng.choice(names)), b"", value * 9)),
        )
    else:
        fields[at] = number, wire, rng.randbytes(len(value))
    return _written(fields)


def _is_message(value: bytes) -> bool:
    try:
        return bool(value) and all(n < 3000 for n, _, _ in read_fields(value))
    except (ValueError, IndexError):
        return False


def _strange(rng: random.Random) -> tuple[int, int, Any]:
    number = rng.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 99, 536870911))
    if rng.random() < 0.5:
        return number, VARINT, rng.choice(_ODD)
    return number, DELIMITED, rng.choice((b"", b"\xff", rng.randbytes(6), varint(rng.choice(_ODD)), b"\x08\1" * 50))


def _written(fields: list[tuple[int, int, Any]]) -> bytes:
    out = []
    for number, wire, value in fields:
        if wire == DELIMITED:
            out.append(delimited(number, bytes(value)))
        else:
            out.append(varint(number << 3 | wire) + (varint(value) if wire == VARINT else bytes(value)))
    return b"".join(out)


# -- bombs ---------------------------------------------------------------------------------


def zeros(rng: random.Random, kind: str) -> tuple[bytes, int]:
    """Compressed zeros, and how many."""
    size = rng.choice((1000, 10**6, 3 * 10**7))
    engine = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | (16 if kind == "GZIP" else 0))
    return engine.compress(bytes(size)) + engine.flush(), size
