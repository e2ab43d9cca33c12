"""Dimensions as TensorFlow 1 shows them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

# TensorFlow 2 gives dimensions as int or None, TensorFlow 1 as `Dimension`.
objects_in_use = False


def use_dimension_objects(on: bool) -> None:
    """Selects what `TensorShape` yields: `Dimension` objects (1.x) or int and None (2.x)."""
    global objects_in_use
    objects_in_use = on


class Dimension:
    """One dimension of a `TensorShape` as TensorFlow 1 shows it; `value` is an int or None."""

    __slots__ = ("_size",)

    def __init__(self, value: Any):
        self._size: int | None
        if value is None:
            self._size = None
        elif isinstance(value, Dimension):
            self._size = value._size
        else:
            try:
                self._size = operator.index(value)
            except TypeError:
                raise TypeError(
                    f"Dimension value must be integer or None or have an __index__ method, got value "
                    f"'{value!r}' with type '{type(value)!r}'"
                ) from None
            if self._size < 0:
                raise ValueError(f"Dimension {self._size} must be >= 0")

    @property
    def value(self) -> Any:  # int | None, which programs multiply and compare without asking; so below
        """The size, or None if it is not known."""
        return self._size

    def is_compatible_with(self, other: Any) -> bool:
        """Returns whether the two could be the same size."""
        other = Dimension(other)
        return self._size is None or other._size is None or self._size == other._size

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError unless the two could be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """Returns the dimension that combines what is known of both."""
        other = Dimension(other)
        self.assert_is_compatible_with(other)
        return other if self._size is None else self

    def __int__(self) -> int:
        if self._size is None:
            raise TypeError(
                "Dimension(None) has no integer value: the size is unknown until the graph runs. "
                "Fix: use tf.shape(tensor)[axis]."
            )
        return self._size

    __index__ = __int__

    def __eq__(self, other: object) -> Any:
        try:
            other = Dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._size is None or other._size is None:
            return None
        return self._size == other._size

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented or same is None else not same

    __hash__ = None  # type: ignore[assignment]  # as in TensorFlow: an unknown dimension equals none

    def __bool__(self) -> bool:
        return bool(self._size)

    def __repr__(self) -> str:
        return f"Dimension({self._size})"

    def __str__(self) -> str:
        return "?" if self._size is None else str(self._size)

    def _combine(self, other: Any, f: Callable[[Any, Any], Any]) -> Any:
        try:
            other = Dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._size is None or other._size is None:
            return Dimension(None)
        return Dimension(f(self._size, other._size))

    def __add__(self, other: Any) -> Any:
        return self._combine(other, operator.add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._combine(other, operator.mul)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._combine(other, operator.floordiv)

    __div__ = __floordiv__

    def __rfloordiv__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: b // a)

    def __mod__(self, other: Any) -> Any:
        return self._combine(other, operator.mod)

    def __rmod__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: b % a)

    def __truediv__(self, other: Any) -> Any:
        return int(self) / (int(other) if isinstance(other, Dimension) else other)

    def __rtruediv__(self, other: Any) -> Any:
        return other / int(self)

    def _order(self, other: Any, f: Callable[[Any, Any], bool]) -> Any:
        other = Dimension(other)
        return None if self._size is None or other._size is None else f(self._size, other._size)

    def __lt__(self, other: Any) -> Any:
        return self._order(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._order(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._order(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._order(other, operator.ge)


def dimension_value(dimension: Any) -> int | Any:
    """Returns a dimension as an int, or None if it is not known; for code of both versions.

    Args:
      dimension: a `Dimension`, an int or None.
    Reference: TensorFlow 2.21 `tf.compat.dimension_value`.

    >>> tf.dimension_value(tf.zeros([2, 3]).shape[1])
    3
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension
