"""`tf.data.Dataset`; its methods are in the modules named there."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from graphgrad.frontend.function.autograph.loop_sources import LoopElements, LoopSource
from graphgrad.frontend.structure.structure_types import R
from graphgrad.ir import context
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.composite import register_spec

from . import batches, combine, dataset_options, mapping, order, sources, stored, values
from .data_structure import Parts, takers
from .dataset_base import INFINITE, UNKNOWN, DatasetBase, handles
from .dataset_components import DatasetParts, Held
from .dataset_specs import DatasetSpec
from .elements import Element


class Dataset(LoopSource, DatasetBase):
    """A sequence of elements: tuples, dictionaries or single arrays.

    Reference: TensorFlow 2.21 `tf.data.Dataset`.

    >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2, 3], ["a", "b", "c"])).repeat(2).batch(4)
    >>> numbers, letters = dataset.make_one_shot_iterator().get_next()
    >>> sess.run([numbers, letters])
    [array([1, 2, 3, 1], dtype=int32), array([b'a', b'b', b'c', b'a'], dtype=object)]
    """

    def __init__(self, variant_tensor: Any):
        raise TypeError("A Dataset is made by from_tensor_slices, from_tensors, from_generator or range.")

    def __iter__(self) -> Iterator[Any]:
        graph = context.current_graph()
        if graph is not None and graph.building_function:
            from .in_function import GraphIterator

            return GraphIterator(self)
        if graph is not None:
            raise RuntimeError("`tf.data.Dataset` only supports Python-style iteration in eager mode or within "
                               "tf.function. Fix: make_one_shot_iterator().get_next()")
        from .eager_iterator import OwnedIterator

        return OwnedIterator(self)

    def _loop_elements(self) -> LoopElements:
        from .in_function import Elements

        return Elements(self)

    def __len__(self) -> int:
        if self._size == INFINITE:
            raise TypeError("The dataset is infinite. Fix: take(count)")
        if self._size == UNKNOWN:
            raise TypeError("The dataset length is unknown. Fix: count its elements with reduce()")
        return self._size

    def __bool__(self) -> bool:
        return True

    def apply(self, transformation_func: Callable[[Self], R]) -> R:
        """Applies a function to the data set."""
        return transformation_func(self)

    # -- sources, and what is made of several data sets -------------------------------

    if TYPE_CHECKING:  # that they return an object of the class that they are asked of cannot be told there
        @classmethod
        def from_tensors(cls, tensors: Any, name: str | None = None) -> Self: ...
        @classmethod
        def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Self: ...
        @classmethod
        def from_generator(cls, generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None,
                           output_signature: Any = None, name: str | None = None) -> Self: ...
        @classmethod
        def range(cls, *args: Any, **kwargs: Any) -> Self: ...
        @classmethod
        def list_files(cls, file_pattern: Any, shuffle: Any = None, seed: Any = None,
                       name: str | None = None) -> Self: ...
        @classmethod
        def counter(cls, start: Any = 0, step: Any = 1, dtype: Any = ..., name: str | None = None) -> Self: ...
        @classmethod
        def random(cls, seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Self: ...
        @classmethod
        def load(cls, path: str, element_spec: Any = None, compression: Any = None, reader_func: Any = None,
                 wait: bool = False) -> Self: ...
        @classmethod
        def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Self: ...
        @classmethod
        def sample_from_datasets(cls, datasets: Any, weights: Any = None, seed: Any = None,
                                 stop_on_empty_dataset: bool = False,
                                 rerandomize_each_iteration: Any = None) -> Self: ...
        @classmethod
        def choose_from_datasets(cls, datasets: Any, choice_dataset: Any,
                                 stop_on_empty_dataset: bool = True) -> Self: ...
    else:
        from_tensors = classmethod(sources.from_tensors)
        from_tensor_slices = classmethod(sources.from_tensor_slices)
        from_generator = classmethod(sources.from_generator)
        range = classmethod(sources.range_)
        list_files = classmethod(sources.list_files)
        counter = staticmethod(sources.counter)
        random = staticmethod(sources.random)
        load = staticmethod(stored.load)
        zip = classmethod(combine.zip_)
        sample_from_datasets = staticmethod(combine.sample_from_datasets)
        choose_from_datasets = staticmethod(combine.choose_from_datasets)

    concatenate = combine.concatenate

    # -- by functions of the elements --------------------------------------------------

    map = mapping.map_
    filter = mapping.filter_
    flat_map = mapping.flat_map
    interleave = mapping.interleave
    enumerate = mapping.enumerate_
    scan = mapping.scan
    take_while = mapping.take_while
    unique = mapping.unique
    ignore_errors = mapping.ignore_errors
    group_by_window = combine.group_by_window
    bucket_by_sequence_length = combine.bucket_by_sequence_length
    rejection_resample = combine.rejection_resample

    # -- batches -----------------------------------------------------------------------

    batch = batches.batch
    unbatch = batches.unbatch
    padded_batch = batches.padded_batch
    rebatch = batches.rebatch
    ragged_batch = batches.ragged_batch
    sparse_batch = batches.sparse_batch
    window = batches.window

    # -- order -------------------------------------------------------------------------

    shuffle = order.shuffle
    repeat = order.repeat
    take = order.take
    skip = order.skip
    shard = order.shard
    prefetch = order.prefetch

    # -- kept elements, options --------------------------------------------------------

    cache = stored.cache
    snapshot = stored.snapshot
    save = stored.save
    with_options = dataset_options.with_options
    options = dataset_options.options

    # -- values ------------------------------------------------------------------------

    reduce = values.reduce
    get_single_element = values.get_single_element
    as_numpy_iterator = values.as_numpy_iterator
    cardinality = values.cardinality
    fingerprint = values.fingerprint


for _name, _method in list(vars(Dataset).items()):  # so that errors call it by its name
    _function = getattr(_method, "__func__", _method)
    if inspect.isfunction(_function):
        _function.__name__, _function.__qualname__ = _name, f"Dataset.{_name}"


class _Again:
    """The elements of a data set, from the beginning at each pass.

    Args:
      dataset: the data set.
      captured: the values that it needs.
    """

    def __init__(self, dataset: Any, captured: Sequence[Any]):
        self._dataset, self._captured = dataset, captured

    def __iter__(self) -> Iterator[Element]:
        return self._dataset._start(self._captured)


class _OfValues:
    """Makes a data set a value, given the values that it needs.

    Args:
      dataset: the data set.
    """

    def __init__(self, dataset: Any):
        self.dataset = dataset

    def __call__(self, captured: Sequence[Any]) -> Any:
        leaf = np.empty((), object)
        leaf[()] = Held(_Again(self.dataset, captured[: len(self.dataset._captured)]))
        return leaf


def _as_value(dataset: Dataset) -> Parts:
    """Converts a data set to a component of elements."""
    given = [*dataset._captured, *handles(dataset)]
    return DatasetParts([raw.DatasetVariant(given, of_values=_OfValues(dataset))], dataset._specs)


takers[Dataset] = _as_value


register_spec(Dataset, DatasetSpec.from_value)
