"""The shapes of what derivatives are taken by: tensors, and the variables behind handles."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import resource
from graphgrad.ir.shape import Shape, as_shape


def value_shape(x: Any) -> Shape:
    """Returns the static shape of a tensor, or of the variable whose handle it is."""
    if x.dtype is not resource:
        return x._spec.shape  # type: ignore[no-any-return]  # a spec is untyped here
    variable = getattr(x, "_variable", None)
    shape: Shape = x.op._attr("shape") if variable is None else as_shape(variable.shape)
    return shape
