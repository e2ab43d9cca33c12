"""Components of elements that consist of several arrays: sparse tensors, ragged tensors, data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.extras.ragged.ragged_tensor import RaggedTensor
from graphgrad.extras.ragged.row_partitions import RaggedTensorValue
from graphgrad.frontend.structure.composites import component_specs
from graphgrad.frontend.structure.nest import is_composite_spec
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.ir.dtypes import int64, variant
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.shape import Shape, TensorShape, as_shape, relax
from graphgrad.ir.values.composite import Composite, SparseTensorValue, is_of_parts
from graphgrad.ops.common.sparse_tensor import SparseTensor

from .data_structure import Parts, arranged, takers


def _spec(value: Any) -> Spec:
    # Silenced: a spec is untyped here.
    return value if isinstance(value, Spec) else value._spec


class SparseParts(Parts):
    """A sparse tensor: indices, values, dense shape.

    Args:
      parts: the leaves.
      shape: the static shape.
    """

    def __init__(self, parts: Any, shape: Shape):
        super().__init__(parts)
        self.shape = shape

    @classmethod
    def of(cls, dtype: Any, shape: Shape) -> SparseParts:
        """Makes the component for tensors of this dtype and shape."""
        rank = None if shape is None else len(shape)
        return cls([Spec.of(int64, (None, rank)), Spec.of(dtype, (None,)), Spec.of(int64, (rank,))], shape)

    def _like(self, parts: list[Any]) -> Any:
        return SparseParts(parts, self.shape)

    def _value(self, parts: list[Any]) -> Any:
        if not isinstance(parts[0], (Tensor, EagerTensor)):
            return SparseTensorValue(*parts)
        made = SparseTensor(*parts)
        if self.shape is not None:
            made.set_shape(self.shape)
        return made

    def spec(self) -> Any:
        """Returns its `TypeSpec`."""
        from graphgrad.frontend.structure.sparse_spec import SparseTensorSpec

        return SparseTensorSpec(self.shape, _spec(self.parts[1]).dtype)

    def batched(self, rows: Any) -> SparseParts:
        """Returns the component of batches."""
        shape = None if self.shape is None else (rows, *self.shape)
        return SparseParts.of(_spec(self.parts[1]).dtype, shape)

    def join(self, elements: Sequence[Sequence[Any]]) -> list[Any]:
        """Joins elements' arrays to those of a batch."""
        shapes = np.array([e[2] for e in elements], np.int64)
        indices = [np.concatenate([np.full((len(e[0]), 1), i, np.int64), e[0]], 1) for i, e in enumerate(elements)]
        shape = np.concatenate([[len(elements)], shapes.max(0)]).astype(np.int64)
        return [np.concatenate(indices), np.concatenate([e[1] for e in elements]), shape]

    def rows(self, arrays: Sequence[Any]) -> Any:
        """Splits arrays into those of each row."""
        indices, values, shape = arrays
        for i in range(int(shape[0])):
            mine = indices[:, 0] == i
            yield [indices[mine][:, 1:], values[mine], shape[1:]]

    def row(self) -> SparseParts:
        """Returns the component of rows."""
        shape = None if self.shape is None else self.shape[1:]
        return SparseParts.of(_spec(self.parts[1]).dtype, shape)


