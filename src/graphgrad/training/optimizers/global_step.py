"""The global step: the variable that counts training steps."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables.initializers import Zeros
from graphgrad.frontend.variables.variable import Variable
from graphgrad.frontend.variables.variable_scope import get_variable
from graphgrad.frontend.variables.variable_settings import VariableAggregation
from graphgrad.ir import dtypes
from graphgrad.ir.context import executing_eagerly, get_default_graph
from graphgrad.system.log import Log


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """Returns the value of the global step in a session, as an int.

    Args:
      sess: a session.
      global_step_tensor: the tensor or variable.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.global_step`.
    """
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Any = None) -> Variable | Any:
    """Returns the graph's global step, or None.

    Args:
      graph: the graph; the default one if not given.
    Returns: the variable in the collection GLOBAL_STEP, or the one named "global_step".
    Raises: TypeError if it is not an integer scalar.

    >>> step = tf.train.create_global_step()
    >>> tf.train.get_global_step() is step
    True
    """
    graph = _around_functions(graph or get_default_graph())
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        Log(__name__).error("Multiple tensors in global_step collection.")
        return None
    if not found:
        named = [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if v.name == "global_step:0"]
        if not named:
            try:
                named = [graph.get_tensor_by_name("global_step:0")]
            except KeyError:
                return None
        found = named[:1]
    assert_global_step(found[0])
    return found[0]


def _around_functions(graph: Any) -> Any:
    """Returns the graph of the program: functions know its global step."""
    while graph.building_function:
        graph = graph.outer_graph
    return graph


def create_global_step(graph: Any = None) -> Variable:
    """Creates the graph's global step: int64, not trainable, initially 0.

    Args:
      graph: the graph; the default one if not given.
    Raises: ValueError if there is one already.
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists. Fix: use tf.train.get_or_create_global_step()')
    if executing_eagerly():
        made = Variable(0, dtype=dtypes.int64, trainable=False, name=GraphKeys.GLOBAL_STEP,
                        aggregation=VariableAggregation.ONLY_FIRST_REPLICA)
        graph.add_to_collection(GraphKeys.GLOBAL_STEP, made)
        return made
    with graph.as_default(), graph.name_scope(None):
        return get_variable(GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64, initializer=Zeros(), trainable=False,
                            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
                            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])


def get_or_create_global_step(graph: Any = None) -> Variable:
    """Returns the graph's global step, creating it if necessary.

    Args:
      graph: the graph; the default one if not given.
    Returns: a variable.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.get_or_create_global_step`.

    >>> tf.train.get_or_create_global_step()
    <tf.Variable 'global_step:0' shape=() dtype=int64>
    """
    graph = graph or get_default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises TypeError unless the tensor or variable is an integer scalar."""
    if not global_step_tensor.dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    if global_step_tensor.get_shape().rank not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.get_shape()}')
