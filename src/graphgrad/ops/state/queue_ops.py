"""Queue ops: handles, enqueue and dequeue. The storage is in `queue_storage.py`.

A queue is not a variable: what a run has enqueued or dequeued stays so, even if the run fails afterwards.
"""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.blocking import settle
from graphgrad.ir.dtypes import int64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.values.variable_store import kept

from .queue_storage import PaddingQueue, Queue, ShufflingQueue, SortingQueue

_HANDLE = ("stateful", "handle")
_WAITS = ("stateful", "host", "keeps", "waits")


def _queue(ref):
    return kept(ref, Queue, "a queue")


def _scalar():
    return ()


def _of_handle(handle):
    return ()


@op("FIFOQueueV2", "-> handle: resource", flags=_HANDLE, shape=_scalar)
def fifo_queue(xp, *, component_types, shapes=(), capacity=-1, container="", shared_name=""):
    """Makes a queue, first in, first out."""
    return Queue("", capacity, component_types, shapes)


@op("PaddingFIFOQueueV2", "-> handle: resource", flags=_HANDLE, shape=_scalar)
def padding_fifo_queue(xp, *, component_types, shapes=(), capacity=-1, container="", shared_name=""):
    """Makes a queue that pads elements that are dequeued together."""
    return PaddingQueue("", capacity, component_types, shapes)


@op("RandomShuffleQueueV2", "-> handle: resource", flags=_HANDLE, shape=_scalar)
def random_shuffle_queue(xp, *, component_types, shapes=(), capacity=-1, min_after_dequeue=0, seed=0, seed2=0,
                         container="", shared_name=""):
    """Makes a queue that returns elements in random order."""
    return ShufflingQueue("", capacity, component_types, shapes, min_after_dequeue, seed, seed2)


@op("PriorityQueueV2", "-> handle: resource", flags=_HANDLE, shape=_scalar)
def priority_queue(xp, *, shapes, component_types=(), capacity=-1, container="", shared_name=""):
    """Makes a queue in the order of priorities, its first component."""
    return SortingQueue("", capacity, (int64, *component_types), ((), *shapes) if shapes else ())


@op("QueueEnqueueV2", "handle: resource, components: list(Tcomponents) ->", flags=_WAITS)
def enqueue(xp, ref, components, *, timeout_ms=-1):
    """Adds an element."""
    settle(_queue(ref).enqueue, components, False)


@op("QueueEnqueueManyV2", "handle: resource, components: list(Tcomponents) ->", flags=_WAITS)
def enqueue_many(xp, ref, components, *, timeout_ms=-1):
    """Adds an element for each row."""
    settle(_queue(ref).enqueue, components, True)


@op("QueueDequeueV2", "handle: resource -> components: list(component_types)", flags=_WAITS)
def dequeue(xp, ref, *, component_types, timeout_ms=-1):
    """Removes an element and returns it."""
    return settle(_queue(ref).dequeue, 1, False, False)


@op("QueueDequeueManyV2", "handle: resource, n: int32 -> components: list(component_types)", flags=_WAITS,
    peek=("n",))
def dequeue_many(xp, ref, n, *, component_types, timeout_ms=-1):
    """Removes n elements and returns them."""
    return settle(_queue(ref).dequeue, _count(n), True, False)


@op("QueueDequeueUpToV2", "handle: resource, n: int32 -> components: list(component_types)", flags=_WAITS,
    peek=("n",))
def dequeue_up_to(xp, ref, n, *, component_types, timeout_ms=-1):
    """Removes n elements, or the rest of a closed queue, and returns them."""
    return settle(_queue(ref).dequeue, _count(n), True, True)


def _count(n):
    if n < 0:
        raise Complaint(f"Input 'n' must be >= 0, but is {int(n)}", "ask for a number of elements")
    return int(n)


@dequeue.shape
def _dequeue_shape(handle, component_types):
    return [None] * len(component_types)


@dequeue_many.shape
@dequeue_up_to.shape
def _dequeue_many_shape(handle, n, component_types):
    if isinstance(n, int):
        _count(np.asarray(n))
    return [None] * len(component_types)


@op("QueueCloseV2", "handle: resource ->", flags=_WAITS)
def close(xp, ref, *, cancel_pending_enqueues=False):
    """Closes a queue."""
    settle(_queue(ref).close, cancel_pending_enqueues)


@op("QueueSizeV2", "handle: resource -> size: int32", flags=("stateful", "host", "reads"), shape=_of_handle)
def size(xp, ref):
    """Returns the number of elements."""
    return np.asarray(_queue(ref).size(), np.int32)


@op("QueueIsClosedV2", "handle: resource -> is_closed: bool", flags=("stateful", "host", "reads"),
    shape=_of_handle)
def is_closed(xp, ref):
    """Returns whether a queue is closed."""
    return np.asarray(_queue(ref).closed)


for _record in (enqueue, enqueue_many, dequeue, dequeue_many, dequeue_up_to, close, size, is_closed):
    _record.grad(NOT_DIFFERENTIABLE)
