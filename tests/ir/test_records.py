"""Record files: written, read in blocks, damaged."""

from __future__ import annotations

import gzip
import pathlib
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad import errors
from graphgrad.ir.files import tfrecord

KINDS = ["", "ZLIB", "GZIP"]


def _records(sizes: list[int]) -> list[bytes]:
    rng = np.random.default_rng(0)
    return [rng.bytes(n) for n in sizes]


def _write(path: pathlib.Path, records: list[bytes], kind: str = "") -> pathlib.Path:
    with tf.python_io.TFRecordWriter(str(path), kind) as writer:
        for record in records:
            writer.write(record)
    return path


def _delivered(found: Iterator[bytes]) -> tuple[list[bytes], errors.OpError | None]:
    """What comes before an error, and the error."""
    records: list[bytes] = []
    try:
        for record in found:
            records.append(record)
    except errors.OpError as e:
        return records, e
    return records, None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("piece", [1, 13, 64, 1 << 18])
def test_round_trip(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, kind: str, piece: int) -> None:
    """Records of all lengths, whole and across the blocks that a file is read in."""
    monkeypatch.setattr(tfrecord, "_PIECE", piece)
    records = _records([0, 1, 12, 16, 63, 64, 65, 300, 0, 5000, 7, *range(40)])
    path = _write(tmp_path / "r", records, kind)
    assert list(tf.python_io.tf_record_iterator(str(path), tf.python_io.TFRecordOptions(kind))) == records
    assert list(tf.python_io.tf_record_iterator(_write(tmp_path / "empty", [], kind), kind)) == []


@pytest.mark.parametrize("at, problem, count", [
    (0, "corrupted record at 0", 0), (9, "corrupted record at 0", 0), (13, "corrupted record at 0", 0),
    (26 * 3 + 3, "corrupted record at 78", 3), (26 * 3 + 12, "corrupted record at 78", 3),
    (26 * 99 + 25, "corrupted record at 2574", 99),
])
def test_damaged(tmp_path: pathlib.Path, at: int, problem: str, count: int) -> None:
    """What precedes a damaged record is delivered, then the error says where."""
    records = _records([10] * 100)
    data = bytearray(_write(tmp_path / "r", records).read_bytes())
    data[at] ^= 1
    (tmp_path / "r").write_bytes(data)
    found, error = _delivered(tf.python_io.tf_record_iterator(str(tmp_path / "r")))
    assert found == records[:count]
    assert isinstance(error, errors.DataLossError) and problem in str(error)


@pytest.mark.parametrize("left, problem", [(0, None), (5, None), (11, None), (12, "truncated"), (25, "truncated")])
@pytest.mark.parametrize("kind", KINDS)
def test_truncated(tmp_path: pathlib.Path, kind: str, left: int, problem: str | None) -> None:
    """A file that ends within a record; within its length it ends, as in TensorFlow."""
    records = _records([10] * 100)
    data = _write(tmp_path / "r", records).read_bytes()[: 26 * 40 + left]
    pack: Any = {"": bytes, "ZLIB": zlib.compress, "GZIP": gzip.compress}[kind]
    (tmp_path / "r").write_bytes(pack(data))
    found, error = _delivered(tf.python_io.tf_record_iterator(str(tmp_path / "r"), kind))
    assert found == records[:40]
    assert (error is None) if problem is None else isinstance(error, errors.DataLossError)
    assert problem is None or f"{problem} record at {26 * 40}" in str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_flushed(tmp_path: pathlib.Path, kind: str) -> None:
    """What was flushed can be read before the file is closed; the file is of the size that it says."""
    writer = tf.python_io.TFRecordWriter(str(tmp_path / "r"), kind)
    for record in (b"one", "two", bytearray(b"three")):
        writer.write(record)
        writer.flush()
    assert list(tf.python_io.tf_record_iterator(str(tmp_path / "r"), kind)) == [b"one", b"two", b"three"]
    writer.close()
    writer.close()
    for act in (lambda: writer.write(b"four"), writer.flush):
        with pytest.raises(errors.FailedPreconditionError, match="Writer is closed.*Fix:"):
            act()
    if kind == "GZIP":
        assert gzip.decompress((tmp_path / "r").read_bytes()).endswith(tfrecord.framed(b"three"))


@pytest.mark.parametrize("record", [5, None, memoryview(b"x"), np.array([1, 2]), ["x"]])
def test_no_record(tmp_path: pathlib.Path, record: Any) -> None:
    """Only bytes and strings are records, as in TensorFlow."""
    with tf.python_io.TFRecordWriter(str(tmp_path / "r")) as writer:
        with pytest.raises(TypeError, match="takes bytes or a string, not .*Fix:"):
            writer.write(record)
