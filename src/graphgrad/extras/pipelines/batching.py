"""Batches from single examples, through a queue: the middle of an input pipeline of TensorFlow 1.

Reference: TensorFlow 2.21 `tf.compat.v1.train`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from graphgrad.frontend.control_flow.cond_while import cond
from graphgrad.frontend.structure.structure_types import S
from graphgrad.ir.constant_value import static_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import bool_
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape, relax
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ops.array.mask import boolean_mask
from graphgrad.ops.common.sparse_tensor import SparseTensor
from graphgrad.ops.control.group import group, no_op
from graphgrad.training.coordination.queue_runner import QueueRunner, add_queue_runner

from .input_producers import in_graph_only, summarize_fullness
from .queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue


def _listed(tensors: Any) -> list[Any]:
    """Returns the tensors of a list, or of a dictionary in the order of its keys."""
    if isinstance(tensors, dict):
        return [tensors[k] for k in sorted(tensors, key=str)]
    return list(tensors)


def _like(original: Any, found: Any) -> Any:
    """Packs dequeued tensors in the structure that was enqueued."""
    if isinstance(original, dict):
        parts = found if isinstance(found, list) else [found]
        return dict(zip(sorted(original, key=str), parts, strict=True))
    return found


def _converted(tensors_list: Any) -> list[list[Any]]:
    """Converts the examples to lists of tensors; rejects inconsistent ones."""
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors. Fix: give a list of tensors, or of lists of them")
    first = tensors_list[0]
    if isinstance(first, dict) and any(not isinstance(t, dict) or t.keys() != first.keys() for t in tensors_list):
        raise ValueError("All dictionaries must have the same keys")
    result = []
    for tensors in map(_listed, tensors_list):
        if any(isinstance(t, SparseTensor) for t in tensors):
            raise ValueError("sparse tensors cannot be put in batches here. Fix: tf.sparse.to_dense with dynamic_pad, "
                             "or put the serialized examples in batches and parse them together")
        result.append([convert_to_tensor(t) for t in tensors])
    for other in result[1:]:
        if [t.dtype for t in other] != [t.dtype for t in result[0]]:
            types = [", ".join(t.dtype.name for t in tensors) for tensors in result]
            raise TypeError(f"Expected types to be consistent: {types[0]} vs. {types[result.index(other)]}.")
    return result


def _shapes(tensors_list: list[list[Any]], shapes: Any, enqueue_many: bool) -> list[Any]:
    """Returns the shapes of the components of an example."""
    if shapes is not None:
        return [TensorShape(s) for s in shapes]
    found = []
    for parts in zip(*tensors_list, strict=True):
        unknown = [t for t in parts if t.get_shape().ndims is None]
        if unknown:
            raise ValueError(f"Cannot infer Tensor's rank: {unknown[0]}. Fix: set_shape, or give shapes=")
        common = parts[0]._spec.shape
        for t in parts[1:]:
            common = relax(common, t._spec.shape)
        found.append(TensorShape(common)[1 if enqueue_many else 0 :])
    return found


def _keep(keep_input: Any, enqueue_many: bool) -> Any:
    """Returns whether to keep the input: True if that is known, else a tensor."""
    keep = convert_to_tensor(keep_input, bool_)
    if keep.get_shape().ndims is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction. Fix: set_shape")
    if not enqueue_many and keep.get_shape().ndims == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`. Fix: enqueue_many=True")
    if keep.get_shape().ndims > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return True if static_value(keep) is True or static_value(keep) == 1 else keep


def _enqueue_op(queue: Any, tensors: list[Any], enqueue_many: bool, keep: Any) -> Any:
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep is True:
        return put(tensors)
    if keep.get_shape().ndims == 1:
        return put([boolean_mask(t, keep) for t in tensors])

    def enqueue() -> Any:
        with_effect: Any = put(tensors)
        return group(with_effect)

    return cond(keep, enqueue, no_op)


def _batch(tensors_list: Any, keep_input: Any, batch_size: Any, threads: int, capacity: int, enqueue_many: bool,
           shapes: Any, dynamic_pad: bool, smaller: bool, shared_name: Any, name: Any,
           default: str) -> Any:
    in_graph_only()
    with name_scope(name, default) as scope:
        tensors = _converted(tensors_list)
        keep = _keep(keep_input, enqueue_many)
        sizes = _shapes(tensors, shapes, enqueue_many)
        kind: Any = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue = kind(capacity, [t.dtype for t in tensors[0]], sizes, shared_name=shared_name)
        runner_ops = [_enqueue_op(queue, t, enqueue_many, keep) for t in tensors] * threads
        add_queue_runner(QueueRunner(queue, runner_ops))
        summarize_fullness(queue, f"fraction_of_{capacity}_full", capacity)
        found = (queue.dequeue_up_to if smaller else queue.dequeue_many)(batch_size, name=scope)
        return _like(tensors_list[0], found)


def _shuffle_batch(tensors_list: Any, keep_input: Any, batch_size: Any, capacity: int, min_after_dequeue: int,
                   threads: int, seed: Any, enqueue_many: bool, shapes: Any, smaller: bool, shared_name: Any,
                   name: Any, default: str) -> Any:
    in_graph_only()
    with name_scope(name, default) as scope:
        if capacity <= min_after_dequeue:
            raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}.")
        tensors = _converted(tensors_list)
        keep = _keep(keep_input, enqueue_many)
        queue = RandomShuffleQueue(capacity, min_after_dequeue, [t.dtype for t in tensors[0]],
                                   _shapes(tensors, shapes, enqueue_many), seed=seed,
                                   shared_name=shared_name)
        runner_ops = [_enqueue_op(queue, t, enqueue_many, keep) for t in tensors] * threads
        add_queue_runner(QueueRunner(queue, runner_ops))
        above = capacity - min_after_dequeue
        summarize_fullness(queue, f"fraction_over_{min_after_dequeue}_of_{above}_full", above, min_after_dequeue)
        found = (queue.dequeue_up_to if smaller else queue.dequeue_many)(batch_size, name=scope)
        return _like(tensors_list[0], found)


@overload
def batch(tensors: Mapping[S, Any], batch_size: Any, num_threads: int = 1, capacity: int = 32,
          enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
          allow_smaller_final_batch: bool = False, shared_name: str | None = None,
          name: str | None = None) -> dict[S, AnyTensor]: ...
@overload
def batch(tensors: object, batch_size: Any, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False,
          shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
          shared_name: str | None = None, name: str | None = None) -> AnyTensor | Any: ...
def batch(tensors: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False,
          shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
          shared_name: str | None = None, name: str | None = None) -> AnyTensor | Any:
    """Batches examples, in their order.

    Args:
      tensors: a list or dictionary of the tensors of an example.
      batch_size: the number of examples of a batch.
      num_threads: the number of threads that compute examples; with more than one, the order is not defined.
      capacity: the capacity of the queue, in examples.
      enqueue_many: whether `tensors` are several examples, one in each row.
      shapes: the shapes of the tensors of an example, where they are not known.
      dynamic_pad: whether examples may differ in dimensions of unknown size; they are padded with zeros.
      allow_smaller_final_batch: whether the last batch may have fewer examples.
      shared_name: of the queue.
      name: a name for the operations.
    Returns: the batches: a list or dictionary as `tensors`, or one tensor for a list of one.
    Raises: ValueError for an unknown rank; OutOfRangeError at run time after the last batch; RuntimeError in eager
      mode.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.batch`.

    >>> number = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    >>> pair = tf.train.batch([number], 2, allow_smaller_final_batch=True)
    >>> sess.run(tf.local_variables_initializer())
    >>> coord = tf.train.Coordinator()
    >>> threads = tf.train.start_queue_runners(sess, coord)
    >>> [sess.run(pair).tolist() for _ in range(3)]
    [[0, 1], [2, 3], [4]]
    >>> coord.request_stop()
    >>> coord.join(threads)
    """
    return _batch([tensors], True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name, "batch")


@overload
def maybe_batch(tensors: Mapping[S, Any], keep_input: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32,
                enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                name: str | None = None) -> dict[S, AnyTensor]: ...
@overload
def maybe_batch(tensors: object, keep_input: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32,
                enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                name: str | None = None) -> AnyTensor | Any: ...
def maybe_batch(tensors: Any, keep_input: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32,
                enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                name: str | None = None) -> AnyTensor | Any:
    """Batches the examples that are to be kept.

    Args:
      keep_input: whether to keep an example, a bool scalar; with enqueue_many, a vector for the rows.
      tensors, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name, name: as for `batch`.
    Returns: as `batch`.
    Raises: as `batch`; ValueError for a `keep_input` of another rank.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.maybe_batch`.
    """
    return _batch([tensors], keep_input, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name, "batch")


@overload
def batch_join(tensors_list: Sequence[Mapping[S, Any]], batch_size: Any, capacity: int = 32, enqueue_many: bool = False,
               shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
               shared_name: str | None = None, name: str | None = None) -> dict[S, AnyTensor]: ...
@overload
def batch_join(tensors_list: object, batch_size: Any, capacity: int = 32, enqueue_many: bool = False,
               shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
               shared_name: str | None = None, name: str | None = None) -> AnyTensor | Any: ...
def batch_join(tensors_list: Any, batch_size: Any, capacity: int = 32, enqueue_many: bool = False, shapes: Any = None,
               dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, shared_name: str | None = None,
               name: str | None = None) -> AnyTensor | Any:
    """Batches examples from several sources, each in a thread of its own.

    Args:
      tensors_list: a list of lists or dictionaries of tensors, one for each source.
      batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name: as for
        `batch`.
    Returns: as `batch`.
    Raises: as `batch`; TypeError for sources of different dtypes.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.batch_join`.
    """
    return _batch(list(tensors_list), True, batch_size, 1, capacity, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name, "batch_join")


@overload
def maybe_batch_join(tensors_list: Sequence[Mapping[S, Any]], keep_input: Any, batch_size: Any, capacity: int = 32,
                     enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                     allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                     name: str | None = None) -> dict[S, AnyTensor]: ...
@overload
def maybe_batch_join(tensors_list: object, keep_input: Any, batch_size: Any, capacity: int = 32,
                     enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                     allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                     name: str | None = None) -> AnyTensor | Any: ...
def maybe_batch_join(tensors_list: Any, keep_input: Any, batch_size: Any, capacity: int = 32,
                     enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                     allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                     name: str | None = None) -> AnyTensor | Any:
    """Batches the examples of several sources that are to be kept.

    Args:
      keep_input: as for `maybe_batch`.
      tensors_list, batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name,
        name: as for `batch_join`.
    Returns: as `batch`.
    Raises: as `batch_join`.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.maybe_batch_join`.
    """
    return _batch(list(tensors_list), keep_input, batch_size, 1, capacity, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name, "batch_join")


@overload
def shuffle_batch(tensors: Mapping[S, Any], batch_size: Any, capacity: int, min_after_dequeue: int,
                  num_threads: int = 1, seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                  allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                  name: str | None = None) -> dict[S, AnyTensor]: ...
@overload
def shuffle_batch(tensors: object, batch_size: Any, capacity: int, min_after_dequeue: int, num_threads: int = 1,
                  seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                  allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                  name: str | None = None) -> AnyTensor | Any: ...
def shuffle_batch(tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, num_threads: int = 1,
                  seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                  allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                  name: str | None = None) -> AnyTensor | Any:
    """Batches examples in random order.

    Args:
      min_after_dequeue: the number of examples that stay in the queue to choose among.
      seed: for the order.
      tensors, batch_size, capacity, num_threads, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name:
        as for `batch`.
    Returns: as `batch`.
    Raises: as `batch`; ValueError unless capacity exceeds min_after_dequeue.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.shuffle_batch`.

    >>> pair = tf.train.shuffle_batch([tf.zeros([3])], 2, capacity=50, min_after_dequeue=10)
    >>> pair.shape.as_list()
    [2, 3]
    """
    return _shuffle_batch([tensors], True, batch_size, capacity, min_after_dequeue, num_threads, seed, enqueue_many,
                          shapes, allow_smaller_final_batch, shared_name, name, "shuffle_batch")


@overload
def maybe_shuffle_batch(tensors: Mapping[S, Any], batch_size: Any, capacity: int, min_after_dequeue: int,
                        keep_input: Any, num_threads: int = 1, seed: int | None = None, enqueue_many: bool = False,
                        shapes: Any = None, allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                        name: str | None = None) -> dict[S, AnyTensor]: ...
@overload
def maybe_shuffle_batch(tensors: object, batch_size: Any, capacity: int, min_after_dequeue: int, keep_input: Any,
                        num_threads: int = 1, seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                        allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                        name: str | None = None) -> AnyTensor | Any: ...
def maybe_shuffle_batch(tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, keep_input: Any,
                        num_threads: int = 1, seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                        allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                        name: str | None = None) -> AnyTensor | Any:
    """Batches, in random order, the examples that are to be kept.

    Args:
      keep_input: as for `maybe_batch`.
      tensors, batch_size, capacity, min_after_dequeue, num_threads, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name: as for `shuffle_batch`.
    Returns: as `batch`.
    Raises: as `shuffle_batch`.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.maybe_shuffle_batch`.
    """
    return _shuffle_batch([tensors], keep_input, batch_size, capacity, min_after_dequeue, num_threads, seed,
                          enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
                          "shuffle_batch")


@overload
def shuffle_batch_join(tensors_list: Sequence[Mapping[S, Any]], batch_size: Any, capacity: int, min_after_dequeue: int,
                       seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                       allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                       name: str | None = None) -> dict[S, AnyTensor]: ...
@overload
def shuffle_batch_join(tensors_list: object, batch_size: Any, capacity: int, min_after_dequeue: int,
                       seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                       allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                       name: str | None = None) -> AnyTensor | Any: ...
def shuffle_batch_join(tensors_list: Any, batch_size: Any, capacity: int, min_after_dequeue: int,
                       seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                       allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                       name: str | None = None) -> AnyTensor | Any:
    """Batches examples from several sources in random order, each source in a thread of its own.

    Args:
      tensors_list: as for `batch_join`.
      batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes, allow_smaller_final_batch, shared_name,
        name: as for `shuffle_batch`.
    Returns: as `batch`.
    Raises: as `shuffle_batch`.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.shuffle_batch_join`.
    """
    return _shuffle_batch(list(tensors_list), True, batch_size, capacity, min_after_dequeue, 1, seed, enqueue_many,
                          shapes, allow_smaller_final_batch, shared_name, name, "shuffle_batch_join")


@overload
def maybe_shuffle_batch_join(tensors_list: Sequence[Mapping[S, Any]], batch_size: Any, capacity: int,
                             min_after_dequeue: int, keep_input: Any, seed: int | None = None,
                             enqueue_many: bool = False, shapes: Any = None, allow_smaller_final_batch: bool = False,
                             shared_name: str | None = None, name: str | None = None) -> dict[S, AnyTensor]: ...
@overload
def maybe_shuffle_batch_join(tensors_list: object, batch_size: Any, capacity: int, min_after_dequeue: int,
                             keep_input: Any, seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                             allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                             name: str | None = None) -> AnyTensor | Any: ...
def maybe_shuffle_batch_join(tensors_list: Any, batch_size: Any, capacity: int, min_after_dequeue: int, keep_input: Any,
                             seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                             allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                             name: str | None = None) -> AnyTensor | Any:
    """Batches, in random order, the examples of several sources that are to be kept.

    Args:
      keep_input: as for `maybe_batch`.
      tensors_list, batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes, allow_smaller_final_batch,
        shared_name, name: as for `shuffle_batch_join`.
    Returns: as `batch`.
    Raises: as `shuffle_batch`.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.maybe_shuffle_batch_join`.
    """
    return _shuffle_batch(list(tensors_list), keep_input, batch_size, capacity, min_after_dequeue, 1, seed,
                          enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
                          "shuffle_batch_join")
