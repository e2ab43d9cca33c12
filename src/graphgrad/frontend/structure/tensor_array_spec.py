"""`TensorArray`s as arguments of functions: their specs and components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.ir.dtypes import as_dtype, float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.values.composite import register_spec

from .tensor_array import TensorArray
from .type_spec import TypeSpec
from .type_spec_registry import register


@register("tf.TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The spec of a `TensorArray`.

    Args:
      element_shape: the static shape of the elements.
      dtype: the dtype of the elements.
      dynamic_size: whether writing beyond the end makes it longer.
      infer_shape: whether all elements have to be of one shape.

    >>> tf.TensorArraySpec([2], tf.int32)
    TensorArraySpec(TensorShape([2]), tf.int32, False, True)
    """

    def __init__(self, element_shape: Any = None, dtype: Any = float32, dynamic_size: bool = False,
                 infer_shape: bool = True):
        self._element_shape = TensorShape(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @property
    def value_type(self) -> type:
        """`TensorArray`."""
        return TensorArray

    @staticmethod
    def from_value(value: Any) -> TensorArraySpec:
        """Returns the spec of a value."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but saw: {type(value)}.")
        return TensorArraySpec(value.element_shape, value.dtype, bool(value.dynamic_size), value._known.infer)

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    def _key(self) -> Any:
        return self._element_shape._dims, self._dtype, self._dynamic_size, self._infer_shape

    def is_compatible_with(self, other: Any) -> bool:
        """Returns whether an array, or a spec, is of this kind."""
        other = other if isinstance(other, TensorArraySpec) else self.from_value(other)
        same = self._dtype is other._dtype and self._dynamic_size == other._dynamic_size
        return same and self._element_shape.is_compatible_with(other._element_shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Returns whether every array of this kind is of the other."""
        return (isinstance(other, TensorArraySpec) and self._dtype is other._dtype
                and self._dynamic_size == other._dynamic_size
                and self._element_shape.is_subtype_of(other._element_shape._dims))

    def most_specific_common_supertype(self, others: Any) -> TensorArraySpec | None:
        """Returns the narrowest kind that covers this one and the others, or None."""
        shape: Any = self._element_shape
        for other in others:
            if not isinstance(other, TensorArraySpec) or self._key()[1:] != other._key()[1:]:
                return None
            shape = shape.most_specific_compatible_shape(other._element_shape)
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, self._infer_shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorArraySpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"TensorArraySpec({self._element_shape!r}, {self._dtype!r}, {self._dynamic_size}, {self._infer_shape})"


class ArrayParts:
    """An array as an argument of a function: its elements, and which of them are written.

    Attributes:
      parts: the tensors: all elements in one if they are of one shape, else each.
      spec: what kind of array it is.
    """

    def __init__(self, array: TensorArray):
        elements = array._elements or []
        self._like = {k: v for k, v in array.__dict__.items() if k not in ("_elements", "_cleared", "_known")}
        self._known = array._known
        self.spec = TensorArraySpec.from_value(array)
        self._written = tuple([i for i, e in enumerate(elements) if e is not None])
        self._length = len(elements)
        tensors = [elements[i] for i in self._written]
        self._in_one = len(tensors) == len(elements) > 0 and len({t._spec for t in tensors}) == 1
        self.parts = [raw.Pack(tensors, axis=0)] if self._in_one else tensors

    def key(self) -> Any:
        """Returns the key of a trace."""
        specs = tuple([(t.dtype, t._spec.shape) for t in self.parts])
        return "array", self.spec, self._in_one, self._written, self._length, specs

    def together(self, inputs: Sequence[Any]) -> TensorArray:
        """Rebuilds the array in the graph that is being built, from a placeholder for each part."""
        shape = self._known.shape
        new = TensorArray(self.spec._dtype, self._length, infer_shape=self._known.infer, element_shape=shape,
                          dynamic_size=self._like["_dynamic_size"])
        if self._in_one:
            return new.unstack(inputs[0])
        for i, t in zip(self._written, inputs, strict=True):
            new = new.write(i, t)
        return new


register_spec(TensorArray, TensorArraySpec.from_value)
