"""`tf.TypeSpec`: the type of a value, known before the value. Base of `TensorSpec` and other specs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.ir.dtypes import DType, as_dtype, float32
from graphgrad.ir.shape import TensorShape, as_shape
from graphgrad.ops.array.fill import zeros


class TypeSpec:
    """The static type of a value; base of `TensorSpec`, `RaggedTensorSpec` and others.

    Reference: TensorFlow 2.21 `tf.TypeSpec`.

    >>> spec = tf.SparseTensorSpec([None, 3], tf.int32)
    >>> isinstance(spec, tf.TypeSpec), spec.is_compatible_with(tf.sparse.from_dense([[1, 0, 2]]))
    (True, True)
    """

    _of_fields = False  # whether it is that of an extension type

    @property
    def value_type(self) -> Any:
        """The Python class of such values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def _serialize(self) -> tuple[Any, ...]:
        """Returns the fields of the spec, on which equality, hash and text are based."""
        raise NotImplementedError("Please implement _serialize() in a subclass of TypeSpec.")

    def _call_key(self) -> Any:
        """Returns the key of such a value among the arguments of a call."""
        return type(self), self._generic()

    def _generic(self) -> Any:
        """Returns the most general spec that shares a trace with this one."""
        return self

    def _by_components(self) -> Any:
        """Returns the spec as far as the components determine it."""
        return self

    def _for_shape(self, shape: TensorShape) -> Any:
        """Returns the spec for a shape among the shape invariants of a loop."""
        raise ValueError(f"a shape cannot tell what varies of a {self.value_type.__name__}: {shape}. "
                         f"Fix: give a tf.{type(self).__name__} among shape_invariants")

    def _invariant(self, value: Any, given: Any) -> Any:
        """Returns the spec that holds in every iteration of a loop, of a loop variable that has this one at first.

        Args:
          value: the loop variable.
          given: the shape or spec among the shape invariants; None for none.
        """
        if given is None:
            return self._by_components()
        if not isinstance(given, TypeSpec):
            return self._for_shape(TensorShape(given))
        if not given.is_compatible_with(value):
            raise TypeError(f"TypeSpec {given} is not compatible with {value}. Fix: give a spec of its kind and dtype")
        return given

    def _nothing_like(self, parts: Sequence[Any]) -> Any:
        """Makes a value that replaces one that is never read.

        Args:
          parts: the tensors of that one.
        """
        nothing = [zeros([d or 0 for d in as_shape(t.shape) or ()], t.dtype) for t in parts]
        return self._by_components()._from_tensor_list(nothing)

    @property
    def _component_specs(self) -> Any:
        """Returns the specs of the components."""
        raise NotImplementedError(f"{type(self).__name__}._component_specs")

    def _to_components(self, value: Any) -> Any:
        """Returns the components of a value."""
        raise NotImplementedError(f"{type(self).__name__}._to_components")

    def _from_components(self, components: Any) -> Any:
        """Builds the value from its components."""
        raise NotImplementedError(f"{type(self).__name__}._from_components")

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        """Returns the specs of the tensors that a value is passed as."""
        from . import nest  # which needs this module

        return nest.flatten(self._component_specs, expand_composites=True)

    def _to_tensor_list(self, value: Any) -> list[Any]:
        """Returns the tensors that a value is passed as."""
        from . import nest

        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        """Inverts `_to_tensor_list`."""
        from . import nest

        return self._from_components(
            nest.pack_sequence_as(self._component_specs, tensor_list, expand_composites=True))

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        return self._from_tensor_list(tensor_list)

    def _with_tensor_ranks_only(self) -> Any:
        """Returns a spec with unknown sizes in place of those here; the ranks stay."""
        return self._deserialize(_in_parts(self._serialize(), _rank_only))

    def _without_tensor_names(self) -> Any:
        """Returns a spec without names of tensors."""
        return self._deserialize(_in_parts(self._serialize(), _nameless))

    def _of_value(self, value: Any) -> Any:
        """Returns the spec of a value, or a spec itself; None for anything else."""
        from .composite_specs import spec_of

        return value if isinstance(value, TypeSpec) else spec_of(value)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether a value, or another spec, is compatible: the same kind and dtypes, and compatible shapes."""
        other = self._of_value(spec_or_value)
        if type(other) is not type(self):
            return False
        mine, theirs = self._serialize(), other._serialize()
        return len(mine) == len(theirs) and all(map(_compatible, mine, theirs))

    def is_subtype_of(self, other: Any) -> bool:
        """Returns whether every value of this spec is one of another's.

        Args:
          other: a spec.
        """
        if type(other) is not type(self):
            return False
        mine, theirs = self._serialize(), other._serialize()
        return len(mine) == len(theirs) and all(map(_within, mine, theirs))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """Returns the narrowest spec that this one and others are subtypes of; None if there is none.

        Args:
          others: specs.
        """
        parts = self._serialize()
        for other in others:
            if type(other) is not type(self) or len(other._serialize()) != len(parts):
                return None
            joined = tuple(map(_joined, parts, other._serialize()))
            if any(j is NotImplemented for j in joined):
                return None
            parts = joined
        return self._deserialize(parts)

    def most_specific_compatible_type(self, other: Any) -> Any:
        """Returns the narrowest spec that this one and another are subtypes of.

        Args:
          other: a spec.
        Raises: ValueError if there is none.
        """
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}. "
                             "Fix: give specs of one kind and dtype")
        return found

    # Private names that specs of libraries call by `_TypeSpec__...`.

    def __make_cmp_key(self, value: Any) -> Any:
        """Returns a key, hashable, for what a spec consists of."""
        if isinstance(value, dict):
            return tuple([(self.__make_cmp_key(k), self.__make_cmp_key(value[k])) for k in sorted(value)])
        if isinstance(value, (tuple, list)):
            parts = tuple(map(self.__make_cmp_key, value))
            return parts if isinstance(value, tuple) else (list, parts)
        return (np.ndarray, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value

    @staticmethod
    def __is_compatible(a: Any, b: Any) -> bool:
        """Returns whether two serializations are compatible: of the same types, and compatible where shapes are."""
        return (isinstance(a, TypeSpec) or type(a) is type(b)) and _compatible(a, b)

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Any:
        return cls(*serialization)

    def __eq__(self, other: object) -> bool:
        # Silenced: `other` is of the same type.
        return type(other) is type(self) and self._serialize() == other._serialize()

    def __hash__(self) -> int:
        return hash((type(self), tuple(map(_hashable, self._serialize()))))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


class DenseSpec(TypeSpec):
    """The spec of what has a shape, a dtype and perhaps a name; base of `TensorSpec`.

    Args:
      shape: the static shape; None dimensions may vary.
      dtype: the dtype.
      name: the name, or None.
    """

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None):
        self._shape: Any = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape(self._shape)

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    @property
    def _component_specs(self) -> Any:
        return self

    def _serialize(self) -> tuple[Any, ...]:
        return TensorShape(self._shape), self._dtype, self._name

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether a value, or another dense spec, has this dtype and a compatible shape."""
        other = spec_or_value
        if not isinstance(other, (DenseSpec, self.value_type)):
            return False
        return self._dtype.is_compatible_with(other.dtype) and self.shape.is_compatible_with(other.shape)


