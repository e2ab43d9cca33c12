"""Specs of data sets and of iterators over them."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.ir.shape import TensorShape


class DatasetSpec(TypeSpec):
    """The spec of a `Dataset`.

    Args:
      element_spec: specs of its elements, in their structure.
      dataset_shape: () for one data set.
    Reference: TensorFlow 2.21 `tf.data.DatasetSpec`.

    >>> tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
    """

    def __init__(self, element_spec: Any, dataset_shape: Any = ()):
        self._element_spec, self._dataset_shape = element_spec, TensorShape(dataset_shape)

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def value_type(self) -> Any:
        """`Dataset`."""
        from .dataset import Dataset  # which needs this module

        return Dataset

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """Returns the spec of a `Dataset`."""
        return DatasetSpec(value.element_spec)


class IteratorSpec(TypeSpec):
    """The spec of an iterator.

    Args:
      element_spec: specs of its elements, in their structure.
    Reference: TensorFlow 2.21 `tf.data.IteratorSpec`.
    """

    def __init__(self, element_spec: Any):
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def value_type(self) -> Any:
        """`tf.data.Iterator`."""
        from .eager_iterator import OwnedIterator

        return OwnedIterator

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @staticmethod
    def from_value(value: Any) -> IteratorSpec:
        """Returns the spec of a `Dataset`."""
        return IteratorSpec(value.element_spec)
