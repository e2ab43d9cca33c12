"""Which op types of TensorFlow's the handles of tables and iterators are in graphs that are written.

Here all such handles are of one kind, and what they stand for is found out when the graph runs. In TensorFlow there is
an op type for each kind, which knows the types of what it holds; what uses the handle says which ones these are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.ir.graph import Operation
from graphgrad.ir.graphdef import HandleKind


def iterator(op: Operation) -> HandleKind:
    """Returns what the handle is that an operation takes an iterator's elements from."""
    return HandleKind(1, "IteratorV2", {name: op._attr(name) for name in ("output_types", "output_shapes")})


def table(keys: str, values: str, changes: bool = False) -> Callable[[Operation], HandleKind]:
    """Makes the function that returns what the handle is that an operation on a table gets.

    Args:
      keys, values: the attributes with the types of keys and values.
      changes: whether the operation changes entries.
    """

    def kind(op: Operation) -> HandleKind:
        attrs: dict[str, Any] = {"key_dtype": op._attr(keys), "value_dtype": op._attr(values),
                                 "use_node_name_sharing": False}
        reads = "mutable" in op.opdef.attrs
        if not (changes or (reads and op._attr("mutable"))):
            return HandleKind(1, "HashTableV2", attrs)
        shape = op.inputs[2]._spec.shape
        if not reads:  # the values of many keys
            rank = op.inputs[1]._spec.shape
            shape = None if shape is None or rank is None else shape[len(rank):]
        if shape:
            return HandleKind(2 + reads, "MutableHashTableOfTensorsV2", {**attrs, "value_shape": shape})
        return HandleKind(2 + reads, "MutableHashTableV2", attrs)

    return kind
