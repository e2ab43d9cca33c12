"""Small functions of TensorFlow's inside."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.variables import Variable


def is_resource_variable(var: Any) -> bool:
    """Whether a value is a variable: all of them are resources here.

    Args:
      var: anything.
    """
    return isinstance(var, Variable)
