"""`tf.sets`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.sparse.sets: difference=set_difference intersection=set_intersection size=set_size union=set_union
""")
