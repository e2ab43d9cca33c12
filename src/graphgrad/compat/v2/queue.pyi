"""`tf.queue`. Written by `make faces` from exports.txt."""

from graphgrad.extras.pipelines.queues import FIFOQueue as FIFOQueue
from graphgrad.extras.pipelines.queues import PaddingFIFOQueue as PaddingFIFOQueue
from graphgrad.extras.pipelines.queues import PriorityQueue as PriorityQueue
from graphgrad.extras.pipelines.queues import QueueBase as QueueBase
from graphgrad.extras.pipelines.queues import RandomShuffleQueue as RandomShuffleQueue

__all__ = [
    "FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"
]
