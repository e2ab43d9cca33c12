"""More of `tf.data.experimental`: transformations for `Dataset.apply`, and functions of data sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphgrad.errors import FailedPreconditionError, OutOfRangeError
from graphgrad.extras.data.optional import Optional
from graphgrad.ir.dtypes import bool_, int64
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.tensor import Tensor

from .data_structure import components, flatten, pack
from .dataset import Dataset
from .dataset_components import DatasetParts, specs_of
from .elements import Element, _runner, _symbolic, dataset_class, fixed, traced
from .passes import Values
from .values import computed

_Transformation = Callable[[Any], Dataset]


def _method(name: str, *args: Any) -> _Transformation:
    def apply(dataset: Any) -> Any:
        return getattr(dataset, name)(*args)

    return apply


def assert_cardinality(expected_cardinality: Any) -> _Transformation:
    """Makes a transformation that declares the number of elements of a data set.

    Args:
      expected_cardinality: the number.
    Raises: FailedPreconditionError when a pass finds more or fewer.
    Reference: TensorFlow 2.21 `tf.data.experimental.assert_cardinality`.
    """
    wanted = fixed(expected_cardinality, "expected_cardinality")

    def apply(dataset: Any) -> Any:
        def passes(given: Values) -> Iterator[Element]:
            count = 0
            for element in dataset._passes(given):
                count += 1
                if count > wanted >= 0:
                    raise _miscounted(wanted, f"at least {count}")
                yield element
            if count < wanted:
                raise _miscounted(wanted, f"only {count}")

        return dataset._then(passes, size=wanted)

    return apply


def _miscounted(wanted: int, found: str) -> FailedPreconditionError:
    return FailedPreconditionError(None, None, f"Input dataset was expected to contain {wanted} elements but contained "
                                   f"{found} elements. Fix: assert_cardinality with their number")


def bucket_by_sequence_length(element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any,
                              padded_shapes: Any = None, padding_values: Any = None,
                              pad_to_bucket_boundary: bool = False, no_padding: bool = False,
                              drop_remainder: bool = False) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.bucket_by_sequence_length` does.

    Args:
      element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder: as for `Dataset.apply`.
    Reference: TensorFlow 2.21 `tf.data.experimental.bucket_by_sequence_length`.
    """
    return _method("bucket_by_sequence_length", element_length_func, bucket_boundaries, bucket_batch_sizes,
                   padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder)


def group_by_window(key_func: Any, reduce_func: Any, window_size: Any = None,
                    window_size_func: Any = None) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.group_by_window` does.

    Args:
      key_func, reduce_func, window_size, window_size_func: as for `Dataset.apply`.
    Reference: TensorFlow 2.21 `tf.data.experimental.group_by_window`.
    """
    return _method("group_by_window", key_func, reduce_func, window_size, window_size_func)


class Reducer:
    """The functions with which `group_by_reducer` reduces a group to one element.

    Args:
      init_func: a function of the key that returns a state.
      reduce_func: a function of state and element that returns the next state.
      finalize_func: a function of the last state that returns the element.
    Reference: TensorFlow 2.21 `tf.data.experimental.Reducer`.
    """

    def __init__(self, init_func: Any, reduce_func: Any, finalize_func: Any):
        self.init_func, self.reduce_func, self.finalize_func = init_func, reduce_func, finalize_func


def group_by_reducer(key_func: Any, reducer: Any) -> _Transformation:
    """Makes a transformation to one element for each key, in the order of their first occurrence.

    Args:
      key_func: a function of an element that returns its key, a scalar int64.
      reducer: a `Reducer`.
    Raises: ValueError for keys of another kind.
    Reference: TensorFlow 2.21 `tf.data.experimental.group_by_reducer`.
    """

    def apply(dataset: Any) -> Any:
        from .combine import _check_key
        from .values import stepped

        keys = traced(key_func, dataset._specs)[0]
        _check_key(keys, "key_func")
        start, state = traced(reducer.init_func, Spec.of(int64, ()))
        states = pack(state, (t._spec for t in start.outputs))
        step, _, states = stepped(reducer.reduce_func, states, dataset._specs, False)
        end, result = traced(reducer.finalize_func, states)
        specs = pack(result, (t._spec for t in end.outputs))

        def passes(given: Values) -> Iterator[Element]:
            key_of, first, following, last = (_runner(g, given) for g in (keys, start, step, end))
            found: dict[int, Element] = {}
            for element in dataset._passes(given):
                key = int(key_of(element)[0])
                if key not in found:
                    found[key] = first([np.asarray(key, np.int64)])
                found[key] = following([*found[key], *element])
            return (last(s) for s in found.values())

        functions = keys, start, step, end
        return dataset._then(passes, specs, [t for g in functions for t in _symbolic(g)], functions=functions)

    return apply


def scan(initial_state: Any, scan_func: Any) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.scan` does.

    Args:
      initial_state, scan_func: as for `Dataset.apply`.
    Reference: TensorFlow 2.21 `tf.data.experimental.scan`.
    """
    return _method("scan", initial_state, scan_func)


def take_while(predicate: Any) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.take_while` does.

    Args:
      predicate: as for `Dataset.apply`.
    Reference: TensorFlow 2.21 `tf.data.experimental.take_while`.
    """
    return _method("take_while", predicate)


