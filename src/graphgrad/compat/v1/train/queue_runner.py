"""`tf.train.queue_runner` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.training.coordination.queue_runner: QueueRunner add_queue_runner start_queue_runners
""")
