"""Queues, which pass elements between the runs of threads.

Reference: TensorFlow 2.21 `tf.queue`.
"""

from __future__ import annotations

from typing import Any

from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.constant_value import static_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape, relax
from graphgrad.ir.source import user_source
from graphgrad.ops.random.seeds import get_seed

from .handles import base_name, make_handle


def _types(dtypes: Any) -> list[Any]:
    return [as_dtype(t) for t in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]


def _shapes(shapes: Any, dtypes: list[Any]) -> list[Any]:
    """Returns the shapes of the components; None for each if they are not given."""
    if shapes is None:
        return [TensorShape(None) for _ in dtypes]
    is_list = isinstance(shapes, (list, tuple)) and not isinstance(shapes, TensorShape)
    if not is_list or not shapes or any(isinstance(s, int) or s is None for s in shapes):  # one shape
        shapes = [shapes]
    if len(shapes) != len(dtypes):
        raise ValueError("Queue shapes must have the same length as dtypes, received "
                         f"len(shapes)={len(shapes)}, len(dtypes)={len(dtypes)}. Fix: give one shape for each dtype")
    return [TensorShape(s) for s in shapes]


def _names(names: Any, dtypes: list[Any]) -> list[str] | None:
    if names is None:
        return None
    names = list(names) if isinstance(names, (list, tuple)) else [names]
    if len(names) != len(dtypes):
        raise ValueError("List of names must have the same length as the list of dtypes, received "
                         f"len(names)={len(names)},len(dtypes)={len(dtypes)}. Fix: give one name for each dtype")
    return names


