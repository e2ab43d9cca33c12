"""The format of checkpoints: names of files, messages of the index, and the keys of slices.

Reference: TensorFlow 2.21 tensor_bundle.proto.
"""

from __future__ import annotations

from graphgrad.ir.proto.messages import Message
from graphgrad.ir.values import split_value

Slice = split_value.Place

class BundleDim(Message):
    FIELDS = {"size": (1, "int"), "name": (2, "string")}


class BundleShape(Message):
    FIELDS = {"dim": (2, [BundleDim]), "unknown_rank": (3, "bool")}


class SliceExtent(Message):
    FIELDS = {"start": (1, "int"), "length": (2, "int")}
    ONEOF = {"has_length": ("length",)}


class TensorSliceMessage(Message):
    FIELDS = {"extent": (1, [SliceExtent])}


class BundleVersion(Message):
    FIELDS = {"producer": (1, "int"), "min_consumer": (2, "int")}


class BundleHeader(Message):
    FIELDS = {"num_shards": (1, "int"), "endianness": (2, "int"), "version": (3, BundleVersion)}


class BundleEntry(Message):
    FIELDS = {"dtype": (1, "int"), "shape": (2, BundleShape), "shard_id": (3, "int"), "offset": (4, "int"),
              "size": (5, "int"), "crc32c": (6, "fixed32"), "slices": (7, [TensorSliceMessage])}


def index_path(prefix: str) -> str:
    """Returns the name of a checkpoint's index file."""
    return f"{prefix}.index"


def data_path(prefix: str, shard: int = 0, shards: int = 1) -> str:
    """Returns the name of one of a checkpoint's data files."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def slice_key(name: str, part: Slice) -> bytes:
    """Encodes the key of a slice, so that keys sort as name, rank, starts and sizes do."""
    text = name.encode().replace(b"\0", b"\0\xff")
    key = _ordered(0) + text + b"\0\x01" + _ordered(len(part[1]))
    return key + b"".join(_ordered_signed(start) + _ordered_signed(size) for start, size in zip(part[1], part[2]))


def _ordered(value: int) -> bytes:
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


def _ordered_signed(value: int) -> bytes:
    """Returns a number >= 0, after as many ones as it has bytes."""
    size = value.bit_length() // 7 + 1
    return (value | (1 << size) - 1 << 7 * size).to_bytes(size, "big")
