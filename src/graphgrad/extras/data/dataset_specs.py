"""Specs of data sets and of iterators over them."""

from __future__ import annotations

from typing import Any

from graphgrad.extras.ragged.ragged_spec import RaggedTensorSpec
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.sparse_spec import SparseTensorSpec
from graphgrad.frontend.structure.tensor_array_spec import TensorArraySpec
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.frontend.structure.type_spec_registry import register
from graphgrad.ir.dtypes import variant
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.shape import TensorShape

from .data_structure import arranged


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
        """Returns the spec of an iterator or a `Dataset`."""
        spec = IteratorSpec(value.element_spec)
        spec._specs = value._specs
        return spec

    _specs: Any = None  # a `Spec` for each leaf of the elements, where a value has said so

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], variant)]

    def _to_components(self, value: Any) -> Any:
        return value._parts()

    def _from_components(self, components: Any) -> Any:
        from .in_function import GivenIterator

        (handle,) = components
        if isinstance(handle, EagerTensor):
            return handle._value.item()
        specs = self._specs
        if specs is None:
            specs = arranged(self._element_spec, lambda s: Spec.of(s.dtype, s.shape._dims))
        return GivenIterator(handle, self._element_spec, specs)


@register("tf.NoneTensorSpec")
class NoneTensorSpec(TypeSpec):
    """The spec of None as an element of a data set."""

    value_type = type(None)

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    @property
    def _component_specs(self) -> Any:
        return []

    def _to_components(self, value: Any) -> Any:
        return []

    def _from_components(self, components: Any) -> None:
        return None


# -- names of `tf.data.experimental` of TensorFlow 1 ------------------------------------


def TensorStructure(dtype: Any, shape: Any) -> TensorSpec:
    """Makes `tf.TensorSpec(shape, dtype)`.

    Args:
      dtype, shape: as there.
    """
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: Any, shape: Any) -> SparseTensorSpec:
    """Makes `tf.SparseTensorSpec(shape, dtype)`.

    Args:
      dtype, shape: as there.
    """
    return SparseTensorSpec(shape, dtype)


def RaggedTensorStructure(dtype: Any, shape: Any, ragged_rank: Any) -> RaggedTensorSpec:
    """Makes `tf.RaggedTensorSpec(shape, dtype, ragged_rank)`.

    Args:
      dtype, shape, ragged_rank: as there.
    """
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def TensorArrayStructure(dtype: Any, element_shape: Any, dynamic_size: Any, infer_shape: Any) -> TensorArraySpec:
    """Makes `tf.TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)`.

    Args:
      dtype, element_shape, dynamic_size, infer_shape: as there.
    """
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
