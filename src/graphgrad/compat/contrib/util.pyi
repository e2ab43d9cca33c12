"""`tf.contrib.util` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.frontend.graph.tensor_protos import make_ndarray as make_ndarray
from graphgrad.frontend.graph.tensor_protos import make_tensor_proto as make_tensor_proto
from graphgrad.ir.constant_value import constant_value as constant_value

__all__ = [
    "constant_value", "make_ndarray", "make_tensor_proto"
]
