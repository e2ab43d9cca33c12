"""`tf.saved_model.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.tracking.resources import TrackableResource as TrackableResource

__all__ = [
    "TrackableResource"
]
