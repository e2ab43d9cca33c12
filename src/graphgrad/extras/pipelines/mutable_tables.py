"""`tf.lookup.experimental`: lookup tables that a graph can change, and that checkpoints save."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph, get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.values.variable_store import Cell, Handle
from graphgrad.ops.array.fill import zeros
from graphgrad.ops.state.table_entries import DenseEntries, DenseKind, as_keys, entries_of
from graphgrad.training.checkpoints.bundle import BundleReader
from graphgrad.training.checkpoints.saveable import Piece, Saveable
from graphgrad.training.checkpoints.saveable_object import SaveableObject, SaveSpec

from .lookup_tables import Table


class TableSaveable(SaveableObject):
    """What a `Saver` saves of a table: its keys and its values.

    Args:
      table: the table.
      name: the table's name in checkpoints.
    """

    def __init__(self, table: Any, name: str):
        super().__init__(table, [], name)

    @property
    def specs(self) -> Sequence[SaveSpec]:  # found when asked for: exporting is an operation
        """The keys and the values, as tensors that are saved."""
        tensors = zip(self.op._pieces, self.op.export(), strict=True)
        return [SaveSpec(tensor, "", self.name + piece.suffix) for piece, tensor in tensors]

    @specs.setter
    def specs(self, specs: Any) -> None:
        """Does nothing: keys and values are what the table exports."""

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Makes the operation that gives the table keys and values.

        Args:
          restored_tensors: the keys and the values.
          restored_shapes: accepted.
        """
        keys, values = restored_tensors
        return raw.LookupTableImportV2(self.op.resource_handle, keys, values, name=f"{self.name}_table_restore/")


