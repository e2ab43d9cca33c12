"""What libraries import from `python.layers.utils`."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.control_flow.cond_while import smart_cond
from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.constant_value import constant_value as _constant_value
from graphgrad.ir.conversion import convert_to_tensor

_LAYOUTS = {"channels_last": ("NWC", "NHWC", "NDHWC"), "channels_first": ("NCW", "NCHW", "NCDHW")}


def constant_value(pred: Any) -> bool | None:
    """Returns the value of a boolean scalar, None where a run decides; numbers 0 and 1 are booleans, too.

    Args:
      pred: a bool, 0, 1, or a boolean scalar tensor or variable.
    Raises: TypeError for anything else.
    """
    if isinstance(pred, Variable):
        return None
    if isinstance(pred, (bool, int)):
        if pred not in (0, 1):
            raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0, not {pred!r}.")
        return bool(pred)
    value = _constant_value(convert_to_tensor(pred))
    return None if value is None else bool(value)


def convert_data_format(data_format: str, ndim: int) -> str:
    """Returns the layout, such as "NHWC", of a Keras name for one.

    Args:
      data_format: "channels_last" or "channels_first".
      ndim: the rank, 3 to 5.
    Raises: ValueError for other names and ranks.
    """
    if data_format not in _LAYOUTS:
        raise ValueError(f"Invalid data_format: {data_format}. Fix: one of {', '.join(_LAYOUTS)}")
    if ndim not in (3, 4, 5):
        raise ValueError(f"Input rank not supported: {ndim}. Fix: 3, 4 or 5")
    return _LAYOUTS[data_format][ndim - 3]


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """Returns n integers, of one integer or of n.

    Args:
      value: an int, or n of them.
      n: how many are wanted.
      name: the name of the argument, for errors.
    Raises: ValueError for anything else.
    """
    values = (value,) * n if isinstance(value, int) else value
    try:
        found = tuple(int(v) for v in values)
    except (TypeError, ValueError):
        found = ()
    if len(found) != n:
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}")
    return found


def normalize_data_format(value: str) -> str:
    """Returns a Keras name of a layout in lower case.

    Args:
      value: "channels_last" or "channels_first", in any case.
    Raises: ValueError for other names.
    """
    return _one_of("data_format", value, tuple(_LAYOUTS))


def normalize_padding(value: str) -> str:
    """Returns the name of a padding in lower case.

    Args:
      value: "valid" or "same", in any case.
    Raises: ValueError for other names.
    """
    return _one_of("padding", value, ("valid", "same"))


def _one_of(what: str, value: str, names: tuple[str, ...]) -> str:
    if value.lower() not in names:
        raise ValueError(f"The `{what}` argument must be one of {', '.join(map(repr, names))}. Received: {value}")
    return value.lower()


def conv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int,
                       dilation: int = 1) -> int | None:
    """Returns the size of a convolution's result in one dimension; None if the input's is unknown.

    Args:
      input_length: the size of the input.
      filter_size: the size of the filter.
      padding: "same", "valid" or "full".
      stride: the step.
      dilation: the distance between the filter's elements.
    """
    if input_length is None:
        return None
    reach = (filter_size - 1) * dilation
    length = input_length + {"same": 0, "valid": -reach, "full": reach}[padding]
    return (length + stride - 1) // stride
