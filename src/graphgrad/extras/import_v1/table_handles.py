"""The types of tables, which their handles lack here; operations of TensorFlow's find them in the table."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphgrad.gradients.bodies.subgraphs import through_identity
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.funcgraph import stands_for
from graphgrad.ir.graph import Tensor

TYPES = frozenset({"HashTableV2", "AnonymousHashTable", "MutableHashTableV2", "AnonymousMutableHashTable",
                   "MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors", "MutableDenseHashTableV2",
                   "AnonymousMutableDenseHashTable"})


class TableType(NamedTuple):
    """The type of a table.

    Attributes:
      key_dtype, value_dtype: dtypes of keys and values.
      mutable: whether operations change it, so that it is empty at first.
    """

    key_dtype: DType
    value_dtype: DType
    mutable: bool


def table_type(node: Any) -> TableType:
    """Returns the type of the table that a node makes."""
    key, value = (as_dtype(int(node.attr[name].type)) for name in ("key_dtype", "value_dtype"))
    return TableType(key, value, "Mutable" in node.op)


def mark(handle: Any, kind: TableType) -> None:
    """Notes the type of a table on its handle."""
    vars(handle.op if isinstance(handle, Tensor) else handle)["_table_type"] = kind


def type_of(handle: Any) -> TableType | None:
    """Returns the type of the table that a tensor refers to; None if it is not known."""
    handle = stands_for(through_identity(handle)) if isinstance(handle, Tensor) else handle
    found: TableType | None = vars(handle.op if isinstance(handle, Tensor) else handle).get("_table_type")
    return found
