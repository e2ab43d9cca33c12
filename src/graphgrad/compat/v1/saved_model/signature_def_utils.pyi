"""`tf.saved_model.signature_def_utils` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.import_v1.saved_model import MethodNameUpdater as MethodNameUpdater
from graphgrad.extras.import_v1.saved_model import build_signature_def as build_signature_def
from graphgrad.extras.import_v1.saved_model import classification_signature_def as classification_signature_def
from graphgrad.extras.import_v1.saved_model import is_valid_signature as is_valid_signature
from graphgrad.extras.import_v1.saved_model import predict_signature_def as predict_signature_def
from graphgrad.extras.import_v1.saved_model import regression_signature_def as regression_signature_def

__all__ = [
    "MethodNameUpdater", "build_signature_def", "classification_signature_def", "is_valid_signature",
    "predict_signature_def", "regression_signature_def"
]
