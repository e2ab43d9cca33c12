"""`tf.saved_model.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.extras.saved_model.model_fingerprint import Fingerprint as Fingerprint
from graphgrad.extras.saved_model.model_fingerprint import read_fingerprint as read_fingerprint
from graphgrad.frontend.tracking.resources import TrackableResource as TrackableResource
from graphgrad.training.checkpoints.saved_model_options import VariablePolicy as VariablePolicy

__all__ = [
    "Fingerprint", "TrackableResource", "VariablePolicy", "read_fingerprint"
]
