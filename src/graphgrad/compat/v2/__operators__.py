"""`tf.__operators__`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.graph.operators: add eq=equal getitem ne=not_equal ragged_getitem=getitem
""")
