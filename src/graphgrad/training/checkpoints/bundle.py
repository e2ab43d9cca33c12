"""Checkpoints in TensorFlow's format V2: an index of entries and files of tensor data.

`<prefix>.index` is a sorted table whose values say, for each name, dtype, shape, place and checksum;
`<prefix>.data-00000-of-00001` holds the bytes, one tensor after another in the order of names. A variable in parts has
an entry for the whole, which names the slices and has no bytes, and an entry for each slice.

Reference: TensorFlow 2.21 tensor_bundle.proto, `SaveV2`, `RestoreV2`.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from graphgrad.errors import DataLossError, InvalidArgumentError, NotFoundError, OpError, of_system
from graphgrad.ir.dtypes import DType, as_dtype, string
from graphgrad.ir.files.atomic_files import (
    Part,
    locked,
    make_folders,
    open_plain,
    replace_by_link,
    sweep,
    sync_folder,
    system_errors,
)
from graphgrad.ir.files.crc32c import crc32c, masked
from graphgrad.ir.proto.messages import Message
from graphgrad.ir.proto.wire import read_varint, varint
from graphgrad.ir.values.split_value import SplitValue

from .sstable import check_footer, read_table, write_table

T = TypeVar("T")
# (whole shape, offset, shape of the part)
Slice = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


class _Dim(Message):
    FIELDS = {"size": (1, "int"), "name": (2, "string")}


class _Shape(Message):
    FIELDS = {"dim": (2, [_Dim]), "unknown_rank": (3, "bool")}


class _Extent(Message):
    FIELDS = {"start": (1, "int"), "length": (2, "int")}
    ONEOF = {"has_length": ("length",)}


class _TensorSlice(Message):
    FIELDS = {"extent": (1, [_Extent])}


class _Version(Message):
    FIELDS = {"producer": (1, "int"), "min_consumer": (2, "int")}


class _Header(Message):
    FIELDS = {"num_shards": (1, "int"), "endianness": (2, "int"), "version": (3, _Version)}


class _Entry(Message):
    FIELDS = {"dtype": (1, "int"), "shape": (2, _Shape), "shard_id": (3, "int"), "offset": (4, "int"),
              "size": (5, "int"), "crc32c": (6, "fixed32"), "slices": (7, [_TensorSlice])}


def index_path(prefix: str) -> str:
    """Returns the name of a checkpoint's index file."""
    return f"{prefix}.index"


def data_path(prefix: str, shard: int = 0, shards: int = 1) -> str:
    """Returns the name of one of a checkpoint's data files."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


# -- writing ---------------------------------------------------------------------------------


def write_bundle(prefix: str, tensors: Iterable[tuple[str, DType, Any, Slice | None]]) -> None:
    """Writes a checkpoint. Whenever the process ends, a complete one exists: the new one or the previous one.

    Args:
      prefix: the path without `.index`; its directory is made if necessary.
      tensors: name, dtype, value and, for a part of a variable, where it belongs.
    Raises: TensorFlow's errors if files cannot be written, such as ResourceExhaustedError for a full disk.
    """
    folder = os.path.dirname(prefix)
    with system_errors(prefix):
        if folder:
            make_folders(folder)
        with Part(folder) as data:
            entries = _write_data(data.file, tensors)
            data.finish()
            with locked(folder):
                sweep(folder)
                try:
                    _take_place(prefix, data, entries)
                finally:
                    _remove_interim(prefix)
        sync_folder(folder)


def _take_place(prefix: str, data: Part, entries: dict[bytes, bytes]) -> None:
    """Renames the new files; at each step the index names matching data.

    Two files cannot be renamed at once, and an index that is there may name the very file that the new data are to be.
    Then they get a name that is free: the number of data files is part of it, and the index says which number. Once the
    new index has taken the place of the old one, the old data belong to nothing, and the same is done once more
    towards the usual name.
    """
    number = _named_by(prefix)
    final, index = data_path(prefix), index_path(prefix)
    with contextlib.ExitStack() as stack:
        last = stack.enter_context(_index(prefix, entries, 1))
        if number in (1, None) and os.path.lexists(index) and os.path.lexists(final):
            between = _INTERIM + int.from_bytes(os.urandom(2)) % (99999 - _INTERIM)
            first = stack.enter_context(_index(prefix, entries, between))
            data.become(data_path(prefix, 0, between))
            first.become(index)
            sync_folder(os.path.dirname(prefix))
            if not replace_by_link(data_path(prefix, 0, between), final):
                os.unlink(final)  # the free name is kept
                return
        else:
            data.become(final)
        last.become(index)


_MOST_DIMENSIONS = 64  # NumPy has no more
_INTERIM = 50000  # no checkpoint has so many data files


def _index(prefix: str, entries: dict[bytes, bytes], shards: int) -> Part:
    """Returns an unfinished index file that contains the number of data files."""
    header = _Header(num_shards=shards, version=_Version(producer=1))
    part = Part(os.path.dirname(prefix))
    try:
        part.file.write(write_table(sorted({**entries, b"": header.SerializeToString()}.items())))
        part.finish()
    except BaseException:
        part.__exit__()
        raise
    return part


def _named_by(prefix: str) -> int | None:
    """Returns the number of data files that the index names; 0 without an index, None if unknown."""
    path = index_path(prefix)
    try:
        fd, _ = open_plain(path, links=True)
        with os.fdopen(fd, "rb") as f:
            check_footer(f, path)
            return int(_Header.FromString(next(read_table(f.read(), path))[1]).num_shards)
    except FileNotFoundError:
        return None if os.path.lexists(path) else 0
    except (OSError, OpError, ValueError, IndexError, StopIteration):
        return None


def _remove_interim(prefix: str) -> None:
    """Removes data that an ended writer had not renamed yet, if the index does not name them."""
    number = _named_by(prefix)
    if number is None:
        return
    pattern = re.compile(re.escape(os.path.basename(prefix)) + r"\.data-00000-of-([5-9]\d{4})")
    with contextlib.suppress(OSError), os.scandir(os.path.dirname(prefix) or ".") as found:
        for entry in found:
            match = pattern.fullmatch(entry.name)
            if match and int(match[1]) != number:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _write_data(file: Any, tensors: Iterable[tuple[str, DType, Any, Slice | None]]) -> dict[bytes, bytes]:
    """Writes the values; returns the index's entries without the header."""
    entries: dict[bytes, bytes] = {}
    wholes: dict[str, _Entry] = {}
    offset = 0
    for name, dtype, value, part in sorted(_in_pieces(tensors), key=_place):
        array = np.asarray(value)
        entry = _Entry(dtype=dtype.enum, shape=_shape(array.shape), offset=offset)
        key = name.encode()
        if part is not None:
            whole = wholes.setdefault(name, _Entry(dtype=dtype.enum, shape=_shape(part[0])))
            extents = [_Extent(start=s, length=n) for s, n in zip(part[1], part[2])]
            whole.slices.append(_TensorSlice(extent=extents))
            key = slice_key(name, part)
        if dtype is string:
            pieces, crc = _strings(array)
        else:
            pieces = [_bytes(array)]
            crc = crc32c(pieces[0])
        for piece in pieces:
            file.write(piece)
            entry.size += len(piece)
        offset += entry.size
        entry.crc32c = masked(crc)
        entries[key] = entry.SerializeToString()
    return entries | {name.encode(): whole.SerializeToString() for name, whole in wholes.items()}