class RaggedParts(Parts):
    """A ragged tensor: its flat values, and the splits of each ragged axis, the outermost first; or no splits.

    Args:
      parts: the leaves.
      shape: the static shape.
      splits_dtype: the dtype of splits.
    """

    def __init__(self, parts: Any, shape: Shape, splits_dtype: Any = int64):
        super().__init__(parts)
        self.shape, self.splits_dtype = shape, splits_dtype

    @classmethod
    def of(cls, dtype: Any, shape: Shape, ragged_rank: int, splits_dtype: Any = int64) -> RaggedParts:
        """Makes the component for tensors of this dtype and shape."""
        inner: Shape = None
        if shape is not None:
            inner = (None, *shape[ragged_rank + 1 :]) if ragged_rank else shape
        splits = [Spec.of(splits_dtype, (None,)) for _ in range(ragged_rank)]
        return cls([Spec.of(dtype, inner), *splits], shape, splits_dtype)

    def _like(self, parts: list[Any]) -> Any:
        return RaggedParts(parts, self.shape, self.splits_dtype)

    def _value(self, parts: list[Any]) -> Any:
        values, splits = parts[0], parts[1:]
        if not splits or isinstance(values, (Tensor, EagerTensor)):
            return RaggedTensor.from_nested_row_splits(values, splits, validate=False) if splits else values
        for s in reversed(splits):
            values = RaggedTensorValue(values, s)
        return values

    def spec(self) -> Any:
        """Returns its `TypeSpec`."""
        from graphgrad.extras.ragged.ragged_spec import RaggedTensorSpec

        dtype = _spec(self.parts[0]).dtype
        return RaggedTensorSpec(self.shape, dtype, len(self.parts) - 1, self.splits_dtype)

    def batched(self, rows: Any) -> RaggedParts:
        """Returns the component of batches."""
        shape = None if self.shape is None else (rows, *self.shape)
        return RaggedParts.of(_spec(self.parts[0]).dtype, shape, len(self.parts), self.splits_dtype)

    def join(self, elements: Sequence[Sequence[Any]]) -> list[Any]:
        """Joins elements' arrays to those of a batch."""
        kind = self.splits_dtype.np_dtype
        outer = [len(e[1]) - 1 if len(e) > 1 else len(e[0]) for e in elements]
        splits = [np.concatenate([[0], np.cumsum(outer)]).astype(kind)]
        for axis in range(1, len(self.parts)):
            lengths = np.concatenate([np.diff(e[axis]) for e in elements])
            splits.append(np.concatenate([[0], np.cumsum(lengths)]).astype(kind))
        sizes = {e[0].shape[1:] for e in elements}
        if len(sizes) > 1:
            raise InvalidArgumentError(None, None, "Cannot batch ragged tensors whose inner shapes differ: "
                                       f"{sorted(sizes)}. Fix: make them equal in map()")
        return [np.concatenate([e[0] for e in elements]), *splits]

    def rows(self, arrays: Sequence[Any]) -> Any:
        """Splits arrays into those of each row."""
        values, *splits = arrays
        for a, b in zip(splits[0][:-1], splits[0][1:]):
            inner = []
            for s in splits[1:]:
                inner.append(s[a : b + 1] - s[a])
                a, b = s[a], s[b]
            yield [values[a:b], *inner]

    def row(self) -> RaggedParts:
        """Returns the component of rows."""
        shape = None if self.shape is None else self.shape[1:]
        return RaggedParts.of(_spec(self.parts[0]).dtype, shape, len(self.parts) - 2, self.splits_dtype)


class CompositeParts(Parts):
    """A composite that knows nothing of batches: its components.

    Args:
      parts: the leaves.
      type_spec: its spec.
    """

    def __init__(self, parts: Any, type_spec: Any):
        super().__init__(parts)
        self.type_spec = type_spec

    @classmethod
    def of(cls, type_spec: Any) -> CompositeParts:
        """Makes the component for composites of this spec."""
        return cls([Spec.of(s.dtype, as_shape(s.shape)) for s in component_specs(type_spec)], type_spec)

    def _like(self, parts: list[Any]) -> Any:
        return CompositeParts(parts, self.type_spec)

    def _value(self, parts: list[Any]) -> Any:
        return self.type_spec._from_tensor_list(parts)

    def spec(self) -> Any:
        """Returns its `TypeSpec`."""
        return self.type_spec

    def batched(self, rows: Any) -> Any:
        """Raises TypeError: the composite does not define its batches."""
        raise TypeError(f"{self.type_spec} has no batches. Fix: batch its components, and make composites of them in "
                        "map()")

    def row(self) -> Any:
        """Raises TypeError: the composite does not define its rows."""
        raise TypeError(f"{self.type_spec} has no rows. Fix: Dataset.from_tensors, or slices of its components")


class NoneParts(Parts):
    """None as a component: it has no leaves, and stands for itself among specs, too."""

    def __init__(self) -> None:
        super().__init__([])

    def made(self, parts: Any) -> None:
        """Returns None."""
        return None

    def spec(self) -> Any:
        """Returns its `TypeSpec`."""
        from .dataset_specs import NoneTensorSpec

        return NoneTensorSpec()

    def batched(self, rows: Any) -> None:
        """Returns the component of batches: None."""
        return None

    def row(self) -> None:
        """Returns the component of rows: None."""
        return None

    def join(self, elements: Any) -> list[Any]:
        """Returns the arrays of a batch: none."""
        return []


class Held:
    """The elements of a data set that is itself an element.

    Args:
      elements: lists of arrays.
    """

    def __init__(self, elements: Any):
        self.elements = elements


