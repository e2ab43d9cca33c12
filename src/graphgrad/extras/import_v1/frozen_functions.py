"""Functions whose variables are constants, as `tensorflow.python.framework.convert_to_constants` makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import FailedPreconditionError
from graphgrad.frontend.function.concrete_function import ConcreteFunction
from graphgrad.frontend.function.wrap_function import WrappedFunction, wrap_function
from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph import Tensor
from graphgrad.ir.source import user_source
from graphgrad.training.checkpoints.freezing import frozen

from .import_graph import import_graph_def


def convert_variables_to_constants_v2(func: ConcreteFunction, lower_control_flow: bool = True,
                                      aggressive_inlining: bool = False) -> WrappedFunction:
    """Makes a function of a function's arguments alone: the variables and tensors that it captures become constants.

    Args:
      func: a concrete function, see `tf.function`'s `get_concrete_function`.
      lower_control_flow, aggressive_inlining: accepted; loops and branches stay what they are.
    Returns: the function; it takes the tensors of `func.inputs` that are no captures, and returns a list.
    Raises: FailedPreconditionError if a variable has no value; ValueError for a function that was made in a graph.
    Gradient: through the function, with respect to its arguments.
    Reference: TensorFlow 2.21 `tensorflow.python.framework.convert_to_constants.convert_variables_to_constants_v2`.
    No example: examples of docstrings run in a graph; `tests/training/test_freezing.py` has some.
    """
    del lower_control_flow, aggressive_inlining
    count = func._argument_count
    values = {place.op.name: _value(outer) for place, outer in zip(func._inputs[count:], func._captured, strict=True)}
    definition = frozen(func.graph.as_graph_def(), values)
    whole = wrap_function(lambda: import_graph_def(definition, name=""), [])
    return whole.prune([t.name for t in func._inputs[:count]], [t.name for t in func.outputs])


def _value(outer: Any) -> tuple[np.ndarray, Any]:
    """Returns the value of what a function captures, and its dtype."""
    if isinstance(outer, Tensor):
        raise ValueError(f"The function captures {outer!r} of a graph, whose value only a session knows.\n"
                         f"  Asked for at {user_source(2)}\n  Fix: make the function in eager mode, or use "
                         "tf.compat.v1.graph_util.convert_variables_to_constants")
    if outer.dtype is not resource:
        return outer.numpy(), outer.dtype
    cell = outer.numpy()
    if cell.held is None:
        raise FailedPreconditionError(None, None, f"Variable {cell.name} has no value. Fix: initialize it first")
    return np.asarray(cell.value), cell.dtype
