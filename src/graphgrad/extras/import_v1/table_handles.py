"""The types of tables, which their handles lack here; operations of TensorFlow's find them in the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.extras.pipelines.mutable_tables import DenseHashTable, MutableHashTable, MutableTable, dense_entries
from graphgrad.gradients.bodies.subgraphs import through_identity
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.funcgraph import stands_for
from graphgrad.ir.graph import Tensor
from graphgrad.ir.graphdef import WRITTEN_AS, HandleKind
from graphgrad.ir.values.variable_store import FIRST_VALUE

# The op types that make tables -> what they are written as.
TYPES = {"HashTableV2": "HashTableV2", "AnonymousHashTable": "HashTableV2",
         "MutableHashTableV2": "MutableHashTableV2", "AnonymousMutableHashTable": "MutableHashTableV2",
         "MutableHashTableOfTensorsV2": "MutableHashTableOfTensorsV2",
         "AnonymousMutableHashTableOfTensors": "MutableHashTableOfTensorsV2",
         "MutableDenseHashTableV2": "MutableDenseHashTableV2",
         "AnonymousMutableDenseHashTable": "MutableDenseHashTableV2"}


class TableType(NamedTuple):
    """The type of a table.

    Attributes:
      type: the op type that makes it.
      key_dtype, value_dtype: dtypes of keys and values.
      value_shape: the shape of values.
      mutable: whether operations change it, so that it is empty at first.
      key_rank: the rank of a key.
      buckets: the number of buckets of a dense table; 0 for others.
      first: what it holds at first.
      inputs: the tensors that make it.
    """

    type: str
    key_dtype: DType
    value_dtype: DType
    value_shape: tuple[int, ...]
    mutable: bool
    key_rank: int = 0
    buckets: int = 0
    first: Any = None
    inputs: tuple[Any, ...] = ()

    @property
    def dense(self) -> bool:
        """Whether it is a dense table."""
        return bool(self.buckets)


def table_type(node: Any, tensor_of: Callable[[str], Any], array_of: Callable[[Any], Any]) -> TableType:
    """Returns the type of the table that a node makes.

    Args:
      node: the `NodeDef`.
      tensor_of: returns what stands for an input, by its name: a tensor, or a node.
      array_of: returns the constant value of that.
    """
    key, value = (as_dtype(int(node.attr[name].type)) for name in ("key_dtype", "value_dtype"))
    shape = tuple(n or 0 for n in (node.attr["value_shape"].shape.shape() if "value_shape" in node.attr else ()) or ())
    made = TableType(TYPES[node.op], key, value, shape, "Mutable" in node.op)
    if made.type != "MutableDenseHashTableV2":
        return made
    inputs = tuple([tensor_of(name) for name in node.input if not name.startswith("^")])
    arrays = [array_of(t) for t in inputs]
    if len(arrays) != 2 or any(a is None for a in arrays):
        raise ValueError(f"graph_def is invalid: the table {node.name!r} needs two constant keys, empty_key and "
                         "deleted_key. Fix: use another copy of the graph")
    buckets = int(node.attr["initial_num_buckets"].i) if "initial_num_buckets" in node.attr else 131072
    first = dense_entries(key, value, shape, np.asarray(arrays[0]), np.asarray(arrays[1]), buckets)
    return made._replace(key_rank=np.ndim(arrays[0]), buckets=buckets, first=first, inputs=inputs)


def mark(handle: Any, kind: TableType) -> None:
    """Notes the type of a table on its handle."""
    if not isinstance(handle, Tensor):
        vars(handle)["_table_type"] = kind
        return
    attrs: dict[str, Any] = {"key_dtype": kind.key_dtype, "value_dtype": kind.value_dtype,
                             "use_node_name_sharing": False}
    if kind.type not in ("HashTableV2", "MutableHashTableV2"):
        attrs["value_shape"] = kind.value_shape
    if kind.dense:
        attrs |= {"initial_num_buckets": kind.buckets, "max_load_factor": 0.8}
    notes = vars(handle.op)
    notes["_table_type"] = kind
    notes[FIRST_VALUE] = kind.first
    if all(isinstance(t, Tensor) for t in kind.inputs):
        notes[WRITTEN_AS] = HandleKind(9, kind.type, attrs, kind.inputs)


def type_of(handle: Any) -> TableType | None:
    """Returns the type of the table that a tensor refers to; None if it is not known."""
    handle = stands_for(through_identity(handle)) if isinstance(handle, Tensor) else handle
    found: TableType | None = vars(handle.op if isinstance(handle, Tensor) else handle).get("_table_type")
    return found


def table_of(handle: Any, name: str, kind: TableType) -> MutableTable:
    """Returns a mutable table as an object.

    Args:
      handle: its handle.
      name: a name for it.
      kind: its type.
    """
    made = (DenseHashTable if kind.dense else MutableHashTable)._of_handle(
        handle, name, kind.key_dtype, kind.value_dtype, kind.value_shape)
    if isinstance(made, DenseHashTable):
        made._first, made._buckets, made._marks, made._key_rank = kind.first, kind.buckets, kind.inputs, kind.key_rank
    return made
