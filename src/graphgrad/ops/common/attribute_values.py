"""Checks and converts numbers that become attributes."""

from __future__ import annotations

import numbers
import operator
from typing import Any

import numpy as np

from graphgrad.ir.source import user_source


def whole_array(value: Any, name: str, dtype: Any = np.int32) -> np.ndarray[Any, Any]:
    """Converts numbers that become a tensor of integers, such as axes; numbers with fractions are none.

    Args:
      value: what the user gave.
      name: the argument's name, for the error.
      dtype: the result's dtype.
    Raises: TypeError for anything but integers that the dtype can hold.
    """
    array = np.asarray(value)
    if array.dtype.kind in "fcSU" and array.size:
        raise TypeError(f"Expected integers for argument '{name}', not {value!r}.\n  Built at {user_source(2)}\n"
                        "  Fix: give ints")
    whole = array.astype(dtype)
    if not np.array_equal(whole, array):
        raise TypeError(f"Argument '{name}' is {value!r}, beyond the limits of {np.dtype(dtype)}.\n  Built at "
                        f"{user_source(2)}\n  Fix: give smaller numbers")
    return whole


def as_int(value: Any, name: str) -> int:
    """Converts an attribute to an int by TensorFlow's rule: other real numbers lose their fractions.

    Args:
      value: what the user gave.
      name: the argument's name, for the error.
    Raises: TypeError for anything but a number.
    """
    if isinstance(value, (numbers.Real, np.bool_)) or (isinstance(value, np.ndarray) and not value.ndim):
        number: Any = value
        if not np.isfinite(number):
            raise TypeError(f"{name} must be an integer, not {value!r}.\n  Fix: give an int")
        return int(number)
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"Expected int for argument '{name}' not {value!r}. Fix: give one number") from None
