"""`tf.train.queue_runner` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.training.coordination.queue_runner import QueueRunner as QueueRunner
from graphgrad.training.coordination.queue_runner import add_queue_runner as add_queue_runner
from graphgrad.training.coordination.queue_runner import start_queue_runners as start_queue_runners

__all__ = [
    "QueueRunner", "add_queue_runner", "start_queue_runners"
]
