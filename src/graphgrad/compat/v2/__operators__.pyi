"""`tf.__operators__`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.graph.operators import add as add
from graphgrad.frontend.graph.operators import equal as eq
from graphgrad.frontend.graph.operators import getitem as getitem
from graphgrad.frontend.graph.operators import getitem as ragged_getitem
from graphgrad.frontend.graph.operators import not_equal as ne

__all__ = [
    "add", "eq", "getitem", "ne", "ragged_getitem"
]
