"""`tf.contrib.slim.python.slim` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.slim import model_analyzer as model_analyzer
from graphgrad.compat.contrib.slim import nets as nets

__all__ = [
    "model_analyzer", "nets"
]
