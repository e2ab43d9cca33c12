"""The protobuf wire format: encodes and decodes fields, within limits.

Bytes may be untrusted, so reading takes time and memory proportional to their length, and invalid messages raise
`ValueError` or `IndexError`. The limits are those of protocol buffers' own readers.

Reference: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

VARINT, FIXED64, DELIMITED, GROUP, END_GROUP, FIXED32 = range(6)  # wire types
DEEPEST = 100  # nested messages
_64_BITS = (1 << 64) - 1


def read_varint(data: Any, at: int) -> tuple[int, int]:
    """Reads the unsigned number of 64 bits at `at`; returns it and its end.

    Raises: IndexError at the end of the data; ValueError for more than ten bytes.
    """
    byte = data[at]
    if byte < 128:
        return byte, at + 1
    value = byte & 127
    for shift in range(7, 70, 7):
        at += 1
        byte = data[at]
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _64_BITS, at + 1
    raise ValueError("a number of more than 64 bits")


def varint(value: int) -> bytes:
    """Encodes a number as a varint; negative ones as 64 bits of two's complement."""
    if value < 0:
        value += 1 << 64
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value: int) -> int:
    """Interprets the 64 bits of a varint as a signed number."""
    return value - (1 << 64) if value >> 63 else value


def read_key(data: Any, at: int) -> tuple[int, int, int]:
    """Reads field number and wire type; returns them and where the value begins."""
    key, begins = read_varint(data, at)
    if key < 8 or key >> 32 or begins - at > 5:
        raise ValueError(f"no field has the key {key}")
    return key >> 3, key & 7, begins


def read_fields(data: Any) -> Iterator[tuple[int, int, Any]]:
    """Yields the (number, wire type, value) triples of a message; skips groups, which no message here has.

    Args:
      data: bytes, or a memoryview; values other than numbers are slices of it.
    Raises: ValueError or IndexError if it is not a message.
    """
    at, end = 0, len(data)
    while at < end:
        number, wire, at = read_key(data, at)
        if wire == GROUP:
            at = after_group(data, number, at)
            continue
        value, at = read_value(data, wire, at)
        yield number, wire, value


def read_value(data: Any, wire: int, at: int) -> tuple[Any, int]:
    if wire == VARINT:
        return read_varint(data, at)
    if wire == DELIMITED:
        size, at = read_varint(data, at)
    elif wire in (FIXED64, FIXED32):
        size = 8 if wire == FIXED64 else 4
    else:
        raise ValueError(f"wire type {wire}")
    if size > len(data) - at:
        raise ValueError("truncated message")
    return data[at : at + size], at + size


def after_group(data: Any, number: int, at: int) -> int:
    """Returns the end of a group, nested ones included."""
    open_groups = [number]
    while open_groups:
        number, wire, at = read_key(data, at)
        if wire == GROUP:
            open_groups.append(number)
            if len(open_groups) > DEEPEST:
                raise ValueError("groups are nested too deeply")
        elif wire != END_GROUP:
            _, at = read_value(data, wire, at)
        elif open_groups.pop() != number:
            raise ValueError("a group ends that has not begun")
    return at


def fields_of_bytes(data: Any, number: int) -> Iterator[Any]:
    """Yields the values of one field of bytes, strings or messages; skips fields of that number of other types.

    Raises: ValueError or IndexError if the data are not a message.
    """
    return (value for n, wire, value in read_fields(data) if n == number and wire == DELIMITED)


def read_packed(data: Any) -> list[int]:
    """Reads the unsigned numbers of a packed field.

    Raises: ValueError or IndexError where it ends within a number.
    """
    numbers, at, end = [], 0, len(data)
    while at < end:
        number, at = read_varint(data, at)
        numbers.append(number)
    return numbers


def delimited(number: int, data: bytes) -> bytes:
    """Encodes a field of bytes, with its key and its length."""
    size = len(data)
    if number < 16 and size < 128:  # the usual case: a byte each
        return bytes((number << 3 | DELIMITED, size)) + data
    return varint(number << 3 | DELIMITED) + varint(len(data)) + data


def is_plain_entry(data: bytes, begin: int, end: int) -> bool:
    """Returns whether a map's entry is a key of text and a message, both of less than 128 bytes, in this order."""
    if end - begin < 4 or data[begin] != 10 or data[begin + 1] > 127:
        return False
    middle = begin + 2 + data[begin + 1]
    return middle + 1 < end and data[middle] == 18 and data[middle + 1] == end - middle - 2 < 128


def raw_field(number: int, wire: int, value: Any) -> bytes:
    """Encodes a field again that `read_fields` found."""
    if wire == DELIMITED:
        return delimited(number, bytes(value))
    return varint(number << 3 | wire) + (varint(value) if wire == VARINT else bytes(value))
