"""Serialized `tf.train.Example`s, parsed column by column: one feature of all examples at once.

Messages are scanned for the features that are asked for, whose contents stay bytes; those of a column are converted
together. What the usual writers do not write (fields in another order, numbers that are not packed, groups) is parsed
field by field.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import float32, int64, string
from graphgrad.ir.proto.wire import (
    DELIMITED,
    FIXED32,
    VARINT,
    fields_of_bytes,
    read_fields,
    read_packed,
    read_varint,
    varint,
)

KINDS = {string: 1, float32: 2, int64: 3}
NAMES = {1: "string", 2: "float", 3: "int64"}
_MESSAGE = 10  # key of field 1, of a message or of bytes
_VALUE = 18  # key of field 2

# What an example has for a feature: its kind, and its contents: strings, or the bytes of packed numbers.
Content = tuple[int, Any]
Row = Content | None


class _Unusual(Exception):
    """A message that has to be parsed field by field."""


def rows_of(examples: list[bytes], keys: list[bytes]) -> list[list[Row]]:
    """Finds features.

    Args:
      examples: serialized.
      keys: the names of the features.
    Returns: for each name a list with the contents for each example, None where it is missing.
    Raises: Complaint for what is not a message.
    """
    wanted: dict[bytes, list[Row]] = {key: [None] * len(examples) for key in keys}
    for i, example in enumerate(examples):
        try:
            _scan(example, i, wanted)
        except (_Unusual, IndexError, ValueError):
            _parse(example, i, wanted)
    return [wanted[key] for key in keys]


def _scan(data: bytes, i: int, wanted: dict[bytes, list[Row]]) -> None:
    """Enters the features of an example, of the form in which all writers write them."""
    at, end = 0, len(data)
    while at < end:
        if data[at] != _MESSAGE:
            raise _Unusual
        size, at = data[at + 1], at + 2
        if size > 127:
            size, at = read_varint(data, at - 1)
        stop = at + size
        if stop > end:
            raise _Unusual
        while at < stop:  # entries of the map
            if data[at] != _MESSAGE:
                raise _Unusual
            size, at = data[at + 1], at + 2
            if size > 127:
                size, at = read_varint(data, at - 1)
            over = at + size
            if over > stop or data[at] != _MESSAGE:
                raise _Unusual
            size, at = data[at + 1], at + 2
            if size > 127:
                size, at = read_varint(data, at - 1)
            key = data[at : at + size]
            at += size
            if at >= over or data[at] != _VALUE:
                raise _Unusual
            size, at = data[at + 1], at + 2
            if size > 127:
                size, at = read_varint(data, at - 1)
            if at + size != over:
                raise _Unusual
            column = wanted.get(key)
            if column is not None:
                column[i] = _content(data, at, over) if size else None
            at = over


def _content(data: bytes, at: int, end: int) -> Content:
    """Returns the contents of a feature, of the form in which all writers write it."""
    kind, wire = divmod(data[at], 8)
    size, at = data[at + 1], at + 2
    if size > 127:
        size, at = read_varint(data, at - 1)
    if wire != DELIMITED or not 1 <= kind <= 3 or at + size != end:
        raise _Unusual
    if kind == 1:
        values = []
        while at < end:
            if data[at] != _MESSAGE:
                raise _Unusual
            size, at = data[at + 1], at + 2
            if size > 127:
                size, at = read_varint(data, at - 1)
            values.append(data[at : at + size])
            at += size
            if at > end:
                raise _Unusual
        return kind, values
    if not size:
        return kind, b""
    if data[at] != _MESSAGE:
        raise _Unusual
    size, at = data[at + 1], at + 2
    if size > 127:
        size, at = read_varint(data, at - 1)
    if at + size != end or (kind == 2 and size & 3):
        raise _Unusual
    return kind, data[at:end]


def _parse(data: bytes, i: int, wanted: dict[bytes, list[Row]]) -> None:
    """Enters the features of an example, field by field."""
    try:
        for column in wanted.values():
            column[i] = None
        for features in fields_of_bytes(data, 1):
            for entry in fields_of_bytes(features, 1):
                key, feature = entry_of(entry)
                if key in wanted:
                    wanted[key][i] = content_of(feature)
    except (ValueError, IndexError) as e:
        raise unparsable(e) from None


def entry_of(entry: bytes) -> tuple[bytes, bytes]:
    """Parses an entry of a map of messages: its name, and the message."""
    parts = {number: value for number, wire, value in read_fields(entry) if wire == DELIMITED}
    return parts.get(1, b""), parts.get(2, b"")


def unparsable(error: Exception) -> Complaint:
    """Makes the error for what is no message."""
    return Complaint(f"Could not parse example input ({error})", "feed what Example.SerializeToString() gives")


def content_of(message: bytes) -> Row:
    """Parses a `Feature`.

    Args:
      message: serialized.
    Returns: its contents; None if it has none.
    Raises: ValueError or IndexError if it is not a message.
    """
    kinds = [(n, value) for n, wire, value in read_fields(message) if wire == DELIMITED and n in (1, 2, 3)]
    if not kinds:
        return None
    kind, message = kinds[-1]
    values = [(wire, value) for number, wire, value in read_fields(message) if number == 1]
    if kind == 1:
        return kind, [value for wire, value in values if wire == DELIMITED]
    if kind == 3:
        packed = [varint(value) if wire == VARINT else value for wire, value in values if wire in (VARINT, DELIMITED)]
        for part in packed[:-1]:  # no number goes on in the next part
            read_packed(part)
        return kind, b"".join(packed)
    floats = [value for wire, value in values if wire in (FIXED32, DELIMITED)]
    if any(len(value) % 4 for value in floats):
        raise ValueError("a number of less than 32 bits")
    return kind, b"".join(floats)


def values_of(rows: list[Row], dtype: Any) -> tuple[Any, Any]:
    """Converts the contents of a column.

    Args:
      rows: the contents, all of the dtype's kind; None for no values.
      dtype: string, float32 or int64.
    Returns: all values, one row after the other; the number of values of each row.
    Raises: Complaint for numbers that are cut off.
    """
    nothing: Any = [] if dtype is string else b""
    contents: list[Any] = [nothing if row is None else row[1] for row in rows]
    sizes = np.fromiter(map(len, contents), np.int64, len(contents))
    if dtype is string:
        flat = np.empty(int(sizes.sum()), object)
        flat[:] = [value for content in contents for value in content]
        return flat, sizes
    data = bytearray().join(contents)  # arrays of it can be written to
    if dtype is float32:
        return np.frombuffer(data, "<f4").astype(np.float32, copy=False), sizes // 4
    try:
        return _integers(np.frombuffer(data, np.uint8), sizes)
    except ValueError as e:
        raise unparsable(e) from None


def _integers(data: Any, sizes: Any) -> tuple[Any, Any]:
    """Decodes packed integers of several rows; returns them, and the number in each row."""
    if len(data) == 0:
        return np.zeros(0, np.int64), sizes
    last = data < 128
    stops = np.cumsum(sizes)
    if not last[stops[sizes > 0] - 1].all():
        raise ValueError("a number that is cut off")
    ends = np.flatnonzero(last)
    if len(ends) == len(data):  # all of them small
        return data.astype(np.int64), sizes
    counts = np.diff(np.searchsorted(ends, stops), prepend=0)
    begins = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - begins + 1
    longest = int(lengths.max())
    if longest > 10:
        raise ValueError("a number of more than 64 bits")
    values = np.zeros(len(ends), np.uint64)
    for k in range(longest):
        some = np.flatnonzero(lengths > k) if k else slice(None)
        values[some] |= (data[begins[some] + k] & 127).astype(np.uint64) << np.uint64(7 * k)
    return values.view(np.int64), counts
