"""Static shapes.

Inside the package a shape is a tuple of `int` or None (an unknown dimension), or None for
an unknown rank. `TensorShape` and `Dimension` are what users see.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graphgrad.errors import Complaint

from . import dimension
from .dimension import Dimension

Shape = tuple["int | None", ...] | None


def dimension_at_index(shape: Any, index: int) -> Dimension:
    """Returns the dimension of a static shape at an index; unknown for an unknown rank.

    Args:
      shape: a `TensorShape`.
      index: a number.
    Returns: a `Dimension`.
    Raises: IndexError if the shape has no such dimension.
    Reference: TensorFlow 2.21 `tf.compat.v1.dimension_at_index`.

    >>> tf.dimension_at_index(tf.TensorShape([1, None]), 0)
    Dimension(1)
    """
    dims = TensorShape(shape)._dims
    if dims is not None and not -len(dims) <= index < len(dims):
        raise IndexError(f"a shape of rank {len(dims)} has no dimension {index}.\n  Fix: give a lower index")
    return Dimension(None if dims is None else dims[index])


class TensorShape:
    """The static shape of a tensor: known, partly known, or of unknown rank.

    Args:
      dims: a sequence of sizes (None or -1 for unknown), an int for a vector, None for
        unknown rank, or another `TensorShape`.

    >>> TensorShape([2, None]).as_list()
    [2, None]
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: Any):
        self._dims: Shape = as_shape(dims)

    @property
    def rank(self) -> Any:
        """The number of dimensions, or None."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions as a list of `Dimension`, or None if the rank is unknown."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self) -> list[Any]:
        """Returns the dimensions as a list of int and None; raises ValueError if the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> Any:
        """Returns the number of elements, or None unless the shape is fully known."""
        return num_elements(self._dims)

    def is_fully_defined(self) -> bool:
        """Returns whether every dimension is known."""
        return is_fully_defined(self._dims)

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless every dimension is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: Any) -> bool:
        """Returns whether some shape satisfies both."""
        return compatible(self._dims, as_shape(other))

    def is_subtype_of(self, other: Any) -> bool:
        """Returns whether every tensor of this shape is of shape `other` too."""
        other_dims = as_shape(other)
        if other_dims is None:
            return True
        mine = self._dims
        return (
            mine is not None
            and len(mine) == len(other_dims)
            and all(b is None or a == b for a, b in zip(mine, other_dims, strict=True))
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError unless some shape satisfies both."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_same_rank(self, other: Any) -> None:
        """Raises ValueError if both ranks are known and differ."""
        other = TensorShape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError if the rank is known and differs from `rank`."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """Returns this shape, known to have `rank` dimensions; raises ValueError if it has not."""
        self.assert_has_rank(rank)
        return TensorShape([None] * rank) if self._dims is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Returns this shape; raises ValueError if it has fewer than `rank` dimensions."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Returns this shape; raises ValueError if it has more than `rank` dimensions."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def merge_with(self, other: Any) -> TensorShape:
        """Returns the combination of both shapes; raises ValueError if they are incompatible."""
        other = TensorShape(other)
        merged = merge(self._dims, other._dims)
        if merged is _CONTRADICTION:
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape(merged)

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Returns the narrowest shape that both are instances of."""
        return TensorShape(relax(self._dims, as_shape(other)))

    def concatenate(self, other: Any) -> TensorShape:
        """Returns the dimensions of this shape followed by those of `other`."""
        other_dims = as_shape(other)
        if self._dims is None or other_dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other_dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self) -> Iterator[Any]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self.dims or ()) if dimension.objects_in_use else iter(self._dims)

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            if isinstance(key, slice):
                if key.stop is not None and key.step in (None, 1) and key.stop >= 0 and (key.start or 0) >= 0:
                    return TensorShape([None] * (key.stop - (key.start or 0)))
                return TensorShape(None)
            return Dimension(None) if dimension.objects_in_use else None
        if isinstance(key, slice):
            return TensorShape(self._dims[key])
        return Dimension(self._dims[key]) if dimension.objects_in_use else self._dims[key]

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        if self._dims is None:
            return "TensorShape(None)"
        items = (f"Dimension({d})" for d in self._dims) if dimension.objects_in_use else map(str, self._dims)
        return f"TensorShape([{', '.join(items)}])"

    def __str__(self) -> str:
        return shape_str(self._dims)


def shape_str(shape: Shape) -> str:
    """Formats the shape as TensorFlow prints it: `(2, None)`, `(3,)`, `<unknown>`; 1.x writes `?`."""
    if shape is None:
        return "<unknown>"
    sizes = [("?" if dimension.objects_in_use else "None") if d is None else str(d) for d in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def as_shape(value: Any) -> Shape:
    """Converts anything that represents a shape to the internal form.

    Raises: TypeError or ValueError for anything else.
    """
    if value is None:
        return None
    if isinstance(value, TensorShape):
        return value._dims
    if isinstance(value, (int, Dimension)) and not isinstance(value, bool):
        value = (value,)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"A shape cannot be the string {value!r}; give a list of sizes.")
    try:
        items: Iterable[Any] = iter(value)
    except TypeError:
        items = (value,)
    return tuple([_as_dim(d) for d in items])


