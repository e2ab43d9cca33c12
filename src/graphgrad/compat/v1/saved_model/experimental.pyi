"""`tf.saved_model.experimental` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.saved_model.save import save as save

__all__ = [
    "save"
]
