"""`tf.saved_model.loader` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.import_v1.saved_model import load as load
from graphgrad.extras.import_v1.saved_model import maybe_saved_model_directory as maybe_saved_model_directory

__all__ = [
    "load", "maybe_saved_model_directory"
]