class BatchableTypeSpec(TypeSpec):
    """A spec that libraries derive theirs from, of values that can be batched component by component."""

    def _batch(self, batch_size: Any) -> Any:
        """Returns the spec of a batch of such values.

        Args:
          batch_size: the number of values, or None.
        """
        raise NotImplementedError(f"{type(self).__name__}._batch")

    def _unbatch(self) -> Any:
        """Returns the spec of one value of a batch."""
        raise NotImplementedError(f"{type(self).__name__}._unbatch")


def _in_parts(parts: Any, change: Any) -> Any:
    """Applies a function to the specs and shapes in a serialization."""
    if isinstance(parts, (TypeSpec, TensorShape)):
        return change(parts)
    if isinstance(parts, dict):
        return {k: _in_parts(v, change) for k, v in parts.items()}
    if isinstance(parts, (tuple, list)):
        found = [_in_parts(p, change) for p in parts]
        return type(parts)(*found) if hasattr(parts, "_fields") else type(parts)(found)
    return parts


def _rank_only(part: Any) -> Any:
    if isinstance(part, TypeSpec):
        return part._with_tensor_ranks_only()
    return part if part.rank is None else TensorShape([None] * part.rank)


def _nameless(part: Any) -> Any:
    return part._without_tensor_names() if isinstance(part, TypeSpec) else part


def _hashable(part: Any) -> Any:
    if isinstance(part, tuple):
        return tuple(map(_hashable, part))
    return repr(part) if isinstance(part, (TensorShape, dict, list)) else part


def _each(part: Any) -> list[Any] | None:
    """Returns the values of a structure; None for anything else."""
    if isinstance(part, dict):
        return [part[k] for k in sorted(part)]
    return list(part) if isinstance(part, (tuple, list)) else None


def _compatible(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, TensorShape) and isinstance(theirs, TensorShape):
        return mine.is_compatible_with(theirs)
    if isinstance(mine, TypeSpec):
        return mine.is_compatible_with(theirs)
    inner, others = _each(mine), _each(theirs)
    if inner is not None and others is not None:
        return len(inner) == len(others) and all(map(_compatible, inner, others))
    return bool(mine == theirs)


def _within(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, TensorShape) and isinstance(theirs, TensorShape):
        return theirs.rank is None or (mine.rank == theirs.rank and all(
            b is None or a == b for a, b in zip(mine.as_list(), theirs.as_list())))
    if isinstance(mine, TypeSpec):
        return mine.is_subtype_of(theirs)
    inner, others = _each(mine), _each(theirs)
    if inner is not None and others is not None:
        return len(inner) == len(others) and all(map(_within, inner, others))
    return bool(mine == theirs)


def _joined(mine: Any, theirs: Any) -> Any:
    if isinstance(mine, TensorShape) and isinstance(theirs, TensorShape):
        if mine.rank is None or mine.rank != theirs.rank:
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(mine.as_list(), theirs.as_list())])
    if isinstance(mine, TypeSpec):
        found = mine.most_specific_common_supertype([theirs])
        return NotImplemented if found is None else found
    if isinstance(mine, DType) or not isinstance(mine, (tuple, list)):
        return mine if mine == theirs else NotImplemented
    if not isinstance(theirs, (tuple, list)) or len(mine) != len(theirs):
        return NotImplemented
    parts = [_joined(a, b) for a, b in zip(mine, theirs)]
    return NotImplemented if any(p is NotImplemented for p in parts) else type(mine)(parts)
