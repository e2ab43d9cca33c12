"""Checkpoints in TensorFlow's format V2: an index of entries and files of tensor data.

`<prefix>.index` is a sorted table whose values say, for each name, dtype, shape, place and checksum;
`<prefix>.data-00000-of-00001` holds the bytes, one tensor after another in the order of names; several processes that
write one checkpoint have a file each. A variable in parts has
an entry for the whole, which names the slices and has no bytes, and an entry for each slice.

Reference: TensorFlow 2.21 tensor_bundle.proto, `SaveV2`, `RestoreV2`.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from graphgrad.errors import DataLossError, InvalidArgumentError, NotFoundError, of_system
from graphgrad.ir.dtypes import DType, as_dtype, string
from graphgrad.ir.files.atomic_files import open_plain, system_errors
from graphgrad.ir.files.crc32c import crc32c, masked
from graphgrad.ir.proto.wire import read_varint

from .bundle_messages import BundleEntry, BundleHeader, Slice, data_path, index_path, slice_key
from .sstable import check_footer, read_table

T = TypeVar("T")
_MOST_DIMENSIONS = 64  # NumPy has no more


class BundleReader:
    """Reads a checkpoint.

    Args:
      prefix: the path without `.index`.
    Raises: NotFoundError if there is none; DataLossError if the index is damaged.
    """

    def __init__(self, prefix: str):
        self.prefix = os.fspath(prefix)
        path = index_path(self.prefix)
        try:
            fd, self._info = open_plain(path, links=True)
            with os.fdopen(fd, "rb") as f:
                check_footer(f, path)  # a file that is not a table may be larger than the memory
                table = f.read()
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(None, None, "Unsuccessful TensorSliceReader constructor: Failed to find any matching "
                                f"files for {self.prefix}\n  Fix: check the path; it is that of the .index file "
                                "without its ending") from None
        except OSError as e:
            raise of_system(e, path) from None
        self._raw: dict[bytes, bytes] = dict(read_table(table, path))
        self._entries: dict[str, BundleEntry] = {}
        try:
            self._header = BundleHeader.FromString(self._raw.pop(b""))
            for key, value in self._raw.items():
                if key[:1] != b"\0":  # the key of a slice
                    self._entries[key.decode()] = BundleEntry.FromString(value)
        except (KeyError, ValueError) as e:
            raise DataLossError(None, None, f"{path}: no index of a checkpoint ({e}).\n"
                                "  Fix: use another copy of the file") from None
        if self._header.endianness:
            raise DataLossError(None, None, f"{path}: the checkpoint was written on a big-endian machine, which is not "
                                "read.\n  Fix: save it anew on a little-endian one")

    def replaced(self) -> bool:
        """Returns whether another checkpoint has replaced this one since it was opened."""
        try:
            now = os.stat(index_path(self.prefix))
        except OSError:
            return False
        return (now.st_ino, now.st_mtime_ns) != (self._info.st_ino, self._info.st_mtime_ns)

    def names(self) -> list[str]:
        """Returns the names of all tensors, sorted."""
        return list(self._entries)

    def has(self, name: str) -> bool:
        """Returns whether there is a tensor of that name."""
        return name in self._entries

    def is_sliced(self, name: str) -> bool:
        """Returns whether there is a tensor of that name, in slices."""
        return self.has(name) and bool(self._entries[name].slices)

    def shape(self, name: str) -> tuple[int, ...]:
        """Returns the shape of a tensor."""
        return _dims(self._entry(name))

    def dtype(self, name: str) -> DType:
        """Returns the dtype of a tensor."""
        return self._dtype(self._entry(name))

    def _entry(self, name: str) -> BundleEntry:
        if name not in self._entries:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint {self.prefix}\n"
                                f"  It has {_some(self._entries)}.\n"
                                "  Fix: use one of these names, or leave the variable out of var_list")
        return self._entries[name]

    def read(self, name: str, part: Slice | None = None) -> Any:
        """Reads the value of a tensor, or of the part of it that a slice names.

        Raises: NotFoundError if there is no such tensor or file; DataLossError if bytes are damaged;
          InvalidArgumentError if the slice is of another shape; ResourceExhaustedError if there is no memory for it.
        """
        with system_errors(self.prefix):
            return self._read(name, part)

    def _read(self, name: str, part: Slice | None) -> Any:
        entry = self._entry(name)
        if part is not None and part[0] != _dims(entry):
            raise InvalidArgumentError(None, None, f"Shape in shape_and_slice spec {list(part[0])} does not match the "
                                       f"shape in the save file: {list(_dims(entry))} (tensor {name})\n"
                                       "  Fix: make the variable of the checkpoint's shape")
        if part is not None and slice_key(name, part) in self._raw:
            return self._slice(name, part)
        whole = self._joined(name, entry, part) if entry.slices else self._value(entry)
        if part is None:
            return whole
        return whole[tuple(slice(start, start + size) for start, size in zip(part[1], part[2]))].copy()

    def _slice(self, name: str, part: Slice) -> Any:
        """Reads the value of a slice that has its own entry."""
        try:
            entry = BundleEntry.FromString(self._raw[slice_key(name, part)])
        except ValueError as e:
            raise self._index_damage(f"the entry of a slice of {name} is none ({e})") from None
        if _dims(entry) != part[2]:
            raise self._index_damage(f"a slice of {name} has the shape {_dims(entry)}, not {part[2]}")
        return self._value(entry)

    def _joined(self, name: str, entry: BundleEntry, wanted: Slice | None = None) -> Any:
        """Joins the slices of a tensor; those that have nothing of a wanted one are not read."""
        shape = _dims(entry)
        parts: set[Slice] = set()
        for piece in entry.slices:
            start = tuple(e.start for e in piece.extent)
            size = tuple(e.length if e.HasField("length") else n for e, n in zip(piece.extent, shape))
            if len(start) != len(shape) or not all(s >= 0 and 0 <= n <= d - s for s, n, d in zip(start, size, shape)):
                raise self._index_damage(f"a slice of {name} is not within it")
            parts.add((shape, start, size))
        if any(slice_key(name, part) not in self._raw for part in parts):
            raise self._index_damage(f"a slice of {name} is missing")
        if sum(math.prod(size) for _, _, size in parts) < math.prod(shape):
            raise self._index_damage(f"the slices of {name} do not cover it")
        pieces = {part: self._slice(name, part) for part in parts  # of the declared size
                  if wanted is None or _overlap(part, wanted)}
        whole = np.zeros(shape, self._dtype(entry).np_dtype)
        for part, value in pieces.items():
            whole[tuple(slice(s, s + n) for s, n in zip(part[1], part[2]))] = value
        return whole

    def _dtype(self, entry: BundleEntry) -> DType:
        try:
            return as_dtype(int(entry.dtype))
        except TypeError:
            raise self._damage(entry, f"there is no dtype {entry.dtype}") from None

    def _index_damage(self, problem: str) -> DataLossError:
        return DataLossError(None, None, f"{index_path(self.prefix)}: {problem}.\n"
                             "  Fix: use another copy of the file")

    def _value(self, entry: BundleEntry) -> Any:
        path = data_path(self.prefix, int(entry.shard_id), int(self._header.num_shards))
        shape = _dims(entry)
        if any(n < 0 for n in shape):
            raise self._damage(entry, f"there is no shape {shape}")
        with system_errors(path):
            fd, info = open_plain(path, links=True)
            with os.fdopen(fd, "rb") as f:
                there = max(0, min(entry.size, info.st_size - entry.offset)) if entry.offset >= 0 else 0
                if there == entry.size:
                    f.seek(entry.offset)
                    data = f.read(entry.size)
                    there = len(data)
        if there != entry.size:
            raise self._damage(entry, f"Read less bytes than requested: {there} of {entry.size}")
        dtype = self._dtype(entry)
        if len(shape) > _MOST_DIMENSIONS:
            raise self._damage(entry, f"Invalid shape in bundle entry: {len(shape)} dimensions")
        if dtype is string:
            return self._string_values(entry, data, shape)
        found = masked(crc32c(data))
        if found != entry.crc32c:
            raise self._mismatch(entry, found)
        if len(data) != math.prod(shape) * dtype.size:
            raise self._damage(entry, f"Invalid size in bundle entry: {len(data)} bytes for {shape} of {dtype.name}")
        array = np.frombuffer(data, dtype.np_dtype.newbyteorder("<")).reshape(shape)
        return array.astype(dtype.np_dtype)

    def _string_values(self, entry: BundleEntry, data: bytes, shape: tuple[int, ...]) -> Any:
        count = math.prod(shape)
        sizes, at = [], 0
        if count > len(data):
            raise self._damage(entry, f"{len(data)} bytes hold no {count} strings")
        try:
            for _ in range(count):
                size, at = read_varint(data, at)
                sizes.append(size)
            lengths = b"".join(struct.pack("<I" if n < 1 << 32 else "<Q", n) for n in sizes)
        except (IndexError, ValueError, struct.error):
            raise self._damage(entry, "Checksum does not match: the lengths of strings reach too far") from None
        found = masked(crc32c(data[at:], crc32c(lengths)))
        if found != entry.crc32c or at + 4 + sum(sizes) != len(data):
            raise self._mismatch(entry, found)
        values, at = [], at + 4
        for size in sizes:
            values.append(data[at : at + size])
            at += size
        array = np.empty(count, object)
        array[:] = values
        return array.reshape(shape)

    def _mismatch(self, entry: BundleEntry, found: int) -> DataLossError:
        return self._damage(entry, f"Checksum does not match: stored {entry.crc32c} vs. calculated on the restored "
                            f"bytes {found}")

    def _damage(self, entry: BundleEntry, problem: str) -> DataLossError:
        return DataLossError(None, None, f"TensorBundle at {self.prefix} shard {entry.shard_id} ({entry.size} bytes): "
                             f"{problem}\n  Fix: use an earlier checkpoint, or another copy of the files")


def read_bundle(prefix: str, use: Callable[[BundleReader], T]) -> T:
    """Applies a function to a checkpoint, again if another process overwrites the checkpoint meanwhile.

    Args:
      prefix: the path without `.index`.
      use: gets a reader.
    Raises: as `BundleReader` and `use`.
    """
    for _ in range(_ATTEMPTS):
        reader = BundleReader(prefix)
        try:
            return use(reader)
        except (DataLossError, NotFoundError):
            if not reader.replaced():
                raise
    return use(BundleReader(prefix))


_ATTEMPTS = 9


def _overlap(a: Slice, b: Slice) -> bool:
    """Returns whether two slices have elements in common."""
    return all(i < j + m and j < i + n for i, n, j, m in zip(a[1], a[2], b[1], b[2], strict=True))


def _dims(entry: BundleEntry) -> tuple[int, ...]:
    return tuple(d.size for d in entry.shape.dim)


def _some(names: Mapping[str, Any]) -> str:
    shown = ", ".join(list(names)[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown or "no tensors"
