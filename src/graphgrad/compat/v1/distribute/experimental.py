"""`tf.distribute.experimental` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.distribute.multi_worker: CommunicationImplementation
    MultiWorkerMirroredStrategy=MultiWorkerMirroredStrategyV1
""")
