"""Optional values: variants that hold components or nothing."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.values.tensor_list import TensorList

_HOST = ("host",)


def _scalar(*_):
    return ()


def _held(optional):
    """Returns the components that an optional consists of; as an element of a data set it comes in an array."""
    return optional.item() if isinstance(optional, np.ndarray) else optional


@op("OptionalFromValue", "components: list(Toutput_types) -> optional: variant", flags=_HOST, shape=_scalar)
def from_value_op(xp, components):
    """Makes an optional with these components."""
    return TensorList(np.dtype(object), None, components)


@from_value_op.grad
def _from_value_grad(op, d_optional):
    types = op._attr("Toutput_types")
    shapes = tuple(t._spec.shape for t in op.inputs)
    return raw.OptionalGetValue(d_optional, output_types=types, output_shapes=shapes)


@op("OptionalNone", "-> optional: variant", flags=_HOST, shape=_scalar)
def none_op(xp):
    """Makes an empty optional."""
    return TensorList(np.dtype(object), None, [])


none_op.grad(NOT_DIFFERENTIABLE)


@op("OptionalHasValue", "optional: variant -> has_value: bool", flags=_HOST, shape=_scalar)
def has_value_op(xp, optional):
    """Returns whether it holds something."""
    return np.asarray(_held(optional).length > 0)


has_value_op.grad(NOT_DIFFERENTIABLE)


@op("OptionalGetValue", "optional: variant -> components: list(output_types)", flags=_HOST)
def get_value_op(xp, optional, *, output_types, output_shapes):
    """Returns the components."""
    optional = _held(optional)
    if not optional.length:
        raise Complaint("The given optional does not have a value.", "ask has_value() first")
    found = []
    for item, dtype, shape in zip(optional.elements(), output_types, output_shapes, strict=True):
        if item is None and not is_fully_defined(shape):
            raise Complaint(f"a gradient that is zero has the unknown shape {shape}", "set the static shape")
        found.append(np.zeros(shape, dtype.np_dtype) if item is None else np.asarray(item, dtype.np_dtype))
    return found


@get_value_op.shape
def _get_value_shape(optional, output_shapes):
    return list(output_shapes)


@get_value_op.grad
def _get_value_grad(op, *grads):
    filled = [raw.ZerosLike(y) if g is None else g for g, y in zip(grads, op.outputs, strict=True)]
    return raw.OptionalFromValue(filled)
