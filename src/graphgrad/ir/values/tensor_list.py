"""Tensor lists: the values of dtype `variant` beneath `TensorArray`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import NeedsHostValue
from graphgrad.ir.shape import Shape, is_fully_defined, merge, relax


class TensorList:
    """An immutable list of tensors; unset elements count as zeros.

    It has one of two forms. As `items`, its elements may differ in shape; NumPy uses this form, and so does a trace for
    XLA as long as it knows all indices. As `buffer`, all elements are in one array, which a compiled loop can carry and
    update in place.

    Attributes:
      np_dtype: the NumPy dtype of the elements.
      declared: their declared shape.
      items: the elements, None for those not set; or None.
      buffer: the elements in one array, (length, *shape); or None.
    """

    __slots__ = ("np_dtype", "declared", "items", "buffer")

    def __init__(self, np_dtype: Any, declared: Shape, items: Sequence[Any] | None = None, buffer: Any = None):
        self.np_dtype = np_dtype
        self.declared = declared
        self.items = items
        self.buffer = buffer

    @property
    def length(self) -> int:
        """The number of elements."""
        return len(self.items) if self.items is not None else int(self.buffer.shape[0])

    @property
    def element_shape(self) -> Shape:
        """The shape of all elements, as far as it is known."""
        if self.buffer is not None:
            return tuple(self.buffer.shape[1:])
        set_ = next((i for i in self.items or () if i is not None), None)
        return self.declared if set_ is None or not self._uniform() else tuple(set_.shape)

    def _uniform(self) -> bool:
        items = [i for i in self.items or () if i is not None]
        return not any(isinstance(i, TensorList) for i in items) and len({tuple(i.shape) for i in items}) <= 1

    def elements(self) -> list[Any]:
        """Returns a new list of the elements, None for those not set."""
        return list(self.items) if self.items is not None else list(self.buffer)

    def stacked(self, xp: Any, shape: Shape = None) -> Any:
        """Returns the elements in one array; None if their shape is unknown.

        Args:
          xp: NumPy or jax.numpy.
          shape: the shape of elements, for a list without set elements.
        Raises: NeedsHostValue, for elements of different shapes.
        """
        if self.buffer is not None:
            return self.buffer
        if not self._uniform():
            raise NeedsHostValue("")
        own = self.element_shape
        shape = shape if own is None else own if shape is None else merge(own, shape)
        if not is_fully_defined(shape):
            return None
        items = self.items or ()
        if all(i is None for i in items):
            return xp.zeros((len(items), *shape), self.np_dtype)  # type: ignore[misc]  # it is known
        zeros = np.zeros(shape, self.np_dtype)  # type: ignore[arg-type]  # it is known
        return xp.stack([zeros if i is None else i for i in items])

    def in_one(self, xp: Any, shape: Shape = None) -> TensorList:
        """Returns the list as a buffer, if the shape of its elements is known; else the list itself."""
        buffer = self.stacked(xp, shape)
        return self if buffer is None else self.of(xp.asarray(buffer))

    def plus(self, xp: Any, other: TensorList) -> TensorList:
        """Adds corresponding elements; a shorter list adds nothing beyond its end."""
        declared = relax(self.declared, other.declared)
        if self.length != other.length:
            pairs = itertools.zip_longest(self.elements(), other.elements())
            return TensorList(self.np_dtype, declared, [_sum(xp, a, b) for a, b in pairs])
        for a, b in ((self, other), (other, self)):
            if a.items is not None and all(i is None for i in a.items):
                return TensorList(b.np_dtype, declared, b.items, b.buffer)
        if self.items is None or other.items is None:
            buffer = self.stacked(xp, other.element_shape) + other.stacked(xp, self.element_shape)
            return TensorList(self.np_dtype, declared, None, buffer)
        same = zip(self.elements(), other.elements(), strict=True)
        return TensorList(self.np_dtype, declared, [_sum(xp, a, b) for a, b in same])

    def zeros(self) -> TensorList:
        """Returns a list of the same length with unset elements; nested lists keep their lengths."""
        shape = self.element_shape if self._uniform() else None
        items = [i.zeros() if isinstance(i, TensorList) else None for i in self.items or [None] * self.length]
        return TensorList(self.np_dtype, shape, items)

    def of(self, buffer: Any) -> TensorList:
        """Returns a list of this dtype with the rows of `buffer` as elements."""
        return TensorList(self.np_dtype, self.declared, None, buffer)

    def with_items(self, items: Sequence[Any]) -> TensorList:
        """Returns a list of this dtype with these elements."""
        return TensorList(self.np_dtype, self.declared, items)

    def __repr__(self) -> str:
        return f"<TensorList of {self.length} elements, {np.dtype(self.np_dtype).name}>"


def _sum(xp: Any, a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return a.plus(xp, b) if isinstance(a, TensorList) else a + b


def flatten(value: TensorList) -> tuple[tuple[Any, ...], Any]:
    """Returns the arrays of a list, and the structure from which `unflatten` rebuilds it."""
    kind = value.np_dtype, value.declared
    items = value.items
    if items is None:
        return (value.buffer,), (True, *kind)
    if items and all(isinstance(i, np.ndarray) for i in items) and len({i.shape for i in items}) == 1:
        return (np.stack(items),), (True, *kind)
    return tuple(items), (False, *kind)


def unflatten(kind: Any, children: Sequence[Any]) -> TensorList:
    """Rebuilds a list from the results of `flatten`."""
    in_one, np_dtype, declared = kind
    if in_one:
        return TensorList(np_dtype, declared, None, children[0])
    return TensorList(np_dtype, declared, list(children))


def register(jax: Any) -> None:
    """Registers lists of tensors as arguments and results of compiled functions."""
    jax.tree_util.register_pytree_node(TensorList, flatten, unflatten)
