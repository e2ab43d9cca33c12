"""`VariableSpec`: shape and dtype of a variable, and whether it is trained."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.structure.type_spec import DenseSpec
from graphgrad.ir.dtypes import float32


class VariableSpec(DenseSpec):
    """The spec of a variable, which libraries ask for.

    Args:
      shape: the static shape.
      dtype: the dtype.
      trainable: whether the variable is trained.
      alias_id: a number that tells variables of one spec apart, or None.
    """

    def __init__(self, shape: Any, dtype: Any = float32, trainable: bool = True, alias_id: Any = None):
        super().__init__(shape, dtype)
        self.trainable, self.alias_id = trainable, alias_id

    @property
    def value_type(self) -> Any:
        """`tf.Variable`."""
        from .variable import Variable  # which needs this module

        return Variable

    @classmethod
    def from_value(cls, value: Any) -> VariableSpec:
        """Returns the spec of a variable."""
        return cls(value.shape, value.dtype, value.trainable)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether a variable, or another spec of one, has this dtype and a compatible shape."""
        other = spec_or_value
        if not isinstance(other, (VariableSpec, self.value_type)) or other.trainable != self.trainable:
            return False
        if isinstance(other, VariableSpec) and other.alias_id != self.alias_id:
            return False
        return super().is_compatible_with(other)

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self._dtype, self.trainable, self.alias_id
