"""`tensorflow.python.util.variable_utils`."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.composite_tensor import CompositeTensor
from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.conversion import convert_to_tensor


def convert_variables_to_tensors(values: Any) -> Any:
    """Reads the variables in a structure.

    Args:
      values: the structure.
    Returns: one of tensors where there were variables, in composites, too.
    """
    return nest.map_structure(_converted, values)


def _converted(value: Any) -> Any:
    if isinstance(value, Variable):
        return convert_to_tensor(value)
    own = getattr(value, "_convert_variables_to_tensors", None)
    return own() if own is not None and isinstance(value, CompositeTensor) else value


def replace_variables_with_atoms(values: Any) -> Any:
    """Replaces the variables in a structure by zeros, so that it has as many leaves with composites expanded.

    Args:
      values: the structure.
    """
    return nest.map_structure(lambda v: 0 if isinstance(v, Variable) else v, values)
