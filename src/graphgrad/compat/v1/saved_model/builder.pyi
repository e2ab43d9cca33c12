"""`tf.saved_model.builder` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.import_v1.saved_model_builder import SavedModelBuilder as SavedModelBuilder

__all__ = [
    "SavedModelBuilder"
]