class MutableTable(Table, Saveable):
    """The base of mutable tables."""

    _mutable = True
    _pieces = (Piece("table", "-keys", ""), Piece("table", "-values", ""))

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str = "MutableHashTable",
                 checkpoint: bool = True, experimental_is_anonymous: bool = False):
        super().__init__(key_dtype, value_dtype, default_value, name)
        self._saved = checkpoint
        if checkpoint and current_graph() is not None:
            get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, TableSaveable(self, name))

    @classmethod
    def _of_handle(cls, handle: Any, name: str, key_dtype: Any, value_dtype: Any, value_shape: tuple[int, ...]) -> Any:
        """Makes the object of a table that a handle refers to; unknown keys have zero."""
        made = cls.__new__(cls)
        with handle.graph.as_default() if isinstance(handle, Tensor) else contextlib.nullcontext():
            default = zeros(value_shape, value_dtype)
        made._set_kind(key_dtype, value_dtype, default, name)
        made._resource_handle, made._saved = handle, True
        return made

    def lookup(self, keys: Any, dynamic_default_values: Any = None,  # type: ignore[override]  # as in TensorFlow
               name: str | None = None) -> Any:
        """Looks up the value of each key; the default for unknown keys.

        Args:
          keys: a tensor of the table's keys.
          dynamic_default_values: a default for each key, instead of the table's.
          name: a name for the operation.
        """
        default = self._default_value
        if dynamic_default_values is not None:
            default = convert_to_tensor(dynamic_default_values, self._value_dtype)
        return self._find(keys, default, name)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Makes the operation that adds entries, or changes them.

        Args:
          keys: a tensor of keys.
          values: the value of each.
          name: a name for the operation.
        """
        keys = convert_to_tensor(keys, self._key_dtype, name="keys")
        values = convert_to_tensor(values, self._value_dtype, name="values")
        return raw.LookupTableInsertV2(self._resource_handle, keys, values, name=name)

    def remove(self, keys: Any, name: str | None = None) -> Any:
        """Makes the operation that removes entries; unknown keys are ignored."""
        keys = convert_to_tensor(keys, self._key_dtype, name="keys")
        return raw.LookupTableRemoveV2(self._resource_handle, keys, name=name)

    # -- checkpoints -----------------------------------------------------------------

    def _is_saved(self) -> bool:
        return self._saved

    def _needs_session(self) -> bool:
        return not isinstance(self._resource_handle, Handle)

    def _cell(self, session: Any) -> Cell:
        handle = self._resource_handle
        cell: Cell = handle._value if isinstance(handle, Handle) else session._resolve(handle)
        return cell

    def _state(self, session: Any) -> list[tuple[Any, Any]]:
        cell = self._cell(session)
        held = self._first if cell.held is None else cell.value
        keys, values = self._arrays({} if held is None else held.item())
        return [(self.key_dtype, keys), (self.value_dtype, values)]

    def _read_state(self, bundle: BundleReader, key: str) -> Any:
        names = [key + piece.suffix for piece in self._pieces]
        keys, values = map(bundle.read, names)
        for name, dtype in zip(names, (self.key_dtype, self.value_dtype), strict=True):
            if bundle.dtype(name) is not dtype:
                raise self._misfit(name, f"expected dtype {dtype.name} does not equal original dtype "
                                   f"{bundle.dtype(name).name}")
        shape = self._value_shape
        held = np.empty((), object)
        held[()] = self._entries(keys, values, shape, names)
        return held

    def _set_state(self, state: Any, session: Any) -> None:
        self._cell(session).value = state

    def _arrays(self, entries: dict[Any, Any]) -> tuple[Any, Any]:
        """Returns keys and values as checkpoints hold them."""
        keys = np.empty(len(entries), self.key_dtype.np_dtype)
        keys[:] = list(entries)
        values = np.empty((len(entries), *self._value_shape), self.value_dtype.np_dtype)
        for i, v in enumerate(entries.values()):
            values[i] = v
        return keys, values

    def _entries(self, keys: Any, values: Any, shape: tuple[int, ...], names: list[str]) -> Any:
        """Returns the entries of keys and values that a checkpoint holds under some names."""
        if keys.ndim != 1:
            raise self._misfit(names[0], f"it has shape {keys.shape}, as the keys of a DenseHashTable have")
        if values.shape != (len(keys), *shape):
            raise self._misfit(names[1], f"it has shape {values.shape}, not {(len(keys), *shape)}")
        return entries_of(as_keys(keys, 0), values)

    def _misfit(self, name: str, problem: str) -> InvalidArgumentError:
        return InvalidArgumentError(None, None, f"Restoring the table {self._name} failed: tensor_name = {name}; "
                                    f"{problem}\n  Restored at {user_source(2)}\n  Fix: make the table as it was saved")


def dense_entries(key_dtype: Any, value_dtype: Any, value_shape: tuple[int, ...], empty: Any, deleted: Any,
                  buckets: int) -> Any:
    """Returns what a dense table holds at first.

    Args:
      key_dtype, value_dtype: dtypes of keys and values.
      value_shape: the shape of values.
      empty, deleted: the two keys that mark free buckets, as arrays.
      buckets: the number of buckets.
    Raises: ValueError if the two keys are equal.
    """
    first, second = (as_keys(np.asarray(mark), np.ndim(mark))[0] for mark in (empty, deleted))
    if first == second:
        raise ValueError(f"empty_key and deleted_key must differ, both are {first!r}. "
                         "Fix: give two keys that are not used otherwise")
    kind = DenseKind(key_dtype, value_dtype, np.shape(empty), value_shape, first, second)
    held = np.empty((), object)
    held[()] = DenseEntries(kind, buckets)
    return held


class MutableHashTable(MutableTable):
    """A table that a graph can change.

    Args:
      key_dtype, value_dtype: dtypes of keys and values.
      default_value: the value of unknown keys; it has the shape of values.
      name: a name for the table; `tf.train.Saver` saves its entries as `<name>-keys` and `<name>-values`.
      checkpoint: whether checkpoints hold its entries.
      experimental_is_anonymous: accepted.
    Reference: TensorFlow 2.21 `tf.lookup.experimental.MutableHashTable`.

    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    >>> sess.run(table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64)))
    >>> sess.run(table.lookup(tf.constant(["b", "z"])))
    array([ 2, -1])
    """

    @property
    def _saved_resource(self) -> Any:
        """What makes the table in a saved model: an op type and its attributes."""
        shape = self._value_shape
        types = {"key_dtype": self.key_dtype, "value_dtype": self.value_dtype}
        return ("MutableHashTableOfTensorsV2", {**types, "value_shape": shape}) if shape else (
            "MutableHashTableV2", types)


class DenseHashTable(MutableTable):
    """A table that a graph can change; TensorFlow keeps its entries in one tensor, with keys that mark free buckets.

    Args:
      key_dtype, value_dtype: dtypes of keys and values.
      default_value: the value of unknown keys, a scalar or a vector; it has the shape of values.
      empty_key, deleted_key: two keys that are not used otherwise, constants; they have the shape of keys, scalars or
        vectors.
      initial_num_buckets: a power of 2, at least 4; it decides how much `export` returns, and checkpoints hold.
      name: a name for the table; `tf.train.Saver` saves its entries as `<name>-keys` and `<name>-values`.
      checkpoint: whether checkpoints hold its entries.
      experimental_is_anonymous: accepted.
    Raises: ValueError if the two keys are equal or not constant; InvalidArgumentError for another number of buckets.
    Reference: TensorFlow 2.21 `tf.lookup.experimental.DenseHashTable`.

    >>> table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1)
    >>> sess.run(table.insert(tf.constant([7], tf.int64), tf.constant([1], tf.int64)))
    >>> sess.run(table.lookup(tf.constant([7, 8], tf.int64)))
    array([ 1, -1])
    """

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, empty_key: Any, deleted_key: Any,
                 initial_num_buckets: Any = None, name: str = "MutableDenseHashTable", checkpoint: bool = True,
                 experimental_is_anonymous: bool = False):
        marks = (convert_to_tensor(empty_key, key_dtype, name="empty_key"),
                 convert_to_tensor(deleted_key, key_dtype, name="deleted_key"))
        default = convert_to_tensor(default_value, value_dtype, name="default_value")
        self._marks = marks
        self._buckets = 131072 if initial_num_buckets is None else int(initial_num_buckets)
        if self._buckets < 4 or self._buckets & self._buckets - 1:
            raise InvalidArgumentError(None, None, "Number of buckets must be at least 4 and a power of 2, got: "
                                       f"{self._buckets}\n  Fix: initial_num_buckets={1 << self._buckets.bit_length()}")
        empty, deleted = map(constant_value, marks)
        if empty is None or deleted is None:
            raise ValueError("empty_key and deleted_key must be constants here. Fix: give numbers or strings")
        self._first = dense_entries(marks[0].dtype, default.dtype, tuple(default.shape.as_list()), empty, deleted,
                                    self._buckets)
        self._key_rank = np.ndim(empty)
        super().__init__(key_dtype, value_dtype, default, name, checkpoint)

    @property
    def _saved_resource(self) -> Any:
        """What makes the table in a saved model: an op type and its attributes."""
        return "MutableDenseHashTableV2", {
            "key_dtype": self.key_dtype, "value_dtype": self.value_dtype, "initial_num_buckets": self._buckets,
            "value_shape": self._value_shape, "max_load_factor": 0.8}

    def _resource_inputs(self) -> tuple[Any, ...]:
        return self._marks

    def lookup(self, keys: Any, name: str | None = None) -> Any:  # type: ignore[override]  # as in TensorFlow
        """Looks up the value of each key; the default for unknown keys."""
        return super().lookup(keys, None, name)

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Makes the operation that adds entries, or changes them; the same as `insert`."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Any:
        """Makes the operation that removes entries; the same as `remove`."""
        return self.remove(keys, name)

    def export(self, name: str | None = None) -> Any:
        """Returns the keys and the values of all buckets, as two matrices; free buckets have `empty_key`."""
        return raw.LookupTableExportV2(self._resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype,
                                       value_shape=self._value_shape, dense=True, name=name)

    def _arrays(self, entries: Any) -> tuple[Any, Any]:
        found: tuple[Any, Any] = entries.arrays()
        return found

    def _entries(self, keys: Any, values: Any, shape: tuple[int, ...], names: list[str]) -> Any:
        first = self._first.item()
        wanted = (len(keys), *(first.kind.key_shape or (1,))), (len(keys), *(shape or (1,)))
        for name, array, dims in zip(names, (keys, values), wanted, strict=True):
            if array.shape not in (dims, (len(keys),) if dims[1:] == (1,) else dims):
                raise self._misfit(name, f"it has shape {array.shape}, not {dims}")
        return first.from_arrays(keys, values)


__all__ = ["DenseHashTable", "MutableHashTable", "MutableTable", "TableSaveable", "dense_entries"]
