"""Queues of names, slices or numbers at the beginning of an input pipeline of TensorFlow 1.

Reference: TensorFlow 2.21 `tf.compat.v1.train`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables.variable import VariableV1
from graphgrad.ir.context import current_graph, get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, int64, string
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ops.array.gather import gather
from graphgrad.ops.array.ranges import range_
from graphgrad.ops.array.reshape import size
from graphgrad.ops.control.assertions import Assert
from graphgrad.ops.random.random import random_shuffle
from graphgrad.training.coordination.queue_runner import QueueRunner, add_queue_runner
from graphgrad.training.summaries.summaries_v1 import scalar

from .queues import FIFOQueue
from .readers import matching_files

_NULL = "string_input_producer requires a non-null input tensor"


def in_graph_only() -> None:
    """Raises RuntimeError in eager mode, as TensorFlow does."""
    if current_graph() is None:
        raise RuntimeError("Input pipelines based on Queues are not supported when eager execution is enabled. Please "
                           "use tf.data to ingest data into your model instead. Fix: tf.data.Dataset")


def summarize_fullness(queue: Any, name: str, capacity: float, above: int | None = None) -> None:
    """Adds a summary of the fraction of a queue that is full.

    Args:
      queue: the queue.
      name: the tag.
      capacity: the number of elements of a full queue.
      above: the number of elements that do not count.
    """
    count = queue.size()
    if above is not None:
        count = raw.Maximum(0, raw.Sub(count, above, name="sub"))
    scalar(name, raw.Mul(raw.Cast(count, DstT=float32), 1.0 / capacity, name="mul"))


def match_filenames_once(pattern: Any, name: str | None = None) -> VariableV1:
    """Finds the files that match a pattern, once; keeps their names in a local variable.

    Args:
      pattern: a string, or a vector of them.
      name: a name for the operations.
    Returns: the variable; `tf.local_variables_initializer` looks the files up.
    Reference: TensorFlow 2.21 `tf.io.match_filenames_once`.

    >>> names = tf.train.match_filenames_once("no/such/*.txt")
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(names).size
    0
    """
    with name_scope(name, "matching_filenames") as scope:
        return VariableV1(matching_files(pattern), trainable=False, validate_shape=False, name=scope,
                          collections=[GraphKeys.LOCAL_VARIABLES])


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Tensor:
    """Returns a tensor `num_epochs` times, then raises OutOfRangeError.

    Args:
      tensor: the tensor.
      num_epochs: the number of times; None for no limit.
      name: a name for the operation.
    Returns: a tensor. It counts in a local variable, so run `tf.local_variables_initializer` first.
    Raises: ValueError unless num_epochs > 0.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.limit_epochs`.

    >>> x = tf.train.limit_epochs(tf.constant(1.0), num_epochs=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(x), sess.run(x)
    (np.float32(1.0), np.float32(1.0))
    >>> sess.run(x)
    Traceback (most recent call last):
        ...
    graphgrad.errors.OutOfRangeError: ...
    """
    in_graph_only()
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}. Fix: None stands for any number of epochs")
    with name_scope(name, "limit_epochs") as scope:
        zero = convert_to_tensor(np.int64(0), int64)
        epochs = VariableV1(zero, name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
        with get_default_graph().control_dependencies([epochs.count_up_to(num_epochs)]):
            return raw.Identity(convert_to_tensor(tensor), name=scope)


def input_producer(input_tensor: Any, element_shape: Any = None, num_epochs: int | None = None, shuffle: bool = True,
                   seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                   summary_name: str | None = None, name: str | None = None, cancel_op: Any = None) -> FIFOQueue:
    """Makes a queue of the rows of a tensor, filled repeatedly by a queue runner.

    Args:
      input_tensor: the rows.
      element_shape: the shape of a row, where the tensor's is not known.
      num_epochs: the number of passes over the rows; None for no limit.
      shuffle: whether the rows are shuffled in each epoch.
      seed: for the order.
      capacity: of the queue.
      shared_name: of the queue.
      summary_name: a tag for a summary of how full the queue is.
      name: a name for the queue.
      cancel_op: of the queue runner.
    Returns: a `FIFOQueue`.
    Raises: ValueError if the shape of a row is not known; RuntimeError in eager mode.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.input_producer`.

    >>> queue = tf.train.input_producer([[1, 2], [3, 4]], num_epochs=1, shuffle=False)
    >>> queue.dtypes, queue.dequeue().shape.as_list()
    ([tf.int32], [2])
    """
    in_graph_only()
    with name_scope(name, "input_producer"):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        shape = rows.get_shape()[1:].merge_with(element_shape)
        if not shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                             f"specified; the shape of a row is {shape}. Fix: element_shape=[...]")
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(capacity, [rows.dtype], [shape], shared_name=shared_name, name=name or "FIFOQueueV2")
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            summarize_fullness(queue, summary_name, capacity)
        return queue


def string_input_producer(string_tensor: Any, num_epochs: int | None = None, shuffle: bool = True,
                          seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                          name: str | None = None, cancel_op: Any = None) -> FIFOQueue:
    """Makes a queue of strings, such as file names for a reader.

    Args:
      string_tensor: a string vector.
      num_epochs, shuffle, seed, capacity, shared_name, name, cancel_op: as for `input_producer`.
    Returns: a `FIFOQueue`.
    Raises: ValueError for an empty list; InvalidArgumentError at run time for an empty vector; RuntimeError in eager
      mode.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.string_input_producer`.

    >>> names = tf.train.string_input_producer(["a.csv", "b.csv"], num_epochs=2)
    >>> names.dtypes, names.shapes
    ([tf.string], [TensorShape([])])
    """
    in_graph_only()
    if not isinstance(string_tensor, Tensor) and isinstance(string_tensor, (list, tuple)) and not string_tensor:
        raise ValueError(f"{_NULL}. Fix: give the names of files; was a pattern without matches expanded?")
    with name_scope(name, "input_producer") as scope:
        names = convert_to_tensor(string_tensor, string)
        with get_default_graph().control_dependencies([Assert(raw.Greater(size(names), 0), [_NULL])]):
            names = raw.Identity(names)
        return input_producer(names, [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", scope, cancel_op)


def range_input_producer(limit: Any, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
                         capacity: int = 32, shared_name: str | None = None,
                         name: str | None = None) -> FIFOQueue:
    """Makes a queue of the numbers from 0 to limit - 1.

    Args:
      limit: an int32 scalar.
      num_epochs, shuffle, seed, capacity, shared_name, name: as for `input_producer`.
    Returns: a `FIFOQueue`.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.range_input_producer`.

    >>> tf.train.range_input_producer(4, shuffle=False).dequeue().dtype
    tf.int32
    """
    in_graph_only()
    with name_scope(name, "input_producer") as scope:
        return input_producer(range_(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", scope)


def slice_input_producer(tensor_list: Any, num_epochs: int | None = None, shuffle: bool = True,
                         seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                         name: str | None = None) -> list[AnyTensor]:
    """Produces one row of each of several tensors at a time.

    Args:
      tensor_list: tensors with as many rows.
      num_epochs, shuffle, seed, capacity, shared_name, name: as for `input_producer`.
    Returns: a list of tensors, one row of each.
    Raises: ValueError for an empty list.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.slice_input_producer`.

    >>> image, label = tf.train.slice_input_producer([tf.zeros([5, 8, 8]), tf.zeros([5], tf.int32)])
    >>> image.shape.as_list(), label.shape.as_list()
    ([8, 8], [])
    """
    in_graph_only()
    if not isinstance(tensor_list, (list, tuple)) or not tensor_list:
        raise ValueError("Expected at least one tensor in slice_input_producer(). Fix: give a list of tensors")
    with name_scope(name, "input_producer"):
        tensors = [t if isinstance(t, IndexedSlices) else convert_to_tensor(t) for t in tensor_list]
        count = raw.StridedSlice(raw.Shape(tensors[0]), [0], [1], [1], shrink_axis_mask=1)
        queue = range_input_producer(count, num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [gather(t, index) for t in tensors]
