"""Lookup tables, kept by sessions, on the host."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, FailedPreconditionError
from graphgrad.ir.dtypes import ANY, int64, string
from graphgrad.ir.files.atomic_files import system_errors
from graphgrad.ir.graphdef import declare_handle
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.values.variable_store import kept

from .table_entries import DenseEntries, as_keys, entries_of
from .written_handles import table

_ON_TABLE = {"flags": ("stateful", "host", "unset"), "table": True}
_TYPES: dict[str, Any] = {"Tin": ANY, "Tout": ANY}


def _entries(ref: Any, mutable: bool = False) -> dict[Any, Any]:
    held = ref.value
    if held is None:
        if mutable:
            return {}
        raise FailedPreconditionError(None, None, "Table not initialized. Fix: session.run(tf.tables_initializer())")
    found: dict[Any, Any] = kept(ref, dict, "a table")
    return found


def _keep(ref: Any, entries: dict[Any, Any]) -> None:
    held = np.empty((), object)
    held[()] = entries
    ref.value = held


def _keys(entries: dict[Any, Any], keys: Any) -> list[Any]:
    return entries.keys_of(keys) if isinstance(entries, DenseEntries) else as_keys(keys, 0)


def _outer(entries: dict[Any, Any], keys: Any) -> tuple[int, ...]:
    """Returns the shape of keys without that of each key."""
    rank = len(entries.kind.key_shape) if isinstance(entries, DenseEntries) else 0
    shape: tuple[int, ...] = keys.shape[: keys.ndim - rank]
    return shape


def _filled(ref, pairs):
    """Sets the entries; raises FailedPreconditionError if a key has two values."""
    entries: dict[Any, Any] = {}
    for key, value in pairs:
        known = entries.setdefault(key, value)
        if not np.array_equal(known, value):
            raise FailedPreconditionError(None, None, "HashTable has different value for same key. Key "
                                          f"{key!r} has {known!r} and new value {value!r}. Fix: give each key "
                                          "once")
    if ref.value is None or kept(ref, dict, "a table") != entries:
        _keep(ref, entries)


@op("InitializeTableV2", "table_handle: resource, keys: Tkey, values: Tval ->", **_ON_TABLE)
def initialize_table(xp, ref, keys, values):
    """Fills a table."""
    if len(keys) != len(values):
        raise Complaint(f"there are {len(keys)} keys, but {len(values)} values", "give one value for each key")
    array = np.asarray(values)
    _filled(ref, [(key, array[i]) for i, key in enumerate(keys.tolist())])


@op("InitializeTableFromTextFileV2", "table_handle: resource, filename: string ->", **_ON_TABLE)
def initialize_table_from_file(xp, ref, filename, *, key_index, value_index, key_dtype, value_dtype, vocab_size=-1,
                               delimiter="\t", offset=0):
    """Fills a table with the lines of a text file: -2 is the whole line, -1 its number."""
    path = filename.item().decode()
    with system_errors(path), open(path, "rb") as file:
        lines = file.read().splitlines()
    if vocab_size >= 0:
        if len(lines) < vocab_size:
            raise Complaint(f"Invalid vocab_size in {path}: expected {vocab_size} but got {len(lines)}",
                            "give the number of lines, or none")
        lines = lines[:vocab_size]
    _filled(ref, [(_column(path, n, line, key_index, key_dtype, delimiter, 0),
                   np.asarray(_column(path, n, line, value_index, value_dtype, delimiter, offset),
                              value_dtype.np_dtype)[()]) for n, line in enumerate(lines)])


def _column(path, number, line, index, dtype, delimiter, offset):
    if index == -1:
        return number + offset
    text = line if index == -2 else (line.split(delimiter.encode()) + [None] * (index + 1))[index]
    if text is None:
        raise Complaint(f"Invalid number of columns in {path} line {number} ({line!r}): expected more than {index}",
                        "give an index of a column that each line has, and the delimiter")
    try:
        return text if dtype is string else dtype.np_dtype.type(text).item()
    except ValueError:
        raise Complaint(f"Field {text!r} in line {number} is not a valid {dtype.name}", "give another dtype") from None


@op("LookupTableFindV2", "table_handle: resource, keys: Tin, default_value: Tout -> values: Tout", **_ON_TABLE,
    **_TYPES)
def find(xp, ref, keys, default_value, *, mutable=False, key_rank=0):
    """Returns the value of each key; the default for keys that are not in the table."""
    entries = _entries(ref, mutable)
    default = np.asarray(default_value)
    flat = [entries.get(k) for k in _keys(entries, keys)]
    outer = _outer(entries, keys)
    one = next(iter(entries.values()), None)  # as many keys as a value has elements: one default, not one for each
    is_one = one is not None and default.shape == np.shape(one)
    varying = not is_one and default.ndim > 0 and default.shape[: len(outer)] == outer and len(outer) > 0
    shape = default.shape[len(outer) :] if varying else default.shape
    defaults = default.reshape((-1, *shape)) if varying else [default[()]] * len(flat)
    out = np.empty((len(flat), *shape), default.dtype)
    for i, (value, missing) in enumerate(zip(flat, defaults, strict=True)):
        out[i] = missing if value is None else value
    return out.reshape((*outer, *shape))


@find.shape
def _find_shape(ref, keys, default_value, mutable, key_rank):
    if keys is None or default_value is None:
        return None
    keys = keys[: len(keys) - key_rank]
    return (*keys, *default_value) if not mutable or not default_value else None


def _given(entries: dict[Any, Any], keys: Any, values: Any) -> dict[Any, Any]:
    """Returns the entries that an operation is given."""
    found, outer = _keys(entries, keys), _outer(entries, keys)
    if values.shape[: len(outer)] != outer:
        raise Complaint(f"keys have shape {keys.shape}, values {values.shape}", "give one value for each key")
    return entries_of(found, values.reshape(-1, *values.shape[len(outer) :]))


@op("LookupTableInsertV2", "table_handle: resource, keys: Tin, values: Tout ->", **_ON_TABLE, **_TYPES)
def insert(xp, ref, keys, values):
    """Adds entries, or changes them."""
    known = _entries(ref, True)
    given = _given(known, keys, values)
    changed = {**known, **given}
    count = len(known) + math.prod(_outer(known, keys))
    _keep(ref, known.replaced(changed, count) if isinstance(known, DenseEntries) else changed)


@op("LookupTableImportV2", "table_handle: resource, keys: Tin, values: Tout ->", **_ON_TABLE, **_TYPES)
def import_(xp, ref, keys, values):
    """Replaces all entries."""
    known = _entries(ref, True)
    _keep(ref, known.from_arrays(keys, values) if isinstance(known, DenseEntries) else _given(known, keys, values))


@op("LookupTableRemoveV2", "table_handle: resource, keys: Tin ->", **_ON_TABLE, Tin=ANY)
def remove(xp, ref, keys):
    """Removes entries."""
    known = _entries(ref, True)
    gone = set(_keys(known, keys))
    left = {k: v for k, v in known.items() if k not in gone}
    _keep(ref, known.replaced(left) if isinstance(known, DenseEntries) else left)


@op("LookupTableSizeV2", "table_handle: resource -> size: int64", **_ON_TABLE)
def size(xp, ref, *, mutable=False):
    """Returns the number of entries."""
    return np.asarray(len(_entries(ref, mutable)), np.int64)


@size.shape
def _size_shape(ref):
    return ()


@op("LookupTableExportV2", "table_handle: resource -> keys: Tkeys, values: Tvalues", **_ON_TABLE)
def export(xp, ref, *, Tkeys=int64, Tvalues=int64, value_shape=(), dense=False):
    """Returns all keys and all values; of a dense table all buckets, also free ones."""
    entries = _entries(ref, True)
    if isinstance(entries, DenseEntries):
        return entries.arrays()
    keys = np.asarray(list(entries), Tkeys.np_dtype)
    values = np.empty((len(entries), *(value_shape or ())), Tvalues.np_dtype)
    for i, value in enumerate(entries.values()):
        values[i] = value
    return keys, values


@export.shape
def _export_shape(ref, value_shape, dense):
    return [(None, None), (None, None)] if dense else [(None,), (None, *(value_shape or ()))]


for _record in (find, size, insert, import_, initialize_table, initialize_table_from_file):
    _record.grad(NOT_DIFFERENTIABLE)

for _record, _kind in ((find, table("Tin", "Tout")), (insert, table("Tin", "Tout", changes=True)),
                       (import_, table("Tin", "Tout", changes=True)), (initialize_table, table("Tkey", "Tval")),
                       (initialize_table_from_file, table("key_dtype", "value_dtype"))):
    declare_handle(_record.name, _kind)