class DatasetParts(Parts):
    """A data set as a component: a window of another one.

    Args:
      parts: one leaf, a variant.
      specs: what its elements are.
    """

    def __init__(self, parts: Any, specs: Any):
        super().__init__(parts)
        self.specs = specs

    @classmethod
    def of(cls, specs: Any) -> DatasetParts:
        """Makes the component for data sets with such elements."""
        return cls([Spec.of(variant, ())], specs)

    def _like(self, parts: list[Any]) -> Any:
        return DatasetParts(parts, self.specs)

    def _value(self, parts: list[Any]) -> Any:
        from .dataset import Dataset
        from .dataset_base import UNKNOWN
        from .graph_iterator import DatasetV1

        (held,) = parts
        if isinstance(held, Tensor):
            made = Dataset._of(self.specs, [held], lambda given: iter(given[id(held)].item().elements))
            return made._as("", held)
        elements = (held._value if isinstance(held, EagerTensor) else held).item().elements
        kind = Dataset if isinstance(held, EagerTensor) else DatasetV1
        size = len(elements) if hasattr(elements, "__len__") else UNKNOWN
        return kind._of(self.specs, [], lambda given: iter(elements), size)

    def spec(self) -> Any:
        """Returns its `TypeSpec`."""
        from .dataset_specs import DatasetSpec

        return DatasetSpec(element_spec(self.specs))

    def batched(self, rows: Any) -> Any:
        """Raises TypeError: data sets cannot be batched."""
        raise TypeError("data sets cannot be batched. Fix: make tensors of them with flat_map or get_single_element")


def held(elements: Any) -> Any:
    """Returns the leaf of a data set with these elements."""
    leaf = np.empty((), object)
    leaf[()] = Held(elements)
    return leaf


def element_spec(specs: Any) -> Any:
    """Converts components to `TypeSpec`s."""
    return arranged(specs, _component_spec)


def _component_spec(component: Any) -> Any:
    return component.spec() if isinstance(component, Parts) else TensorSpec(component.shape, component.dtype)


def specs_of(type_specs: Any) -> Any:
    """Reverses `element_spec`."""
    return arranged(type_specs, _from_type_spec)


def _from_type_spec(spec: Any) -> Any:
    from graphgrad.extras.ragged.ragged_spec import RaggedTensorSpec
    from graphgrad.frontend.structure.sparse_spec import SparseTensorSpec

    from .dataset_specs import DatasetSpec, NoneTensorSpec

    if isinstance(spec, NoneTensorSpec):
        return None
    if isinstance(spec, SparseTensorSpec):
        return SparseParts.of(spec.dtype, as_shape(spec.shape))
    if isinstance(spec, RaggedTensorSpec):
        return RaggedParts.of(spec.dtype, as_shape(spec.shape), spec.ragged_rank, spec.row_splits_dtype)
    if isinstance(spec, DatasetSpec):
        return DatasetParts.of(specs_of(spec.element_spec))
    if is_composite_spec(spec):
        return CompositeParts.of(spec)
    return Spec.of(spec.dtype, as_shape(spec.shape))


def common(mine: Any, theirs: Any) -> Any:
    """Merges the components of two data sets; raises TypeError for different dtypes."""
    a, b = _component_spec(mine), _component_spec(theirs)
    if type(a) is not type(b) or getattr(a, "dtype", None) is not getattr(b, "dtype", None):
        raise TypeError(f"Data sets of {_name(a)} and of {_name(b)} cannot be concatenated. Fix: tf.cast")
    if not isinstance(mine, Parts):
        return Spec.of(mine.dtype, relax(mine.shape, theirs.shape))
    joined = a.most_specific_common_supertype([b])
    if joined is None:
        raise TypeError(f"Data sets of {a} and of {b} cannot be concatenated. Fix: make their elements alike")
    return _from_type_spec(joined)


def _name(spec: Any) -> str:
    return spec.dtype.name if isinstance(spec, TensorSpec) else repr(spec)


def _sparse(value: SparseTensor) -> Parts:
    return SparseParts([value.indices, value.values, value.dense_shape], as_shape(value.shape))


def _sparse_value(value: Any) -> Parts:
    return _sparse(SparseTensor.from_value(value))


def _ragged(value: RaggedTensor) -> Parts:
    splits = value.nested_row_splits
    return RaggedParts([value.flat_values, *splits], as_shape(value.shape), splits[0].dtype)


def _ragged_value(value: RaggedTensorValue) -> Parts:
    shape: list[Any] = [len(value.row_splits) - 1, *[None] * value.ragged_rank, *value.flat_values.shape[1:]]
    return RaggedParts([value.flat_values, *value.nested_row_splits], as_shape(TensorShape(shape)))


def _composite(value: Composite) -> Any:
    return CompositeParts(value._parts(), value._whole_spec) if is_of_parts(value) else value


takers.update({Composite: _composite, SparseTensor: _sparse, SparseTensorValue: _sparse_value, RaggedTensor: _ragged,
               RaggedTensorValue: _ragged_value, type(None): lambda value: NoneParts()})
