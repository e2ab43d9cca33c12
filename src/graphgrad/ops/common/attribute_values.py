"""Checks and converts numbers that become attributes."""

from __future__ import annotations

import numbers
import operator
from typing import Any

import numpy as np


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
