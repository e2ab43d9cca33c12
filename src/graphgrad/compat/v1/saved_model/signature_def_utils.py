"""`tf.saved_model.signature_def_utils` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.import_v1.saved_model: MethodNameUpdater build_signature_def classification_signature_def
    is_valid_signature predict_signature_def regression_signature_def
""")
