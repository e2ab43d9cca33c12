"""`BoundedTensorSpec`: a spec with the bounds of elements, by which libraries describe actions."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.frontend.structure.signature import TensorSpec


class BoundedTensorSpec(TensorSpec):
    """A `TensorSpec` with bounds.

    Args:
      shape, dtype: as there.
      minimum, maximum: numbers, or arrays that can be broadcast to the shape.
      name: the argument's name.
    Raises: ValueError for missing bounds, or those of another shape.

    >>> from graphgrad.compat.internal.framework.bounded_specs import BoundedTensorSpec
    >>> BoundedTensorSpec([2], tf.float32, -1, [1, 2]).maximum
    array([1., 2.], dtype=float32)
    """

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None):
        super().__init__(shape, dtype, name)
        self.minimum, self.maximum = (self._bound(value, what) for value, what in (
            (minimum, "minimum"), (maximum, "maximum")))

    def _bound(self, value: Any, what: str) -> Any:
        if value is None:
            raise Complaint(f"`{what}` can not be None.", "give a number")
        made = np.array(value, self.dtype.as_numpy_dtype)
        known = [1 if n is None else n for n in self._shape or made.shape]
        try:
            np.broadcast_to(made, np.broadcast_shapes(made.shape, tuple(known)))
        except ValueError as e:
            raise Complaint(f"`{what}` is not compatible with the shape {self.shape}: {e}.",
                            "give a number, or one for each element") from None
        made.setflags(write=False)
        return made

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> Any:
        """Makes a spec with another one's shape, dtype and bounds; those of the dtype where it has none.

        Args:
          spec: an object with a shape and a dtype.
          name: the argument's name; that of `spec` by default.
        """
        least, most = getattr(spec, "minimum", spec.dtype.min), getattr(spec, "maximum", spec.dtype.max)
        return cls(spec.shape, spec.dtype, least, most, name or getattr(spec, "name", None))

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.minimum, self.maximum, self.name

    def __repr__(self) -> str:
        return (f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
                f"minimum={self.minimum!r}, maximum={self.maximum!r})")

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, BoundedTensorSpec) and super().__eq__(other) is True
                and np.allclose(self.minimum, other.minimum) and np.allclose(self.maximum, other.maximum))

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.minimum.tobytes(), self.maximum.tobytes()))
