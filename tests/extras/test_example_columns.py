"""Examples parsed by columns: the quick way and field by field agree, whatever the bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphgrad.errors import Complaint
from graphgrad.extras.io import example_columns as columns
from graphgrad.ir.dtypes import float32, int64, string
from graphgrad.ir.proto.example_messages import BytesList, Example, Feature, Features, FloatList, Int64List
from graphgrad.ir.proto.wire import delimited, varint

KEYS = [b"i", b"f", b"s", b"not there"]
NUMBERS = [0, 1, -1, 127, 128, 300, 2**31, -(2**31), 2**63 - 1, -(2**63), 16383, 16384]


def _example(i: Any = (), f: Any = (), s: Any = (), **more: Any) -> bytes:
    made = {"i": Feature(int64_list=Int64List(value=i)), "f": Feature(float_list=FloatList(value=f)),
            "s": Feature(bytes_list=BytesList(value=s)), "none": Feature(), **more}
    return bytes(Example(features=Features(feature=made)).SerializeToString())


def _slow(example: bytes) -> Any:
    wanted: Any = {key: [None] for key in KEYS}
    columns._parse(example, 0, wanted)
    return [wanted[key][0] for key in KEYS]


def _outcome(call: Any, *args: Any) -> Any:
    try:
        return call(*args)
    except Complaint as e:
        return str(e).splitlines()[0].split(": ", 1)[1]


def test_values() -> None:
    """Numbers of all lengths, no values, missing features, strings that are long."""
    rows = [_example(NUMBERS, [0.5, -1.5], [b"", b"x" * 200]), _example(), _example([7], [1.0], [b"y"]),
            _example(NUMBERS[::-1] * 40, np.arange(100.0), [b"z" * 20000] * 3)]
    i, f, s, absent = columns.rows_of(rows, KEYS)
    flat, counts = columns.values_of(i, int64)
    assert flat.tolist() == [*NUMBERS, 7, *NUMBERS[::-1] * 40] and counts.tolist() == [12, 0, 1, 480]
    flat, counts = columns.values_of(f, float32)
    assert flat.tolist() == [0.5, -1.5, 1.0, *range(100)] and counts.tolist() == [2, 0, 1, 100]
    assert flat.flags.writeable and flat.dtype == np.float32
    flat, counts = columns.values_of(s, string)
    assert flat.tolist() == [b"", b"x" * 200, b"y", *[b"z" * 20000] * 3] and counts.tolist() == [2, 0, 1, 3]
    assert absent == [None] * 4 and columns.values_of(absent, int64)[0].size == 0
    assert columns.rows_of([], KEYS) == [[]] * 4 and columns.values_of([], int64)[1].tolist() == []
    assert columns.rows_of([rows[2]], [b"i", b"i"]) == [[(3, b"\7")]] * 2
    assert columns.values_of([(3, bytes([5, 6]))], int64)[0].tolist() == [5, 6]


@pytest.mark.parametrize("unusual", [
    delimited(1, delimited(1, delimited(2, delimited(3, delimited(1, b"\5"))) + delimited(1, b"i"))),  # value first
    delimited(1, delimited(1, delimited(1, b"i") + delimited(2, delimited(3, b"\x08\5\x08\6\x0a\1\7")))),  # not packed
    delimited(1, delimited(1, delimited(1, b"f") + delimited(2, delimited(2, b"\x0d\0\0\0\x3f")))),
    delimited(1, delimited(1, delimited(1, b"i"))), delimited(1, delimited(1, delimited(2, b""))),  # no value, no key
    delimited(1, b"\x13\x08\1\x14" + delimited(1, delimited(1, b"i") + delimited(2, b""))),  # a group
    delimited(1, delimited(1, delimited(1, b"i") + delimited(2, delimited(2, b"") + delimited(3, b"\x0a\1\1")))),
    b"\x10\5" + _example([1, 2]), _example([1, 2]) + _example([3]), b"", varint(3 << 3 | 5) + b"\0\0\0\0",
])
def test_unusual(unusual: bytes) -> None:
    """What few writers write is what it means."""
    found = [column[0] for column in columns.rows_of([unusual], KEYS)]
    assert found == _slow(unusual)


def test_damaged() -> None:
    """Bytes cut off or changed give what field by field gives: contents, or an error."""
    whole = _example([1, 300, -1], [0.5, 2.0], [b"ab", b""])
    for cut in range(len(whole)):
        assert _outcome(lambda d: [c[0] for c in columns.rows_of([d], KEYS)], whole[:cut]) == _outcome(
            _slow, whole[:cut]), cut
    rng = np.random.default_rng(0)
    for _ in range(5000):
        data = bytearray(whole)
        for at in rng.integers(0, len(data), rng.integers(1, 3)):
            data[at] = rng.integers(0, 256)
        quick = _outcome(lambda d: [c[0] for c in columns.rows_of([d], KEYS)], bytes(data))
        assert quick == _outcome(_slow, bytes(data)), bytes(data)


@pytest.mark.parametrize("rows", [[b"\x80"], [b"\1\x80", b"\1"], [b"", b"\xff" * 10 + b"\1"]])
def test_numbers_cut_off(rows: list[bytes]) -> None:
    """A number ends where its example does, and has 64 bits."""
    with pytest.raises(Complaint, match="(?s)Could not parse example input.*Fix:"):
        columns.values_of([(3, row) for row in rows], int64)
