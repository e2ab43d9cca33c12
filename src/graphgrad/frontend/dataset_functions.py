"""`tf.data.experimental`: transformations for `Dataset.apply`, and functions of data sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ..errors import InvalidArgumentError
from ..ir import context
from ..ir.eager import EagerTensor
from .data_nest import flatten, pack
from .dataset import Dataset

_Transformation = Callable[[Any], Any]


class Options:
    """Settings of a data set: kept, and without effect.

    Reference: TensorFlow 2.21 `tf.data.Options`.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Options()
        object.__setattr__(self, name, made)
        return made


def map_and_batch(map_func: Any, batch_size: Any, num_parallel_batches: Any = None, drop_remainder: bool = False,
                  num_parallel_calls: Any = None) -> _Transformation:  # fmt: skip
    """`map` and then `batch`.

    Args:
      map_func, batch_size, drop_remainder: as there.
      num_parallel_batches, num_parallel_calls: accepted.
    Reference: TensorFlow 2.21 `tf.data.experimental.map_and_batch`.
    """

    def apply(dataset: Any) -> Any:
        return dataset.map(map_func).batch(batch_size, drop_remainder)

    return apply


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> _Transformation:
    """`shuffle` and then `repeat`.

    Args:
      buffer_size, count, seed: as there.
    Reference: TensorFlow 2.21 `tf.data.experimental.shuffle_and_repeat`.
    """

    def apply(dataset: Any) -> Any:
        return dataset.shuffle(buffer_size, seed).repeat(count)

    return apply


def parallel_interleave(map_func: Any, cycle_length: Any, block_length: int = 1, sloppy: bool = False,
                        buffer_output_elements: Any = None,
                        prefetch_input_elements: Any = None) -> _Transformation:  # fmt: skip
    """`interleave`.

    Args:
      map_func, cycle_length, block_length: as there.
      sloppy, buffer_output_elements, prefetch_input_elements: accepted.
    Reference: TensorFlow 2.21 `tf.data.experimental.parallel_interleave`.
    """

    def apply(dataset: Any) -> Any:
        return dataset.interleave(map_func, cycle_length, block_length)

    return apply


def unbatch() -> _Transformation:
    """`unbatch`.

    Reference: TensorFlow 2.21 `tf.data.experimental.unbatch`.
    """

    def apply(dataset: Any) -> Any:
        return dataset.unbatch()

    return apply


def enumerate_dataset(start: int = 0) -> _Transformation:
    """`enumerate`.

    Args:
      start: the first number.
    Reference: TensorFlow 2.21 `tf.data.experimental.enumerate_dataset`.
    """

    def apply(dataset: Any) -> Any:
        return dataset.enumerate(start)

    return apply


def get_single_element(dataset: Any) -> Any:
    """The only element of a data set.

    Args:
      dataset: the data set.
    Returns: tensors; in a graph, those of an iterator.
    Raises: InvalidArgumentError in eager mode if there is none, or more than one.
    Reference: TensorFlow 2.21 `tf.data.experimental.get_single_element`.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}.")
    if context.current_graph() is not None:
        from .dataset_iterators import make_one_shot_iterator

        return make_one_shot_iterator(dataset).get_next()
    found = list(itertools.islice(dataset._start([]), 2))
    if len(found) != 1:
        raise InvalidArgumentError(None, None, "Dataset was empty." if not found else
                                   "Dataset had more than one element.")
    types = [s.dtype for s in flatten(dataset._specs)]
    return pack(dataset._specs, map(EagerTensor, found[0], types))
