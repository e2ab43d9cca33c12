"""The wire format of messages: what protocol buffers' own readers take and refuse, and in what time."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.message import DecodeError

import graphgrad.compat.v1 as tf
from graphgrad.ir.graph_messages import AttrValue, TensorProto
from graphgrad.ir.proto.wire import delimited, read_varint


def nested(levels: int) -> bytes:
    """An attribute with functions that have functions as attributes; each level is three messages."""
    data = b""
    for _ in range(levels):
        data = delimited(10, delimited(2, delimited(2, data)))
    return data


@pytest.mark.parametrize("data", [
    b"\xff\xff\xff\xff", b"\n\x05ab", b"\n\3\n\1\xff", b"\x0c", b"\x0b", b"\x0b\x14", b"\2\0", b"\x0e",
    b"\x18" + b"\x80" * 10 + b"\1", b"\x98\x80\x80\x80\x80\0\5", b"\xf8\xff\xff\xff\x1f\5", b"\x0b" * 500,
    b"\x18" + b"\xff" * 3_000_000,
])
def test_refused(data: bytes) -> None:
    """What is no message is a DecodeError, as programs know it that have imported protobuf's; a ValueError, too."""
    with pytest.raises(DecodeError, match=r"Error parsing message with type 'tensorflow.GraphDef': ") as caught:
        tf.GraphDef.FromString(data)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("data, version", [
    (b"\x18" + b"\xff" * 9 + b"\1", -1), (b"\x18\xff\xff\xff\xff\x7f", -1), (b"\x18\x80\x80\x80\x80\x08", -(1 << 31)),
    (b"\x0b\x18\7\x0c", 0), (b"\x08\5\x1d\0\0\0\0", 0), (b"\xf8\xff\xff\xff\x0f\5\x18\7", 7),
])
def test_taken(data: bytes, version: int) -> None:
    """Numbers are cut to their bits; groups, unknown fields and those of another wire type are passed over."""
    message = tf.GraphDef.FromString(data)
    assert message.version == version and not message.node


def test_depth() -> None:
    """Messages may be 100 deep, as in TensorFlow."""
    assert len(AttrValue.FromString(nested(33)).SerializeToString()) == 315
    for levels in (34, 1000):
        with pytest.raises(DecodeError, match="nested more than 100 deep"):
            AttrValue.FromString(nested(levels))


def test_long() -> None:
    """Numbers have ten bytes at most, however many there are; many unknown fields are kept."""
    with pytest.raises(ValueError, match="more than 64 bits"):
        read_varint(b"\x80" * 10_000_000, 0)
    unknown = b"\xf8\x3f\1" * 300_000
    assert tf.GraphDef.FromString(unknown).SerializeToString() == unknown


def test_packed() -> None:
    """Packed fields may be empty, in parts, and one by one."""
    def values(data: bytes) -> Any:
        return list(TensorProto.FromString(data).float_val)

    assert values(b"\x2a\0") == [] and values(b"\x2d\0\0\0@\x2a\4\0\0\x80?") == [2.0, 1.0]
    with pytest.raises(DecodeError):
        values(b"\x2a\3\0\0\0")
