"""What a call is recognised by: specs of tensors, values of everything else."""

from __future__ import annotations

import copy
import inspect
import weakref
from typing import Any

from ..ir import dtypes
from ..ir.dtypes import DType, as_dtype
from ..ir.eager import EagerTensor
from ..ir.graph import Tensor
from ..ir.shape import Shape, TensorShape, as_shape, compatible, relax, shape_str
from ..ops.sparse import SparseTensor
from . import nest


class TypeSpec:
    """What kind of value an argument is: the base of `TensorSpec` and its relatives.

    Reference: TensorFlow 2.21 `tf.TypeSpec`.

    >>> isinstance(tf.TensorSpec([2]), tf.TypeSpec)
    True
    """

    @property
    def value_type(self) -> type:
        """The class of the values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or another spec, is of this kind."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            try:
                other = self.from_value(other)  # type: ignore[attr-defined]  # each subclass has one
            except (AttributeError, TypeError):
                return False
        return type(self) is type(other) and self._fits(other)

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The narrowest spec that covers this one and another; ValueError if there is none."""
        if self == other:
            return self
        made: Any = copy.copy(self)
        if type(made) is not type(other) or not hasattr(made, "_shape") or self._key()[1:] != other._key()[1:]:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}. Fix: use one kind of values")
        made._shape = relax(made._shape, other._shape)
        return made

    def _key(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._key")

    def _call_key(self) -> Any:
        """What `leaf_key` gives for a value of this kind."""
        return type(self), self._key()

    def _fits(self, other: Any) -> bool:
        raise NotImplementedError(f"{type(self).__name__}._fits")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, TypeSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class TensorSpec(TypeSpec):
    """Shape, dtype and name of a tensor argument.

    Args:
      shape: the static shape; None dimensions may vary between calls.
      dtype: the dtype.
      name: the argument's name.
    """

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None):
        self._shape: Shape = as_shape(shape)
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
        """The argument's name, or None."""
        return self._name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    @property
    def value_type(self) -> type:
        """`Tensor`."""
        return Tensor

    def _key(self) -> Any:
        return self._shape, self._dtype

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor (or another spec) is of this dtype and a shape that fits."""
        other = spec_or_tensor
        return as_dtype(other.dtype) is self._dtype and compatible(self._shape, as_shape(other.shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self._shape, self._dtype) == (other._shape, other._dtype)

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={shape_str(self._shape)}, dtype={self._dtype!r}, name={self._name!r})"


class _Object:
    """Stands for an object in a key, without keeping it alive."""

    __slots__ = ("_hash", "_ref")

    def __init__(self, value: Any):
        self._hash = id(value) if hasattr(type(value), "handle") else hash(value)
        self._ref = weakref.ref(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Object):
            return False
        mine, theirs = self._ref(), other._ref()
        if mine is None or theirs is None:
            return self is other
        return mine is theirs or (not hasattr(type(mine), "handle") and type(mine) is type(theirs) and mine == theirs)


def structure_key(structure: Any) -> Any:
    """A hashable key for how a structure is nested."""
    if isinstance(structure, dict):
        return ("dict", *[(k, structure_key(structure[k])) for k in sorted(structure)])
    if isinstance(structure, (list, tuple)):
        return (type(structure), *map(structure_key, structure))
    return None


def leaf_key(leaf: Any, spec: Any = None) -> Any:
    """What a leaf of the arguments is recognised by.

    Args:
      leaf: a tensor (by dtype and shape), a spec, or anything else (by value, objects by `==` as long as they live).
      spec: the spec that an input signature demands, or None.
    Raises: TypeError for what cannot be hashed.
    """
    if isinstance(spec, TensorSpec):
        return "tensor", spec._dtype, spec._shape
    if isinstance(leaf, EagerTensor):
        return "tensor", leaf.dtype, leaf._value.shape
    if isinstance(leaf, TensorSpec):
        return "tensor", leaf._dtype, leaf._shape
    if isinstance(leaf, Tensor):
        return "tensor", leaf.dtype, leaf._spec.shape
    if isinstance(leaf, SparseTensor):
        return "sparse", leaf.dtype, leaf.dense_shape._spec.shape
    if hasattr(leaf, "nested_row_splits"):
        return "ragged", leaf.dtype, leaf.ragged_rank, leaf.row_splits.dtype, leaf.flat_values._spec.shape[1:]
    if isinstance(leaf, TypeSpec):
        return leaf._call_key()
    try:
        return type(leaf), _Object(leaf)
    except TypeError:  # nothing refers weakly to numbers, strings and their like
        pass
    try:
        hash(leaf)
    except TypeError:
        raise TypeError(f"Could not generate a generic TraceType for {leaf!r}. Please verify that it is "
                        "immutable/hashable. Fix: pass a tuple or a tensor instead") from None  # fmt: skip
    return type(leaf), leaf


def leaf_names(signature: inspect.Signature, args: Any, kwargs: Any) -> list[str]:
    """For each leaf of the arguments the name of the argument that it belongs to."""
    names: list[str] = []
    positional = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL), "arg")
    for i, value in enumerate(args):
        name = positional[i].name if i < len(positional) else f"{rest}_{i - len(positional)}"
        names.extend([name] * len(nest.flatten(value)))
    for name in sorted(kwargs):
        names.extend([name] * len(nest.flatten(kwargs[name])))
    return names