def _in_pieces(tensors: Iterable[tuple[str, DType, Any, Slice | None]]) -> Iterator[
        tuple[str, DType, Any, Slice | None]]:
    """Yields tensors, and of those that are split over devices each piece."""
    for name, dtype, value, part in tensors:
        if part is None and isinstance(value, SplitValue):
            yield from ((name, dtype, piece, place) for place, piece in value.places())
        else:
            yield name, dtype, value, part


def _place(tensor: tuple[str, DType, Any, Slice | None]) -> Any:
    return tensor[0].encode(), tensor[3] and tensor[3][1]


def _shape(shape: Iterable[int]) -> _Shape:
    return _Shape(dim=[_Dim(size=n) for n in shape])


def _bytes(array: Any) -> Any:
    if sys.byteorder == "big":
        array = array.astype(array.dtype.newbyteorder("<"))
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _strings(array: Any) -> tuple[list[bytes], int]:
    """Encodes lengths, their checksum, contents; and the checksum of all, in which lengths are fixed-size numbers."""
    values = [v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()]
    lengths = b"".join(struct.pack("<I" if len(v) < 1 << 32 else "<Q", len(v)) for v in values)
    crc = crc32c(lengths)
    check = struct.pack("<I", masked(crc))
    contents = b"".join(values)
    return [b"".join(varint(len(v)) for v in values), check, contents], crc32c(contents, crc32c(check, crc))


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


# -- reading ---------------------------------------------------------------------------------


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
        self._entries: dict[str, _Entry] = {}
        try:
            self._header = _Header.FromString(self._raw.pop(b""))
            for key, value in self._raw.items():
                if key[:1] != b"\0":  # the key of a slice
                    self._entries[key.decode()] = _Entry.FromString(value)
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

    def _entry(self, name: str) -> _Entry:
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
            entry = _Entry.FromString(self._raw[slice_key(name, part)])
        except ValueError as e:
            raise self._index_damage(f"the entry of a slice of {name} is none ({e})") from None
        if _dims(entry) != part[2]:
            raise self._index_damage(f"a slice of {name} has the shape {_dims(entry)}, not {part[2]}")
        return self._value(entry)

    def _joined(self, name: str, entry: _Entry, wanted: Slice | None = None) -> Any:
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

    def _dtype(self, entry: _Entry) -> DType:
        try:
            return as_dtype(int(entry.dtype))
        except TypeError:
            raise self._damage(entry, f"there is no dtype {entry.dtype}") from None

    def _index_damage(self, problem: str) -> DataLossError:
        return DataLossError(None, None, f"{index_path(self.prefix)}: {problem}.\n"
                             "  Fix: use another copy of the file")

    def _value(self, entry: _Entry) -> Any:
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

    def _string_values(self, entry: _Entry, data: bytes, shape: tuple[int, ...]) -> Any:
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

    def _mismatch(self, entry: _Entry, found: int) -> DataLossError:
        return self._damage(entry, f"Checksum does not match: stored {entry.crc32c} vs. calculated on the restored "
                            f"bytes {found}")

    def _damage(self, entry: _Entry, problem: str) -> DataLossError:
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


def _dims(entry: _Entry) -> tuple[int, ...]:
    return tuple(d.size for d in entry.shape.dim)


def _some(names: Mapping[str, Any]) -> str:
    shown = ", ".join(list(names)[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown or "no tensors"
