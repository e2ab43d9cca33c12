"""Call signatures of functions: specs of tensors, values of everything else."""

from __future__ import annotations

import inspect
import weakref
from typing import Any

from graphgrad.ir import dtypes
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.shape import Shape, as_shape, compatible, relax, shape_str
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.values.composite import Composite

from . import nest
from .type_spec import BatchableTypeSpec, DenseSpec
from .type_spec import TypeSpec as TypeSpec
from .type_spec_registry import register


@register("tf.TensorSpec")
class TensorSpec(DenseSpec, BatchableTypeSpec):
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

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Returns the spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    @property
    def value_type(self) -> type:
        """`tf.Tensor`."""
        return AnyTensor

    def _batch(self, batch_size: Any) -> TensorSpec:
        shape = None if self._shape is None else [batch_size, *self._shape]
        return TensorSpec(shape, self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._shape == ():
            raise ValueError(f"Unbatching a tensor is only supported for rank >= 1, not {self}. Fix: batch it first")
        return TensorSpec(None if self._shape is None else self._shape[1:], self._dtype)

    def _to_components(self, value: Any) -> Any:
        return convert_to_tensor(value, self._dtype)

    def _from_components(self, components: Any) -> Any:
        return components

    def _without_tensor_names(self) -> TensorSpec:
        return self if self._name is None else _unnamed(self)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Makes a spec with another one's shape and dtype.

        Args:
          spec: an object with a shape and a dtype.
          name: the argument's name; that of `spec` by default.
        """
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Returns whether a tensor (or another spec) has this dtype and a compatible shape."""
        other = spec_or_tensor
        if not hasattr(other, "dtype") or not hasattr(other, "shape"):
            return False
        return as_dtype(other.dtype) is self._dtype and compatible(self._shape, as_shape(other.shape))

    def is_subtype_of(self, other: Any) -> bool:
        """Returns whether every tensor of this spec is one of another's.

        Args:
          other: a spec.
        """
        return isinstance(other, TensorSpec) and TypeSpec.is_subtype_of(_unnamed(self), _unnamed(other))

    def most_specific_common_supertype(self, others: Any) -> Any:
        """Returns the narrowest spec that this one and others are subtypes of; None if there is none.

        Args:
          others: specs.
        """
        if not all(isinstance(o, TensorSpec) for o in others):
            return None
        return TypeSpec.most_specific_common_supertype(_unnamed(self), [_unnamed(o) for o in others])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self._shape, self._dtype) == (other._shape, other._dtype)

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={shape_str(self._shape)}, dtype={self._dtype!r}, name={self._name!r})"


def _unnamed(spec: TensorSpec) -> TensorSpec:
    return TensorSpec(spec._shape, spec._dtype)


class _Object:
    """Represents an object in a key, without keeping it alive."""

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


_LITERALS = frozenset({bool, int, float, complex, str, bytes, type(None)})


def structure_key(structure: Any) -> Any:
    """Returns a hashable key for the nesting of a structure."""
    if isinstance(structure, dict):
        return ("dict", *[(k, structure_key(structure[k])) for k in sorted(structure)])
    if isinstance(structure, (list, tuple)):
        return (type(structure), *map(structure_key, structure))
    return None


def leaf_key(leaf: Any, spec: Any = None) -> Any:
    """Returns the key of a leaf of the arguments.

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
    if isinstance(leaf, Composite):
        return leaf._whole_spec._call_key()
    if isinstance(leaf, TypeSpec):
        return leaf._call_key()
    own = getattr(leaf, "key", None)
    if own is not None and type(leaf).__name__ == "ArrayParts":
        return own()
    if type(leaf) in _LITERALS:  # as in TensorFlow, 1, 1.0 and True are the same
        return "literal", leaf if leaf == leaf else "nan"
    try:
        return type(leaf), _Object(leaf)
    except TypeError:  # numbers, strings and the like have no weak references
        pass
    try:
        hash(leaf)
    except TypeError:
        raise TypeError(f"Could not generate a generic TraceType for {leaf!r}. Please verify that it is "
                        "immutable/hashable. Fix: pass a tuple or a tensor instead") from None
    return type(leaf), leaf


def kind_and_shape(key: Any) -> tuple[Any, Any]:
    """Splits the key of a leaf: what traces must have in common, and a shape or spec that may be less specific.

    Args:
      key: the result of `leaf_key`.
    """
    if key[0] == "tensor":
        return key[:2], key[2]
    return (key[:1], key[1]) if isinstance(key[-1], TypeSpec) else (key, None)


def is_within(given: Any, known: Any) -> bool:
    """Returns whether a trace for a shape or spec is good for another one.

    Args:
      given: the shape or spec of an argument.
      known: that of the trace.
    """
    if isinstance(known, TypeSpec):
        return bool(given == known or given.is_subtype_of(known))
    if given == known:
        return True
    return (known is None or given is not None) and compatible(given, known) and bool(relax(given, known) == known)


def relaxed(given: Any, known: Any) -> Any:
    """Returns the shape or spec that both a given one and that of an earlier trace are good for.

    Args:
      given, known: the two.
    """
    if not isinstance(given, TypeSpec):
        return relax(given, known)
    return given if given == known else given.most_specific_common_supertype([known]) or given


def leaf_names(signature: inspect.Signature, args: Any, kwargs: Any) -> list[str]:
    """Returns for each leaf of the arguments the name of its argument."""
    names: list[str] = []
    positional = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL), "arg")
    for i, value in enumerate(args):
        name = positional[i].name if i < len(positional) else f"{rest}_{i - len(positional)}"
        names.extend([name] * len(nest.flatten(value)))
    for name in sorted(kwargs):
        names.extend([name] * len(nest.flatten(kwargs[name])))
    return names
