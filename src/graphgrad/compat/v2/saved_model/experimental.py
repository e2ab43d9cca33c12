"""`tf.saved_model.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.saved_model.model_fingerprint: Fingerprint read_fingerprint
graphgrad.frontend.tracking.resources: TrackableResource
graphgrad.training.checkpoints.saved_model_options: VariablePolicy
""")