def unique() -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.unique` does.

    Reference: TensorFlow 2.21 `tf.data.experimental.unique`.
    """
    return _method("unique")


def ignore_errors(log_warning: bool = False) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.ignore_errors` does.

    Args:
      log_warning: as for `Dataset.apply`.
    Reference: TensorFlow 2.21 `tf.data.experimental.ignore_errors`.
    """
    return _method("ignore_errors", log_warning)


def dense_to_ragged_batch(batch_size: Any, drop_remainder: bool = False,
                          row_splits_dtype: Any = int64) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.ragged_batch` does.

    Args:
      batch_size, drop_remainder, row_splits_dtype: as for `Dataset.apply`.
    Reference: TensorFlow 2.21 `tf.data.experimental.dense_to_ragged_batch`.
    """
    return _method("ragged_batch", batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.sparse_batch` does.

    Args:
      batch_size, row_shape: as for `Dataset.apply`.
    Reference: TensorFlow 2.21 `tf.data.experimental.dense_to_sparse_batch`.
    """
    return _method("sparse_batch", batch_size, row_shape)


def rejection_resample(class_func: Any, target_dist: Any, initial_dist: Any = None,
                       seed: Any = None) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.rejection_resample` does.

    Args:
      class_func, target_dist, initial_dist, seed: as for `Dataset.apply`.
    Reference: TensorFlow 2.21 `tf.data.experimental.rejection_resample`.
    """
    return _method("rejection_resample", class_func, target_dist, initial_dist, seed)


def snapshot(path: str, compression: Any = "AUTO", reader_func: Any = None,
             shard_func: Any = None) -> _Transformation:
    """Makes a transformation for `Dataset.apply` that does what `Dataset.snapshot` does.

    Args:
      path, compression, reader_func, shard_func: as for `Dataset.apply`.
    Reference: TensorFlow 2.21 `tf.data.experimental.snapshot`.
    """
    return _method("snapshot", path, compression, reader_func, shard_func)


def copy_to_device(target_device: Any, source_device: str = "/cpu:0") -> _Transformation:
    """Makes a transformation that changes nothing: a run moves elements where it needs them.

    Args:
      target_device, source_device: accepted.
    Reference: TensorFlow 2.21 `tf.data.experimental.copy_to_device`.
    """
    return _method("prefetch", 0)


def prefetch_to_device(device: Any, buffer_size: Any = None) -> _Transformation:
    """Makes a transformation that changes nothing: a run moves elements where it needs them.

    Args:
      device, buffer_size: accepted.
    Reference: TensorFlow 2.21 `tf.data.experimental.prefetch_to_device`.
    """
    return _method("prefetch", buffer_size)


def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> _Transformation:
    """Makes a transformation that pads a data set of dictionaries with elements of zeros, and marks the others.

    Args:
      cardinality: the number of elements of the result.
      mask_key: the key of the mark, a bool.
    Raises: ValueError for a data set without a known number of elements, of more elements, or without dictionaries.
    Reference: TensorFlow 2.21 `tf.data.experimental.pad_to_cardinality`.
    """

    def apply(dataset: Any) -> Any:
        if dataset._size < 0 or dataset._size > cardinality:
            raise ValueError(f"The dataset passed into `pad_to_cardinality` has {dataset._size} elements, which must "
                             f"be known and at most {cardinality}. Fix: take() or assert_cardinality()")
        if not isinstance(dataset._specs, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        specs = {**dataset._specs, mask_key: Spec.of(bool_, ())}
        at = sorted(specs).index(mask_key)
        zeros = [np.zeros(s.shape, s.dtype.np_dtype) for s in flatten(dataset._specs)]

        def passes(given: Values) -> Iterator[Element]:
            rest = ([*zeros[:at], np.asarray(False), *zeros[at:]] for _ in range(cardinality - dataset._size))
            return itertools.chain(([*e[:at], np.asarray(True), *e[at:]] for e in dataset._passes(given)), rest)

        return dataset._then(passes, specs, size=cardinality)

    return apply


# -- functions of data sets ----------------------------------------------------------------


def cardinality(dataset: Any) -> Tensor:
    """Returns the number of elements of a data set, int64: -1 if it is infinite, -2 if it is not known.

    Args:
      dataset: the data set.
    Reference: TensorFlow 2.21 `tf.data.experimental.cardinality`.

    >>> sess.run(tf.data.experimental.cardinality(tf.data.Dataset.range(42)))
    np.int64(42)
    """
    return dataset.cardinality()


def counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:
    """Makes the data set of `Dataset.counter`.

    Args:
      start, step, dtype: as for `Dataset.counter`.
    Reference: TensorFlow 2.21 `tf.data.experimental.Counter`.
    """
    return Dataset.counter(start, step, dtype)


def random_dataset(seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Dataset:
    """Makes the data set of `Dataset.random`.

    Args:
      seed, rerandomize_each_iteration, name: as for `Dataset.random`.
    Reference: TensorFlow 2.21 `tf.data.experimental.RandomDataset`.
    """
    return Dataset.random(seed, rerandomize_each_iteration)


def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None,
                         stop_on_empty_dataset: bool = False) -> Dataset:
    """Makes the data set of `Dataset.sample_from_datasets`.

    Args:
      datasets, weights, seed, stop_on_empty_dataset: as for `Dataset.sample_from_datasets`.
    Reference: TensorFlow 2.21 `tf.data.experimental.sample_from_datasets`.
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False) -> Dataset:
    """Makes the data set of `Dataset.choose_from_datasets`.

    Args:
      datasets, choice_dataset, stop_on_empty_dataset: as for `Dataset.choose_from_datasets`.
    Reference: TensorFlow 2.21 `tf.data.experimental.choose_from_datasets`.
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def from_list(elements: Any, name: str | None = None) -> Dataset:
    """Makes a data set of the elements of a list, which have one structure, equal dtypes and shapes.

    Args:
      elements: the list.
      name: accepted.
    Raises: ValueError for an empty list, or elements that differ.
    Reference: TensorFlow 2.21 `tf.data.experimental.from_list`.

    >>> sess.run(tf.data.experimental.from_list([(1, "a"), (2, "b")]).make_one_shot_iterator().get_next())
    (np.int32(1), b'a')
    """
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    sets = [Dataset.from_tensors(e) for e in elements]
    for other in sets:
        if other.element_spec != sets[0].element_spec:
            raise ValueError(f"Invalid `elements`. They must be alike: {sets[0].element_spec} and "
                             f"{other.element_spec}. Fix: make them equal in dtype and shape")

    def passes(given: Values) -> Iterator[Element]:
        return itertools.chain.from_iterable(d._passes(given) for d in sets)

    return dataset_class()._of(sets[0]._specs, [t for d in sets for t in d._captured], passes, len(sets))


def at(dataset: Any, index: Any) -> Any:
    """Returns the element at a position.

    Args:
      dataset: the data set.
      index: the position, a number.
    Raises: OutOfRangeError if there is none.
    Reference: TensorFlow 2.21 `tf.data.experimental.at`.
    """
    place = fixed(index, "index")

    def compute(given: Values) -> Element:
        found = next(itertools.islice(dataset._passes(given), place, None), None) if place >= 0 else None
        if found is None:
            raise OutOfRangeError(None, None, f"Index out of range [0, {dataset._size}):{place}. "
                                  "Fix: a position below the cardinality")
        return found

    return computed(dataset._captured, compute, dataset._specs, None)


def get_structure(dataset_or_iterator: Any) -> Any:
    """Returns the `TypeSpec`s of the elements of a data set or iterator.

    Args:
      dataset_or_iterator: the data set or iterator.
    Raises: TypeError for anything else.
    Reference: TensorFlow 2.21 `tf.data.experimental.get_structure`.
    """
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError("Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or "
                        f"tf.data.Iterator object, but got {type(dataset_or_iterator)}.") from None


def get_next_as_optional(iterator: Any) -> Optional:
    """Returns the next element of an iterator as an `Optional`, which holds nothing after the last one.

    Args:
      iterator: the iterator.
    Reference: TensorFlow 2.21 `tf.data.experimental.get_next_as_optional`.
    """
    return iterator.get_next_as_optional()


def to_variant(dataset: Any) -> Tensor:
    """Converts a data set to a tensor of dtype variant.

    Args:
      dataset: the data set.
    Reference: TensorFlow 2.21 `tf.data.experimental.to_variant`.
    """
    return components((dataset,))[0].parts[0]


def from_variant(variant: Any, structure: Any) -> Dataset:
    """Converts a tensor of dtype variant to a data set.

    Args:
      variant: the result of `to_variant`.
      structure: the `TypeSpec`s of its elements.
    Reference: TensorFlow 2.21 `tf.data.experimental.from_variant`.

    >>> again = tf.data.experimental.from_variant(
    ...     tf.data.experimental.to_variant(tf.data.Dataset.range(3)), tf.TensorSpec([], tf.int64))
    >>> sess.run(again.reduce(tf.constant(0, tf.int64), lambda s, x: s + x))
    np.int64(3)
    """
    return DatasetParts.of(specs_of(structure)).made([variant])


def enable_debug_mode() -> None:
    """Does nothing: functions of data sets already run in NumPy, in the thread that requests an element.

    Reference: TensorFlow 2.21 `tf.data.experimental.enable_debug_mode`.
    """
