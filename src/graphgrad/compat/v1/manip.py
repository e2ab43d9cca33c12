"""`tf.manip` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.ops.array.gather: gather_nd=gather_nd_v1
graphgrad.ops.array.reshape: reshape
graphgrad.ops.array.scatter: scatter_nd
graphgrad.ops.array.space_to_batch: batch_to_space_nd space_to_batch_nd
graphgrad.ops.array.tile: tile
graphgrad.ops.array.transpose: reverse roll
""")
