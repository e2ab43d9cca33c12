"""Loops over the rows of ragged tensors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from graphgrad.errors import OperatorNotAllowedInGraphError
from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source


class LoopRows:
    """The rows of a ragged tensor in the graph that is being built, by number.

    Args:
      ragged: the ragged tensor.
    """

    def __init__(self, ragged: Any):
        self._ragged = ragged
        self._count = ragged.nrows(int32)

    def has(self, i: Any) -> Any:
        """Returns whether there is a row `i`, a bool scalar."""
        return raw.Less(i, self._count)

    def item(self, i: Any) -> Any:
        """Returns row `i`."""
        return self._ragged[i]


def rows_of(ragged: Any) -> Iterator[Any]:
    """Returns Python's iterator over the rows of a ragged tensor.

    Raises: OperatorNotAllowedInGraphError in a graph where the number of rows is not known. Where it is, a row beyond
      the last one is a ValueError there, as in TensorFlow.
    """
    if current_graph() is None:
        return (ragged[i] for i in range(int(ragged.nrows())))
    if ragged.shape.as_list()[0] is None:
        raise OperatorNotAllowedInGraphError(
            "Iterating over a symbolic `tf.RaggedTensor` is not allowed where its number of rows is unknown.\n"
            f"  Asked at {user_source(2)}\n  Fix: loop in a tf.function that AutoGraph converts, or use tf.map_fn")
    return (ragged[i] for i in itertools.count())