class QueueBase:
    """The base of all queues.

    Runs of one or several threads enqueue and dequeue elements; a run waits while the queue is full, or has too few
    elements.

    Args:
      dtypes: the dtypes of an element's components.
      shapes: their shapes, or None.
      names: names for them, or None; with names, elements are dictionaries.
      queue_ref: the handle.
    Raises: ValueError where the lists differ in length.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Any):
        self._dtypes = _types(dtypes)
        self._shapes = _shapes(shapes, self._dtypes)
        self._names = _names(names, self._dtypes)
        self._queue_ref = queue_ref
        self._name = base_name(queue_ref)

    @staticmethod
    def from_list(index: Any, queues: Any) -> QueueBase:
        """Selects one of several queues.

        Args:
          index: the number of the queue, an int, or a tensor that is known while the graph is built.
          queues: the queues; dtypes and names of all are the same.
        Returns: a queue, with the shapes that all have in common.
        Raises: TypeError for other dtypes, or anything but a queue; ValueError for other names, or an index that only
          the run knows.
        """
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected. Fix: QueueBase.from_list(index, [queue, ...])")
        if any(q.dtypes != queues[0].dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes. Fix: give queues of the same dtypes")
        if any(q.names != queues[0].names for q in queues):
            raise TypeError("Queues do not have matching component names. Fix: give queues of the same names")
        known = index if isinstance(index, int) else static_value(convert_to_tensor(index))
        if known is None:
            raise ValueError(f"the index {index} of QueueBase.from_list is known only when the graph runs. "
                             "Fix: choose with tf.case among what the queues give")
        shapes = [_common(parts) for parts in zip(*(q.shapes for q in queues), strict=True)]
        return QueueBase(queues[0].dtypes, shapes, queues[0].names, queues[int(known)].queue_ref)

    # -- properties -----------------------------------------------------------------

    @property
    def queue_ref(self) -> Any:
        """The handle, a tensor of dtype resource."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue's operation."""
        return self._name if current_graph() is None else str(self._queue_ref.op.name)

    @property
    def dtypes(self) -> list[Any]:
        """The dtypes of an element's components."""
        return self._dtypes

    @property
    def shapes(self) -> list[Any]:
        """The shapes of an element's components."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of an element's components, or None."""
        return self._names

    # -- in -------------------------------------------------------------------------

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """Makes the operation that adds an element; it waits while the queue is full.

        Args:
          vals: a tensor, a list of the components, or a dictionary if they have names.
          name: a name for the operation.
        Returns: the operation.
        Raises: ValueError for values that do not fit; CancelledError at run time if the queue is closed.
        """
        with name_scope(name, f"{self._name}_enqueue") as scope:
            tensors = self._converted(vals)
            for t, shape in zip(tensors, self._shapes, strict=False):
                t.get_shape().assert_is_compatible_with(shape)
            return raw.QueueEnqueueV2(self._queue_ref, tensors, name=scope)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """Makes the operation that adds an element for each row; it waits while the queue is full.

        Args:
          vals: as for `enqueue`, with another dimension in front.
          name: a name for the operation.
        Returns: the operation.
        Raises: as `enqueue`.
        """
        with name_scope(name, f"{self._name}_EnqueueMany") as scope:
            tensors = self._converted(vals)
            rows = TensorShape([None])
            for t, shape in zip(tensors, self._shapes, strict=False):
                rows = rows.merge_with(t.get_shape().with_rank_at_least(1)[:1])
                t.get_shape()[1:].assert_is_compatible_with(shape)
            return raw.QueueEnqueueManyV2(self._queue_ref, tensors, name=scope)

    def _converted(self, vals: Any) -> list[Any]:
        if isinstance(vals, dict):
            if self._names is None:
                raise ValueError("Queue must have names to enqueue a dictionary. Fix: make it with names=")
            if sorted(self._names) != sorted(vals):
                raise ValueError("Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                                 f"{sorted(vals)},Queue: {sorted(self._names)}. Fix: give a value for each name")
            vals = [vals[k] for k in self._names]
        elif self._names is not None:
            raise ValueError("You must enqueue a dictionary in a Queue with names. Fix: {name: value, ...}")
        elif not isinstance(vals, (list, tuple)):
            vals = [vals]
        pairs = zip(vals, self._dtypes, strict=False)
        return [convert_to_tensor(v, t, name=f"component_{i}") for i, (v, t) in enumerate(pairs)]

    # -- out ------------------------------------------------------------------------

    def dequeue(self, name: str | None = None) -> Any:
        """Removes and returns an element; waits while the queue is empty.

        Args:
          name: a name for the operation.
        Returns: a tensor, a list of them, or a dictionary if the components have names.
        Raises: OutOfRangeError at run time if the queue is closed and empty.
        """
        found = raw.QueueDequeueV2(self._queue_ref, component_types=tuple(self._dtypes),
                                   name=name or f"{self._name}_Dequeue")
        return self._given(found, ())

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Removes and returns n elements; waits until there are as many.

        Args:
          n: the number of elements.
          name: a name for the operation.
        Returns: as `dequeue`, with another dimension in front.
        Raises: OutOfRangeError at run time if the queue is closed and has fewer.
        """
        found = raw.QueueDequeueManyV2(self._queue_ref, n, component_types=tuple(self._dtypes),
                                       name=name or f"{self._name}_DequeueMany")
        if current_graph() is None:
            return self._given(found, ())
        return self._given(found, (static_value(found[0].op.inputs[1]),))

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Removes and returns n elements, or the rest of a closed queue.

        Args:
          n: the largest number of elements.
          name: a name for the operation.
        Returns: as `dequeue_many`.
        Raises: OutOfRangeError at run time if the queue is closed and empty.
        """
        found = raw.QueueDequeueUpToV2(self._queue_ref, n, component_types=tuple(self._dtypes),
                                       name=name or f"{self._name}_DequeueUpTo")
        return self._given(found, (None,))

    def _given(self, found: Any, rows: Any) -> Any:
        if current_graph() is not None:
            for t, shape in zip(found, self._shapes, strict=True):
                t.set_shape(TensorShape(rows).concatenate(shape))
        if self._names is not None:
            return dict(zip(self._names, found, strict=True))
        return found[0] if len(found) == 1 else list(found)

    # -- the queue itself -----------------------------------------------------------

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """Makes the operation that closes the queue: nothing can be added afterwards.

        Dequeue operations that wait for more elements than there are raise OutOfRangeError.

        Args:
          cancel_pending_enqueues: whether enqueue operations that wait for capacity raise CancelledError; else the
            queue is closed after all of them.
          name: a name for the operation.
        Returns: the operation.
        """
        return raw.QueueCloseV2(self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues,
                                name=name or f"{self._name}_Close")

    def is_closed(self, name: str | None = None) -> Any:
        """Returns whether the queue is closed, a bool scalar.

        Args:
          name: a name for the operation.
        """
        return raw.QueueIsClosedV2(self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name: str | None = None) -> Any:
        """Returns the number of elements, an int32 scalar.

        Args:
          name: a name for the operation.
        """
        return raw.QueueSizeV2(self._queue_ref, name=name or f"{self._name}_Size")


def _common(shapes: Any) -> Any:
    """Returns the static shape common to all, None where they differ."""
    common = shapes[0]._dims
    for s in shapes[1:]:
        common = relax(common, s._dims)
    return TensorShape(common)


def _attr_shapes(shapes: Any) -> tuple[Any, ...]:
    return tuple(TensorShape(s)._dims for s in shapes)


class _Made(QueueBase):
    """A queue that an operation of the type `_type` makes."""

    _type: str
    _pads = False

    def _make(self, capacity: Any, dtypes: Any, shapes: Any, names: Any, shared_name: Any, name: Any,
              **more: Any) -> None:
        types = _types(dtypes)
        sizes = _shapes(shapes, types)
        names = _names(names, types)
        if shapes is not None and not self._pads and not all(TensorShape(s).is_fully_defined() for s in sizes):
            raise ValueError(f"All shapes must be fully defined: {[str(TensorShape(s)) for s in sizes]}.\n"
                             f"  Built at {user_source(2)}\n"
                             "  Fix: give sizes, leave shapes out, or use tf.queue.PaddingFIFOQueue")
        handle = make_handle(self._type, name, capacity=int(capacity), component_types=tuple(types),
                             shapes=() if shapes is None else _attr_shapes(sizes), shared_name=shared_name or "",
                             **more)
        QueueBase.__init__(self, types, sizes, names, handle)


class FIFOQueue(_Made):
    """A queue: first in, first out.

    Args:
      capacity: the largest number of elements; operations that add more wait.
      dtypes: the dtypes of an element's components.
      shapes: their shapes; without them elements may differ in shape, and are dequeued one at a time.
      names: names for the components; elements are dictionaries then.
      shared_name: queues of one session with the same shared name are one queue.
      name: a name for the operation.
    Reference: TensorFlow 2.21 FIFOQueueV2.

    >>> queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
    >>> put, got = queue.enqueue_many([[1.0, 2.0, 3.0]]), queue.dequeue_many(2)
    >>> sess.run(put)
    >>> sess.run(got), sess.run(queue.size())
    (array([1., 2.], dtype=float32), np.int32(1))
    """

    _type = "FIFOQueueV2"

    def __init__(self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None,
                 shared_name: str | None = None, name: str = "fifo_queue"):
        self._make(capacity, dtypes, shapes, names, shared_name, name)


class PaddingFIFOQueue(_Made):
    """A queue, first in, first out, that pads elements of different shapes with zeros when several are dequeued.

    Args:
      capacity, dtypes, names, shared_name, name: as for `FIFOQueue`.
      shapes: the shapes of the components; dimensions in which elements differ are None.
    Raises: ValueError if there is no shape for each dtype.
    Reference: TensorFlow 2.21 PaddingFIFOQueueV2.

    >>> queue = tf.PaddingFIFOQueue(10, tf.int32, [[None]])
    >>> sess.run([queue.enqueue([[1, 2]]), queue.enqueue([[3]])])
    [None, None]
    >>> sess.run(queue.dequeue_many(2))
    array([[1, 2],
           [3, 0]], dtype=int32)
    """

    _type = "PaddingFIFOQueueV2"
    _pads = True

    def __init__(self, capacity: int, dtypes: Any, shapes: Any, names: Any = None, shared_name: str | None = None,
                 name: str = "padding_fifo_queue"):
        types = _types(dtypes)
        if len(shapes) != len(types):
            raise ValueError(f"Shapes must be provided for all components, but received {len(types)} dtypes and "
                             f"{len(shapes)} shapes. Fix: give one shape for each dtype")
        self._make(capacity, types, list(shapes), names, shared_name, name)


class RandomShuffleQueue(_Made):
    """A queue that returns its elements in random order.

    Args:
      capacity, dtypes, shapes, names, shared_name, name: as for `FIFOQueue`.
      min_after_dequeue: the number of elements that remain to choose among until it is closed.
      seed: as for `tf.set_random_seed`; with a seed the order is TensorFlow's.
    Reference: TensorFlow 2.21 RandomShuffleQueueV2.

    >>> queue = tf.RandomShuffleQueue(10, 0, tf.int32, [[]], seed=1)
    >>> sess.run(queue.enqueue_many([[1, 2, 3]]))
    >>> sorted(sess.run(queue.dequeue_many(3)).tolist())
    [1, 2, 3]
    """

    _type = "RandomShuffleQueueV2"

    def __init__(self, capacity: int, min_after_dequeue: int, dtypes: Any, shapes: Any = None, names: Any = None,
                 seed: int | None = None, shared_name: str | None = None,
                 name: str = "random_shuffle_queue"):
        first, second = get_seed(seed)
        self._make(capacity, dtypes, shapes, names, shared_name, name, min_after_dequeue=whole(min_after_dequeue),
                   seed=first or 0, seed2=second or 0)


class PriorityQueue(_Made):
    """A queue that returns the element with the lowest priority first.

    An element's first component is its priority, an int64 scalar.

    Args:
      capacity, names, shared_name, name: as for `FIFOQueue`.
      types: the dtypes of the components after the priority.
      shapes: their shapes.
    Reference: TensorFlow 2.21 PriorityQueueV2.

    >>> queue = tf.PriorityQueue(10, tf.string, [[]])
    >>> sess.run(queue.enqueue_many([[7, 2], ["late", "soon"]]))
    >>> sess.run(queue.dequeue())
    [np.int64(2), b'soon']
    """

    _type = "PriorityQueueV2"

    def __init__(self, capacity: int, types: Any, shapes: Any = None, names: Any = None,
                 shared_name: str | None = None, name: str = "priority_queue"):
        behind = _types(types)
        sizes = [] if shapes is None else _shapes(shapes, behind)
        names = _names(names, [int64, *behind])
        handle = make_handle(self._type, name, capacity=whole(capacity), component_types=tuple(behind),
                             shapes=_attr_shapes(sizes), shared_name=shared_name or "")
        all_shapes = None if shapes is None else [TensorShape([]), *sizes]
        QueueBase.__init__(self, [int64, *behind], all_shapes, names, handle)

