"""`tf.data.experimental`: transformations for `Dataset.apply`, and functions of data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .dataset import Dataset

_Transformation = Callable[[Any], Dataset]


def map_and_batch(map_func: Any, batch_size: Any, num_parallel_batches: Any = None, drop_remainder: bool = False,
                  num_parallel_calls: Any = None) -> _Transformation:
    """Makes a transformation that does what `Dataset.map` and then `Dataset.batch` do.

    Args:
      map_func, batch_size, drop_remainder: as for `Dataset.map`.
      num_parallel_batches, num_parallel_calls: accepted.
    Reference: TensorFlow 2.21 `tf.data.experimental.map_and_batch`.
    """

    def apply(dataset: Any) -> Any:
        return dataset.map(map_func).batch(batch_size, drop_remainder)

    return apply


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> _Transformation:
    """Makes a transformation that does what `Dataset.shuffle` and then `Dataset.repeat` do.

    Args:
      buffer_size, count, seed: as for `Dataset.shuffle`.
    Reference: TensorFlow 2.21 `tf.data.experimental.shuffle_and_repeat`.
    """

    def apply(dataset: Any) -> Any:
        return dataset.shuffle(buffer_size, seed).repeat(count)

    return apply


def parallel_interleave(map_func: Any, cycle_length: Any, block_length: int = 1, sloppy: bool = False,
                        buffer_output_elements: Any = None,
                        prefetch_input_elements: Any = None) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.interleave` does.

    Args:
      map_func, cycle_length, block_length: as for `Dataset.apply`.
      sloppy, buffer_output_elements, prefetch_input_elements: accepted.
    Reference: TensorFlow 2.21 `tf.data.experimental.parallel_interleave`.
    """

    def apply(dataset: Any) -> Any:
        return dataset.interleave(map_func, cycle_length, block_length)

    return apply


def unbatch() -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.unbatch` does.

    Reference: TensorFlow 2.21 `tf.data.experimental.unbatch`.
    """

    def apply(dataset: Any) -> Any:
        return dataset.unbatch()

    return apply


def enumerate_dataset(start: int = 0) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.enumerate` does.

    Args:
      start: the first number.
    Reference: TensorFlow 2.21 `tf.data.experimental.enumerate_dataset`.
    """

    def apply(dataset: Any) -> Any:
        return dataset.enumerate(start)

    return apply


def get_single_element(dataset: Any) -> Any:
    """Returns the only element of a data set.

    Args:
      dataset: the data set.
    Returns: tensors.
    Raises: InvalidArgumentError if there is none, or more than one; in a graph when it is run.
    Reference: TensorFlow 2.21 `tf.data.experimental.get_single_element`.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}.")
    return dataset.get_single_element()


def map_and_batch_with_legacy_function(map_func: Any, batch_size: Any, num_parallel_batches: Any = None,
                                       drop_remainder: bool = False,
                                       num_parallel_calls: Any = None) -> _Transformation:
    """Makes a transformation that does what `Dataset.map` and then `Dataset.batch` do.

    Args:
      map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls: as in `map_and_batch`.
    Reference: TensorFlow 2.21 `tf.compat.v1.data.experimental.map_and_batch_with_legacy_function`.
    """
    return map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls)
