"""`tf.saved_model.main_op` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.import_v1.saved_model import main_op as main_op
from graphgrad.extras.import_v1.saved_model import main_op_with_restore as main_op_with_restore

__all__ = [
    "main_op", "main_op_with_restore"
]
