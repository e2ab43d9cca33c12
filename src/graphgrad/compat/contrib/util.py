"""`tf.contrib.util` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.graph.tensor_protos: make_ndarray make_tensor_proto
graphgrad.ir.constant_value: constant_value
""")
