"""Operations that save and restore tensors, as graphs of TensorFlow's hold them; here `Saver`s need none."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import ANY, as_dtype
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op

from .bundle import BundleReader, read_bundle
from .bundle_messages import Slice, index_path
from .bundle_writer import write_bundle

_ON_FILES: dict[str, Any] = {"flags": ("stateful", "host")}


def _text(value: Any) -> str:
    return os.fsdecode(np.asarray(value).item())


def _parts(names: Any, slices: Any) -> list[tuple[str, Slice | None]]:
    """Returns the names of tensors and the parts of them that are meant."""
    if len(names) != len(slices):
        raise Complaint(f"there are {len(names)} tensor_names, but {len(slices)} shape_and_slices",
                        "give one, which may be empty, for each name")
    return [(os.fsdecode(n), slice_of(os.fsdecode(s))) for n, s in zip(names.tolist(), slices.tolist(), strict=True)]


def slice_of(text: str) -> Slice | None:
    """Reads "4 5 0,2:-": a whole shape, then first element and size of each dimension, or - for all of it."""
    if not text:
        return None
    *dims, pieces = text.split(" ")
    try:
        shape = tuple(map(int, dims))
        pairs = [(0, n) if p == "-" else tuple(map(int, p.split(","))) for p, n in
                 zip(pieces.split(":"), shape, strict=True)]
        starts, sizes = zip(*pairs, strict=True)
    except ValueError:
        raise Complaint(f"{text!r} is no shape and slice", 'write one as "4 5 0,2:-"') from None
    if not all(start >= 0 and 0 <= size <= n - start for start, size, n in zip(starts, sizes, shape, strict=True)):
        raise Complaint(f"the slice {text!r} is not within its shape", 'write one as "4 5 0,2:-"')
    return shape, starts, sizes


def _string(text: str) -> Any:
    made = np.empty((), object)
    made[()] = os.fsencode(text)
    return made


def _scalar(*shapes: Any) -> tuple[()]:
    return ()


@op("ShardedFilename", "basename: string, shard: int32, num_shards: int32 -> filename: string", flags=("host",),
    shape=_scalar)
def sharded_filename(xp: Any, basename: Any, shard: Any, num_shards: Any) -> Any:
    """Returns the name of one of the files that a checkpoint consists of."""
    return _string(f"{_text(basename)}-{int(shard):05d}-of-{int(num_shards):05d}")


@op("SaveV2", "prefix: string, tensor_names: string, shape_and_slices: string, tensors: list(dtypes) ->", dtypes=ANY,
    **_ON_FILES)
def save(xp: Any, prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: Any) -> None:
    """Writes tensors to a checkpoint."""
    parts = _parts(tensor_names, shape_and_slices)
    if len(parts) != len(tensors):
        raise Complaint(f"there are {len(parts)} tensor_names, but {len(tensors)} tensors", "give one for each tensor")
    write_bundle(_text(prefix), [(name, as_dtype(np.asarray(t).dtype), np.asarray(t), part)
                                 for (name, part), t in zip(parts, tensors, strict=True)])


@op("RestoreV2", "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: list(dtypes)",
    **_ON_FILES)
def restore(xp: Any, prefix: Any, tensor_names: Any, shape_and_slices: Any, *, dtypes: Any) -> Any:
    """Reads tensors from a checkpoint."""
    parts = _parts(tensor_names, shape_and_slices)
    if len(parts) != len(dtypes):
        raise Complaint(f"there are {len(parts)} tensor_names, but {len(dtypes)} dtypes", "give one for each name")

    def read(bundle: BundleReader) -> list[Any]:
        for (name, _), dtype in zip(parts, dtypes, strict=True):
            if bundle.dtype(name) is not dtype:
                raise Complaint(f"tensor {name} has dtype {bundle.dtype(name).name} in the checkpoint, not "
                                f"{dtype.name}", "ask for the dtype that was saved")
        return [bundle.read(name, part) for name, part in parts]

    return read_bundle(_text(prefix), read)


@restore.shape
def _restore_shape(prefix: Any, tensor_names: Any, shape_and_slices: Any, dtypes: Any) -> Any:
    return [None] * len(dtypes)


@op("MergeV2Checkpoints", "checkpoint_prefixes: string, destination_prefix: string ->", **_ON_FILES)
def merge(xp: Any, checkpoint_prefixes: Any, destination_prefix: Any, *,
          delete_old_dirs: bool = True, allow_missing_files: bool = False) -> None:
    """Makes one checkpoint of several."""
    tensors: dict[str, Any] = {}
    prefixes = [p for p in map(os.fsdecode, checkpoint_prefixes.reshape(-1).tolist())
                if not allow_missing_files or os.path.exists(index_path(p))]
    for prefix in prefixes:
        for name, dtype, value in read_bundle(prefix, _everything):
            if name in tensors:
                raise Complaint(f"tensor {name} is in several of the checkpoints", "save each variable once")
            tensors[name] = name, dtype, value, None
    destination = _text(destination_prefix)
    write_bundle(destination, [tensors[name] for name in sorted(tensors)])
    for prefix in prefixes if delete_old_dirs else ():
        _remove(prefix, destination)


def _everything(bundle: BundleReader) -> list[tuple[str, Any, Any]]:
    return [(name, bundle.dtype(name), bundle.read(name)) for name in bundle.names()]


def _remove(prefix: str, destination: str) -> None:
    """Removes the files of a checkpoint that has been merged into another one, and their folder if nothing is left."""
    folder, base = os.path.split(prefix)
    if os.path.abspath(prefix) == os.path.abspath(destination):
        return
    with contextlib.suppress(OSError):
        for name in os.listdir(folder or "."):
            if name == f"{base}.index" or name.startswith(f"{base}.data-"):
                os.unlink(os.path.join(folder, name))
        if os.path.abspath(folder) != os.path.abspath(os.path.dirname(destination)):
            os.rmdir(folder)


@op("DisableCopyOnRead", "resource: resource ->", flags=("stateful", "unset"))
def disable_copy_on_read(xp: Any, ref: Any) -> None:
    """Does nothing: reading a variable copies nothing."""


for _record in (sharded_filename, save, restore, merge, disable_copy_on_read):
    _record.grad(NOT_DIFFERENTIABLE)
