"""The shapes of what derivatives are taken by: tensors, the variables behind handles, batches."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import resource
from graphgrad.ir.funcgraph import stands_for
from graphgrad.ir.shape import Shape, as_shape, shape_str
from graphgrad.ir.source import user_source


def value_shape(x: Any) -> Shape:
    """Returns the static shape of a tensor, or of the variable whose handle it is."""
    if x.dtype is not resource:
        return x._spec.shape  # type: ignore[no-any-return]  # a spec is untyped here
    handle = stands_for(x)
    variable = getattr(handle, "_variable", None)
    if variable is not None:
        return as_shape(variable.shape)
    shape: Shape = None if handle.op.type == "Placeholder" else handle.op._attr("shape")
    return shape


def check_batches(y: Shape, x: Shape) -> None:
    """Raises ValueError unless both shapes have at least two dimensions and the first ones agree."""
    for shape in (y, x):
        if shape is None or len(shape) < 2:
            raise ValueError(
                f"Shape {shape_str(shape)} must have rank at least 2: one dimension for the batch, and those of an "
                f"example.\n  Asked for at {user_source(2)}\n  Fix: tf.expand_dims, or tf.jacobian if there is no batch"
            )
    assert y is not None and x is not None
    if None not in (y[0], x[0]) and y[0] != x[0]:
        raise ValueError(
            f"Need first dimension of target shape ({shape_str(y)}) and source shape ({shape_str(x)}) to match.\n"
            f"  Asked for at {user_source(2)}\n  Fix: differentiate with respect to the batch that y is computed from"
        )
