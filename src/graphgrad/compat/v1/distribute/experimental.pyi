"""`tf.distribute.experimental` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.distribute.multi_worker import CommunicationImplementation as CommunicationImplementation
from graphgrad.extras.distribute.multi_worker import MultiWorkerMirroredStrategyV1 as MultiWorkerMirroredStrategy

__all__ = [
    "CommunicationImplementation", "MultiWorkerMirroredStrategy"
]
