"""`tf.saved_model.utils` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.import_v1.saved_model import build_tensor_info as build_tensor_info
from graphgrad.extras.import_v1.saved_model import get_tensor_from_tensor_info as get_tensor_from_tensor_info

__all__ = [
    "build_tensor_info", "get_tensor_from_tensor_info"
]
