"""Writes checkpoints: data first, under names of their own, then all names at once, as far as anybody can see.

Several processes that have parts of variables write one checkpoint: each its pieces into a file of its own, and process
0 everything else. When all files are complete, process 0 names them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

import graphgrad.errors as classes
from graphgrad.errors import FailedPreconditionError, InvalidArgumentError, OpError
from graphgrad.executor.backend import process_group
from graphgrad.ir.dtypes import DType, string
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
from graphgrad.ir.proto.wire import varint
from graphgrad.ir.values.split_value import SplitValue

from .bundle_messages import (
    BundleDim,
    BundleEntry,
    BundleHeader,
    BundleShape,
    BundleVersion,
    Slice,
    SliceExtent,
    TensorSliceMessage,
    data_path,
    index_path,
    slice_key,
)
from .sstable import check_footer, read_table, write_table

_Tensor = tuple[str, DType, Any, Slice | None]
_Entries = dict[bytes, bytes]  # of the index
_Wholes = dict[str, BundleEntry]  # of tensors in slices
_INTERIM = 50000  # no checkpoint has so many data files


class Written:
    """A checkpoint that was written.

    Args:
      group: the processes that wrote it together; None for one process.
      name: the name of its files.

    Attributes:
      is_first: whether this process is the one to write what belongs to it.
    """

    def __init__(self, group: process_group.ProcessGroup | None = None, name: str = ""):
        self.is_first = group is None or group.who.rank == 0
        self._group, self._name = group, name

    def __enter__(self) -> bool:
        """Returns whether this process is the one to write what belongs to it; the others wait for that at the end."""
        return self.is_first

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._group is not None and kind is None:
            self._group.tell(b"", f"what belongs to the checkpoint '{self._name}'")

    def decide(self, yes: bool) -> bool:
        """Returns what the first process says; every process that wrote it asks."""
        if self._group is None:
            return yes
        return self._group.tell(bytes([yes]), "whether it is time for a checkpoint")[0] == b"\1"


def write_bundle(prefix: str, tensors: Iterable[_Tensor]) -> Written:
    """Writes a checkpoint. Whenever a process ends, a complete one exists: the new one or the previous one.

    Args:
      prefix: the path without `.index`; its directory is made if necessary.
      tensors: name, dtype, value and, for a part of a variable, where it belongs. If there are pieces of what lies on
        several processes, all of them must write it.
    Raises: TensorFlow's errors if files cannot be written, such as ResourceExhaustedError for a full disk.
    """
    given = list(tensors)
    if any(isinstance(value, SplitValue) and value.own is not None for _, _, value, _ in given):
        return _write_together(prefix, given, process_group.group())
    folder = os.path.dirname(prefix)
    with system_errors(prefix):
        if folder:
            make_folders(folder)
        with Part(folder) as data:
            entries = _index_of(*_write_data(data.file, given))
            data.finish()
            _name_files(prefix, [data.path], entries)
    return Written()


def _name_files(prefix: str, files: Sequence[str], entries: _Entries) -> None:
    """Gives complete data files their names, and writes the index."""
    folder = os.path.dirname(prefix)
    with locked(folder):
        sweep(folder)
        try:
            _take_place(prefix, files, entries)
        finally:
            _remove_interim(prefix)
    sync_folder(folder)


def _take_place(prefix: str, files: Sequence[str], entries: _Entries) -> None:
    """Renames the new files; at each step the index names matching data.

    Several files cannot be renamed at once, and an index that is there may name the very files that the new data are to
    be. Then they get names that are free: the number of data files is part of them, and the index says which number.
    Once the new index has taken the place of the old one, the old data belong to nothing, and the same is done once
    more towards the usual names.
    """
    number, count, index = _named_by(prefix), len(files), index_path(prefix)
    final = [data_path(prefix, i, count) for i in range(count)]
    with contextlib.ExitStack() as stack:
        last = stack.enter_context(_index(prefix, entries, count))
        if number in (count, None) and os.path.lexists(index) and any(map(os.path.lexists, final)):
            between = _free_number(prefix)
            interim = [data_path(prefix, i, between) for i in range(count)]
            first = stack.enter_context(_index(prefix, entries, between))
            for file, path in zip(files, interim, strict=True):
                os.replace(file, path)
            first.become(index)
            sync_folder(os.path.dirname(prefix))
            if not all(replace_by_link(path, name) for path, name in zip(interim, final, strict=True)):
                _remove(final)  # the free names are kept
                return
        else:
            for file, path in zip(files, final, strict=True):
                os.replace(file, path)
        last.become(index)
    if number and number != count:  # what no index names any more
        _remove(data_path(prefix, i, number) for i in range(number))


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


# -- by several processes --------------------------------------------------------------------


def _write_together(prefix: str, tensors: Sequence[_Tensor], group: process_group.ProcessGroup) -> Written:
    """Writes a checkpoint of which each process has a part.

    Raises: the same error in all processes; InvalidArgumentError if they write different tensors.
    """
    folder, name, rank = os.path.dirname(prefix), os.path.basename(prefix), group.who.rank
    names = hashlib.sha256(repr(sorted(t[0] for t in tensors)).encode()).hexdigest()
    told: dict[str, Any] = {"names": names}
    error: OpError | None = None
    with contextlib.ExitStack() as stack:
        try:
            with system_errors(prefix):
                if folder:
                    make_folders(folder)
                data = stack.enter_context(Part(folder))
                own = [t for t in tensors if rank == 0 or _is_in_parts(t[2])]
                entries, wholes = _write_data(data.file, own, rank)
                data.finish()
                told |= {"file": os.path.basename(data.path), "entries": _as_text(entries),
                         "wholes": _as_text({k.encode(): w.SerializeToString() for k, w in wholes.items()})}
        except OpError as e:
            error = e
        parts = _exchange(group, name, told, error)
        if rank == 0:
            try:
                with system_errors(prefix):
                    _name_together(prefix, parts)
            except OpError as e:
                error = e
        _exchange(group, name, {}, error)
    return Written(group, name)


def _is_in_parts(value: Any) -> bool:
    return isinstance(value, SplitValue) and value.own is not None


def _exchange(group: process_group.ProcessGroup, name: str, told: dict[str, Any],
              error: OpError | None) -> list[dict[str, Any]]:
    """Returns what each process tells; if one of them has an error, all of them raise it."""
    if error is not None:
        told = {"error": [type(error).__name__, error.message]}
    heard = [json.loads(text) for text in group.tell(json.dumps(told).encode(), f"the checkpoint '{name}'")]
    if error is not None:
        raise error
    for rank, theirs in enumerate(heard):
        if "error" in theirs:
            kind, message = theirs["error"]
            raise getattr(classes, kind)(None, None, f"process {rank} cannot write the checkpoint: {message}")
        if theirs.get("names") != told.get("names"):
            raise InvalidArgumentError(
                None, None, f"the processes run different programs: process {rank} writes other tensors to the "
                f"checkpoint '{name}' than process {group.who.rank}.\n  Fix: give the same variables in every process")
    return heard


def _name_together(prefix: str, parts: Sequence[dict[str, Any]]) -> None:
    """Gives the files of all processes their names, and writes their index."""
    entries: _Entries = {}
    wholes: _Wholes = {}
    files = [os.path.join(os.path.dirname(prefix), part["file"]) for part in parts]
    for rank, (part, file) in enumerate(zip(parts, files, strict=True)):
        if not os.path.exists(file):
            raise FailedPreconditionError(
                None, None, f"{prefix}: the part of the checkpoint that process {rank} has written is not in this "
                "process's directory.\n  Fix: give a directory that all processes share")
        entries |= _as_bytes(part["entries"])
        for key, text in _as_bytes(part["wholes"]).items():
            theirs = BundleEntry.FromString(text)
            if (known := wholes.setdefault(key.decode(), theirs)) is not theirs:
                known.slices.extend(theirs.slices)
    _name_files(prefix, files, _index_of(entries, wholes))


def _as_text(entries: _Entries) -> dict[str, str]:
    return {key.decode("latin-1"): value.decode("latin-1") for key, value in entries.items()}


def _as_bytes(texts: dict[str, str]) -> _Entries:
    return {key.encode("latin-1"): value.encode("latin-1") for key, value in texts.items()}


# -- files -----------------------------------------------------------------------------------


def _index(prefix: str, entries: _Entries, shards: int) -> Part:
    """Returns an unfinished index file that contains the number of data files."""
    header = BundleHeader(num_shards=shards, version=BundleVersion(producer=1))
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
            return int(BundleHeader.FromString(next(read_table(f.read(), path))[1]).num_shards)
    except FileNotFoundError:
        return None if os.path.lexists(path) else 0
    except (OSError, OpError, ValueError, IndexError, StopIteration):
        return None


def _data_files(prefix: str) -> dict[int, list[str]]:
    """Returns the names of what looks like interim data of a checkpoint, by their number of files."""
    pattern = re.compile(re.escape(os.path.basename(prefix)) + r"\.data-\d{5}-of-([5-9]\d{4})")
    names: dict[int, list[str]] = {}
    with contextlib.suppress(OSError), os.scandir(os.path.dirname(prefix) or ".") as found:
        for entry in found:
            if match := pattern.fullmatch(entry.name):
                names.setdefault(int(match[1]), []).append(entry.name)
    return names


def _free_number(prefix: str) -> int:
    """Returns a number of data files for interim names, which no file has: others' files may look like ours."""
    taken = _data_files(prefix)
    while True:
        number = _INTERIM + int.from_bytes(os.urandom(2)) % (99999 - _INTERIM)
        if number not in taken:
            return number


