"""Ranks that shape rules require of sizes, axes and counts.

The rules get them as numbers or tuples, so the rank is checked before.
"""

from __future__ import annotations

from graphgrad.ir.opdef import registry


def limit_ranks(scalars: str = "", vectors: str = "", matrices: str = "", at_most_vectors: str = "") -> None:
    """Declares the ranks that inputs must have; a family calls it when its records are made.

    Args:
      scalars, vectors, matrices, at_most_vectors: inputs as `OpType.input`, separated by white space.
    """
    for text, low, high in ((scalars, 0, 0), (vectors, 1, 1), (matrices, 2, 2), (at_most_vectors, 0, 1)):
        for entry in text.split():
            op_type, _, name = entry.partition(".")
            registry[op_type].limit_rank(name, low, high)