def _as_dim(d: Any) -> int | None:
    if d is None:
        return None
    if type(d) is not int:
        if isinstance(d, Dimension):
            return d._size
        try:
            d = operator.index(d)
        except TypeError:
            raise TypeError(
                f"Dimension value must be integer or None or have an __index__ method, "
                f"got value '{d!r}' with type '{type(d)!r}'"
            ) from None
    if d < -1:
        raise ValueError(f"Dimension {d} must be >= 0")
    if d >= 2**63:
        raise ValueError(f"Dimension {d} is too large for 64 bits. Fix: give a smaller size")
    return None if d == -1 else d


def is_fully_defined(shape: Shape) -> bool:
    """Returns whether rank and every dimension are known."""
    return shape is not None and None not in shape


def has_no_elements(shape: Shape) -> bool:
    """Returns whether a dimension is 0; raises ValueError if that is unknown."""
    if shape is not None and 0 in shape:
        return True
    if not is_fully_defined(shape):
        raise ValueError(f"it is not known whether {shape_str(shape)} has elements")
    return False


def num_elements(shape: Shape) -> int | None:
    """Returns the product of the dimensions, or None unless all are known."""
    if shape is None:
        return None
    n = 1
    for d in shape:
        if d is None:
            return None
        n *= d
    return n


def compatible(a: Shape, b: Shape) -> bool:
    """Returns whether one run-time shape can satisfy both."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))


_CONTRADICTION: Any = ("contradiction",)


def merge(a: Shape, b: Shape) -> Any:
    """Combines both shapes, or returns `_CONTRADICTION`."""
    if a is None:
        return b
    if b is None:
        return a
    if not compatible(a, b):
        return _CONTRADICTION
    return tuple([y if x is None else x for x, y in zip(a, b, strict=True)])


def relax(a: Shape, b: Shape) -> Shape:
    """Returns the narrowest shape that covers both."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple([x if x == y else None for x, y in zip(a, b, strict=True)])


def merged(a: Shape, b: Shape) -> Shape:
    """Combines both shapes; a `Complaint` if they are incompatible. For shape rules."""
    result: Shape = merge(a, b)
    if result is _CONTRADICTION:
        raise Complaint(
            f"shapes {shape_str(a)} and {shape_str(b)} must be equal",
            "reshape or slice one of them to the shape of the other",
        )
    return result


def broadcast(*shapes: Shape) -> Shape:
    """Returns the shape that NumPy broadcasting gives. For shape rules.

    Raises: Complaint naming the first dimension that differs.
    """
    result: Sequence[int | None] = ()
    for shape in shapes:
        if shape is None:
            return None
        if shape == result:
            continue
        n = max(len(result), len(shape))
        a = (1,) * (n - len(result)) + tuple(result)
        b = (1,) * (n - len(shape)) + shape
        out: list[int | None] = []
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            if x == y or y == 1:
                out.append(x)
            elif x == 1:
                out.append(y)
            elif x is None or y is None:
                out.append(y if x is None else x)
            else:
                raise Complaint(
                    f"dimension {i - n} differs ({x} vs {y})",
                    "insert a 1 to broadcast along, e.g. tf.expand_dims(x, axis), or make the sizes equal",
                )
        result = out
    return tuple(result)


def with_rank(shape: Shape, rank: int, what: str = "input") -> tuple[int | None, ...]:
    """Returns the shape, known to have `rank` dimensions. For shape rules.

    Raises: Complaint if the rank is known and differs.
    """
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise Complaint(
            f"{what} must have rank {rank} but has shape {shape_str(shape)}",
            f"reshape {what} to {rank} dimensions, e.g. with tf.reshape or tf.expand_dims",
        )
    return shape


def with_rank_at_least(shape: Shape, rank: int, what: str = "input") -> Shape:
    """Returns the shape; raises a Complaint if it has fewer than `rank` dimensions. For shape rules."""
    if shape is not None and len(shape) < rank:
        raise Complaint(
            f"{what} must have rank at least {rank} but has shape {shape_str(shape)}",
            f"add dimensions to {what}, e.g. with tf.expand_dims",
        )
    return shape


def normalize_axis(axis: int, rank: int, what: str = "axis") -> int:
    """Returns the axis counted from the front. For shape rules and kernels.

    Raises: Complaint if it is out of range.
    """
    if not -rank <= axis < rank:
        fix = f"use an axis in [{-rank}, {rank})" if rank else "give a tensor that has axes"
        raise Complaint(f"{what} {axis} is out of range for a tensor of rank {rank}", fix)
    return axis + rank if axis < 0 else axis
