"""Walks through the operations of a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def operations_in(operation: Any) -> Iterator[Any]:
    """Yields the operations within one, those of regions included.

    Args:
      operation: of `jaxlib.mlir.ir`.
    """
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from operations_in(inner.operation)
