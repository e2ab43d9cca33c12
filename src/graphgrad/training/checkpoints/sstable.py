"""Sorted string tables: LevelDB's format, used for the index of a checkpoint.

A table is a list of blocks, each followed by a byte for its compression (0: none) and a masked CRC-32C. A block is a
list of entries - how many bytes the key shares with the one before, how many it adds, the size of the value,
then both - and the positions of the entries that share nothing. The last blocks are an empty one and the index of
the others; the footer says where those two are.

Reference: the table format of LevelDB (doc/table_format.md) with TensorFlow's defaults.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from graphgrad.errors import DataLossError, UnimplementedError
from graphgrad.ir.files.crc32c import crc32c, masked
from graphgrad.ir.proto.wire import read_varint, varint

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_BLOCK = 262144  # size in bytes at which a new block begins
_RESTART = 16  # the number of entries between full keys
_KEYS, _SHARED = 1 << 20, 64  # size limit of a block's keys in bytes, and the addition for each byte of the block


class _Block:
    """An unfinished block."""

    def __init__(self, restart: int):
        self.restart = restart
        self.data = bytearray()
        self.restarts = [0]
        self.count = 0
        self.last = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self.count == self.restart:
            self.restarts.append(len(self.data))
            self.count = 0
        else:
            limit = min(len(key), len(self.last))
            while shared < limit and key[shared] == self.last[shared]:
                shared += 1
        self.data += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        self.last = key
        self.count += 1

    def contents(self) -> bytes:
        positions = struct.pack(f"<{len(self.restarts) + 1}I", *self.restarts, len(self.restarts))
        return bytes(self.data) + positions


def _separator(last: bytes, following: bytes | None) -> bytes:
    """Returns a short key that is not less than `last` and less than the next one."""
    for i, byte in enumerate(last):
        if following is None:
            if byte != 255:
                return last[:i] + bytes([byte + 1])
        elif i >= len(following) or byte != following[i]:
            if i < len(following) and byte + 1 < following[i]:
                return last[:i] + bytes([byte + 1])
            break
    return last


def write_table(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Encodes a table with entries (key, value), sorted by key."""
    out = bytearray()

    def put(block: _Block) -> bytes:
        contents = block.contents()
        handle = varint(len(out)) + varint(len(contents))
        out.extend(contents + b"\0" + struct.pack("<I", masked(crc32c(b"\0", crc32c(contents)))))
        return handle

    index, block = _Block(1), _Block(_RESTART)
    finished: tuple[bytes, bytes] | None = None  # last key and position of the previous block
    for key, value in entries:
        if finished is not None:
            index.add(_separator(finished[0], key), finished[1])
            finished = None
        block.add(key, value)
        if len(block.data) + 4 * len(block.restarts) + 4 >= _BLOCK:
            finished = key, put(block)
            block = _Block(_RESTART)
    if block.data:
        finished = block.last, put(block)
    meta = put(_Block(_RESTART))
    if finished is not None:
        index.add(_separator(finished[0], None), finished[1])
    footer = meta + put(index)
    return bytes(out) + footer.ljust(_FOOTER - 8, b"\0") + struct.pack("<Q", _MAGIC)


def check_footer(file: BinaryIO, path: str) -> None:
    """Raises DataLossError unless a file ends like a table; seeks to its beginning."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _FOOTER))
    _check(file.read(_FOOTER), path)
    file.seek(0)


def _check(footer: bytes, path: str) -> None:
    if len(footer) < _FOOTER:
        raise _damaged(path, "file is too short to be an sstable")
    if struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
        raise _damaged(path, "not an sstable (bad magic number)")


def read_table(data: bytes, path: str) -> Iterator[tuple[bytes, bytes]]:
    """Reads the entries (key, value) of a table.

    Args:
      data: the file's bytes.
      path: its name, for messages.
    Raises: DataLossError if it is damaged or no table.
    """
    footer = data[-_FOOTER:]
    _check(footer, path)
    try:
        at = 0
        for _ in range(2):
            _, at = read_varint(footer, at)
        end, last = 0, None
        for _, handle in _entries(_block(data, footer, at, path)):
            if _place(handle, 0)[0] < end:
                raise ValueError("blocks overlap")
            end = sum(_place(handle, 0))
            for key, value in _entries(_block(data, handle, 0, path)):
                if last is not None and key <= last:
                    raise ValueError("keys are not in order")
                last = key
                yield key, value
    except (IndexError, ValueError, struct.error) as e:
        raise _damaged(path, f"bad block ({e})") from None


def _place(handle: bytes, at: int) -> tuple[int, int]:
    """Reads the offset and the size of a block."""
    offset, at = read_varint(handle, at)
    return offset, read_varint(handle, at)[0]


def _block(data: bytes, handle: bytes, at: int, path: str) -> bytes:
    """Reads the block at a handle."""
    offset, size = _place(handle, at)
    contents, trailer = data[offset : offset + size], data[offset + size : offset + size + 5]
    if len(contents) != size or len(trailer) != 5:
        raise _damaged(path, "truncated block read")
    if masked(crc32c(data[offset : offset + size + 1])) != struct.unpack("<I", trailer[1:])[0]:
        raise _damaged(path, "block checksum mismatch")
    if trailer[0]:
        raise UnimplementedError(None, None, f"{path}: compressed blocks are not read. Fix: save the checkpoint anew")
    return contents


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    end = len(block) - 4 * (struct.unpack("<I", block[-4:])[0] + 1)
    if end < 0:
        raise ValueError("positions beyond the block")
    key, at = b"", 0
    left = _KEYS + _SHARED * len(block)
    while at < end:
        shared, at = read_varint(block, at)
        added, at = read_varint(block, at)
        size, at = read_varint(block, at)
        if shared > len(key) or at + added + size > end:
            raise ValueError("an entry reaches beyond the block")
        key = key[:shared] + block[at : at + added]
        left -= len(key)
        if left < 0:
            raise ValueError("keys share too much")
        at += added + size
        yield key, block[at - size : at]


def _damaged(path: str, problem: str) -> DataLossError:
    return DataLossError(None, None, f"Unable to read file ({path}). Perhaps the file is corrupt or was produced by a "
                         f"newer version of TensorFlow with format changes: {problem}\n"
                         "  Fix: use an earlier checkpoint, or another copy of the file")