def _remove_interim(prefix: str) -> None:
    """Removes data that an ended writer had not renamed yet, if the index does not name them.

    The first of them is renamed before the others and removed after them: what has no first one is not a writer's.
    """
    number = _named_by(prefix)
    if number is None:
        return
    folder = os.path.dirname(prefix)
    for count, parts in _data_files(prefix).items():
        if count != number and os.path.basename(data_path(prefix, 0, count)) in parts:
            _remove(os.path.join(folder, name) for name in sorted(parts, reverse=True))


def _write_data(file: Any, tensors: Iterable[_Tensor], shard: int = 0) -> tuple[_Entries, _Wholes]:
    """Writes the values to a data file.

    Args:
      file: the file.
      tensors: as for `write_bundle`.
      shard: the number of the file.
    Returns: the index's entries without the header, and what are entries of tensors in slices.
    """
    entries: _Entries = {}
    wholes: _Wholes = {}
    offset = 0
    for name, dtype, value, part in sorted(_in_pieces(tensors), key=_place):
        array = np.asarray(value)
        entry = BundleEntry(dtype=dtype.enum, shape=_shape(array.shape), offset=offset, shard_id=shard)
        key = name.encode()
        if part is not None:
            whole = wholes.setdefault(name, BundleEntry(dtype=dtype.enum, shape=_shape(part[0])))
            extents = [SliceExtent(start=s, length=n) for s, n in zip(part[1], part[2])]
            whole.slices.append(TensorSliceMessage(extent=extents))
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
    return entries, wholes


def _index_of(entries: _Entries, wholes: _Wholes) -> _Entries:
    return entries | {name.encode(): whole.SerializeToString() for name, whole in wholes.items()}


def _in_pieces(tensors: Iterable[_Tensor]) -> Iterator[_Tensor]:
    """Yields tensors, and of those that are split over devices each piece."""
    for name, dtype, value, part in tensors:
        if part is None and isinstance(value, SplitValue):
            yield from ((name, dtype, piece, None if piece.shape == value.shape else place)
                        for place, piece in value.places())
        else:
            yield name, dtype, value, part


def _place(tensor: _Tensor) -> Any:
    return tensor[0].encode(), tensor[3] and tensor[3][1]


def _shape(shape: Iterable[int]) -> BundleShape:
    return BundleShape(dim=[BundleDim(size=n) for n in shape])


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
