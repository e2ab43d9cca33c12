"""Arguments of the public functions of convolution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import TensorLike
from graphgrad.ops.common.shape_values import join, part, shape_of


def numbers(value: Any, nd: int, channel_first: bool, what: str) -> tuple[int, ...]:
    """Expands one, nd, or nd + 2 numbers to one for each of nd + 2 dimensions.

    Args:
      value: an int, a sequence, or None for ones.
      nd: the number of spatial dimensions.
      channel_first: whether the channels are the second dimension.
      what: the argument's name, for the error.
    Raises: ValueError for another number of them.
    """
    if value is None:
        return (1,) * (nd + 2)
    values = tuple(whole(v) for v in value) if hasattr(value, "__iter__") else (whole(value),)
    if len(values) == nd + 2:
        return values
    if len(values) == 1:
        values *= nd
    if len(values) != nd:
        raise ValueError(f"`{what}` should be of length 1, {nd} or {nd + 2}. Received: {what}={value} of length "
                         f"{len(values)}. Fix: give one number for each spatial dimension")
    return (1, 1, *values) if channel_first else (1, *values, 1)


def padding_attrs(padding: Any) -> dict[str, Any]:
    """Returns the attributes for a padding: a name, or a list of (before, after) for each dimension."""
    if isinstance(padding, (list, tuple)):
        flat = tuple(whole(v) for pair in padding for v in pair)
        return {"padding": "EXPLICIT", "explicit_paddings": flat}
    if isinstance(padding, bytes):
        padding = padding.decode()
    if isinstance(padding, str):
        padding = padding.upper()
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID' or a list of pairs. Received: padding={padding}. "
                         "Fix: padding='SAME'")
    return {"padding": padding}


def attributes(nd: int, strides: Any, padding: Any, data_format: str, dilations: Any) -> dict[str, Any]:
    """Returns the attributes of a convolution op."""
    if not isinstance(data_format, str):
        raise TypeError(f"`data_format` must be a string, not {data_format!r}. Fix: data_format='NHWC'")
    channel_first = data_format.startswith("NC")
    attrs = {"strides": numbers(strides, nd, channel_first, "strides"), **padding_attrs(padding)}
    if data_format not in ("NHWC", "NDHWC"):
        attrs["data_format"] = data_format
    holes = numbers(dilations, nd, channel_first, "dilations")
    if holes != (1,) * (nd + 2):
        attrs["dilations"] = holes
    return attrs


def operands(x: TensorLike, filters: TensorLike) -> tuple[Any, Any]:
    """Converts the images and the filters; the latter follow the former's dtype where they have none of their own."""
    x = convert_to_tensor(x, name="input")
    return x, convert_to_tensor(filters, dtype_hint=x.dtype, name="filter")


def in_batches(x: Any, nd: int, apply: Callable[[Any], Any]) -> Any:
    """Applies a function of nd + 2 dimensions to a tensor with several batch dimensions."""
    rank = None if x._spec.shape is None else len(x._spec.shape)
    if rank is None or rank <= nd + 2:
        return apply(x)
    shape = shape_of(x)
    y = apply(raw.Reshape(x, join([-1], part(shape, rank - nd - 1, rank))))
    return raw.Reshape(y, join(part(shape, 0, rank - nd - 1), part(shape_of(y), 1, nd + 2)))
