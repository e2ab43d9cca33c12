"""`tf.queue` of TensorFlow 2."""

from graphgrad.frontend.queues import FIFOQueue as FIFOQueue
from graphgrad.frontend.queues import PaddingFIFOQueue as PaddingFIFOQueue
from graphgrad.frontend.queues import PriorityQueue as PriorityQueue
from graphgrad.frontend.queues import QueueBase as QueueBase
from graphgrad.frontend.queues import RandomShuffleQueue as RandomShuffleQueue
