"""What lookup tables hold: dictionaries; those of dense tables know how TensorFlow lays them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import DType
from graphgrad.ops.common.murmur_hash import murmur

_ALL = 2**64 - 1
_FULLEST = 0.8  # of the buckets, as TensorFlow's tables by default


class DenseKind(NamedTuple):
    """What a dense table is made of.

    Attributes:
      key_dtype, value_dtype: dtypes of keys and values.
      key_shape, value_shape: their shapes, of rank 0 or 1.
      empty, deleted: the keys that mark free buckets, as `keys_of` gives them.
    """

    key_dtype: DType
    value_dtype: DType
    key_shape: tuple[int, ...]
    value_shape: tuple[int, ...]
    empty: Any
    deleted: Any


class DenseEntries(dict[Any, Any]):
    """The entries of a dense table.

    Args:
      kind: what the table is made of.
      buckets: how many buckets there are, a power of 2.
      entries: the entries.
    """

    def __init__(self, kind: DenseKind, buckets: int, entries: Iterable[Any] = ()):
        super().__init__(entries)
        self.kind, self.buckets = kind, buckets

    def replaced(self, entries: Any, count: int = 0, buckets: int | None = None) -> DenseEntries:
        """Returns a table of the same kind with other entries.

        Args:
          entries: the entries.
          count: the number of entries that room is needed for.
          buckets: the least number of buckets; as many as there are by default.
        """
        buckets = buckets or self.buckets
        while count > buckets * _FULLEST:
            buckets *= 2
        return DenseEntries(self.kind, buckets, entries)

    def keys_of(self, keys: Any) -> list[Any]:
        """Returns keys as Python values, tuples for vectors; raises InvalidArgumentError for the two marks."""
        n = len(self.kind.key_shape)
        if n and keys.shape[-n:] != self.kind.key_shape:
            raise Complaint(f"keys have shape {keys.shape}, each key of the table has shape {self.kind.key_shape}",
                            "give keys of this shape")
        found = as_keys(keys, n)
        for mark, what in ((self.kind.empty, "empty_key"), (self.kind.deleted, "deleted_key")):
            if mark in found:
                raise Complaint(f"Using the {what} as a table key is not allowed", "make the table with another one")
        return found

    def arrays(self) -> tuple[Any, Any]:
        """Returns keys and values of all buckets, two matrices, as TensorFlow exports and saves them."""
        kind = self.kind
        keys = np.empty((self.buckets, *(kind.key_shape or (1,))), kind.key_dtype.np_dtype)
        keys[:] = np.asarray(kind.empty, kind.key_dtype.np_dtype)
        values = np.zeros((self.buckets, *(kind.value_shape or (1,))), kind.value_dtype.np_dtype)
        if values.dtype == object:
            values[:] = b""
        taken = set()
        for key, value in self.items():
            place = hashed(key) & self.buckets - 1
            probes = 0
            while place in taken:
                probes += 1
                place = place + probes & self.buckets - 1
            taken.add(place)
            keys[place] = np.asarray(key, keys.dtype)
            values[place] = value
        return keys, values

    def from_arrays(self, keys: Any, values: Any) -> DenseEntries:
        """Returns the table that `arrays` stands for; marks of free buckets are left out.

        Args:
          keys: one key for each bucket, also as a vector if keys are scalars.
          values: one value for each bucket, likewise.
        """
        count, kind = len(keys), self.kind
        if len(values) != count:
            raise Complaint(f"there are {count} keys, but {len(values)} values", "give one value for each key")
        names = as_keys(keys.reshape(count, *kind.key_shape), len(kind.key_shape))
        rows = values.reshape(count, *kind.value_shape)
        entries = {k: rows[i] for i, k in enumerate(names) if k not in (kind.empty, kind.deleted)}
        buckets = count if count >= 4 and not count & count - 1 else None
        return self.replaced(entries, len(entries), buckets)


def as_keys(keys: Any, rank: int) -> list[Any]:
    """Returns keys as Python values: tuples for those that are vectors, of rank 1."""
    if not rank:
        flat: list[Any] = keys.reshape(-1).tolist()
        return flat
    return [tuple(k) for k in keys.reshape(-1, keys.shape[-1]).tolist()]


def hashed(key: Any) -> int:
    """Returns the number from which TensorFlow finds a key's bucket."""
    if not isinstance(key, tuple):
        return murmur(key) if isinstance(key, bytes) else int(key) & _ALL
    if len(key) == 1:
        return hashed(key[0])
    found = 0
    for part in key:
        found ^= hashed(part) + 0x9E3779B97F4A7800 + (found << 10) + (found >> 4) & _ALL
    return found


def entries_of(keys: Sequence[Any], values: Any) -> dict[Any, Any]:
    """Returns the entries of keys with the rows of an array."""
    return {k: values[i] for i, k in enumerate(keys)}
