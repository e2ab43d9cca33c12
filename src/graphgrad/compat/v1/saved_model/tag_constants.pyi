"""`tf.saved_model.tag_constants` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.import_v1.saved_model import GPU as GPU
from graphgrad.extras.import_v1.saved_model import SERVING as SERVING
from graphgrad.extras.import_v1.saved_model import TPU as TPU
from graphgrad.extras.import_v1.saved_model import TRAINING as TRAINING

__all__ = [
    "GPU", "SERVING", "TPU", "TRAINING"
]
