"""`tf.saved_model.builder` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.import_v1.saved_model_builder: SavedModelBuilder
""")
