"""Functions on variables: assignment, scattering, initialization, and the lists of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.graph.collections import GraphKeys, get_collection
from graphgrad.frontend.variables.references import variable_of
from graphgrad.frontend.variables.variable import AssignedVariable
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import constant, convert_to_tensor
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.control.group import group


def _as_variable(ref: Any, function: str) -> Any:
    if not hasattr(ref, "_update"):
        if (variable := variable_of(ref)) is not None:
            return variable
        raise TypeError(f"tf.{function} needs a variable, not {ref!r} of type '{type(ref).__name__}'. "
                        "Fix: make it with tf.Variable or tf.get_variable")
    return ref


# -- assigning ---------------------------------------------------------------------


def assign(ref: Any, value: TensorLike, validate_shape: Any = None, use_locking: Any = None,
           name: Any = None) -> AssignedVariable | Any:
    """Sets the value of a variable.

    Args:
      ref: the variable, or a slice of it (`v[0]`).
      value: of its dtype and shape.
      validate_shape: False lets the shape change.
      use_locking: accepted; assignments of one run never interleave.
      name: a name for the operation.
    Returns: an object that refers to the variable after the assignment.
    Raises: ValueError if the shape does not fit.
    Reference: TensorFlow 2.21 `tf.compat.v1.assign`.

    >>> v = tf.Variable(1.0)
    >>> sess.run(tf.assign(v, 3.0))
    np.float32(3.0)
    """
    if (assign_slice := getattr(ref, "_variable_slice", None)) is not None:
        return assign_slice(value, name=name)
    variable = _as_variable(ref, "assign")
    if validate_shape is False:
        return variable._update("AssignVariableOp", (convert_to_tensor(value, variable.dtype),), name)
    return variable.assign(value, name=name)


def assign_add(ref: Any, value: TensorLike, use_locking: Any = None, name: Any = None) -> AssignedVariable | Any:
    """Adds `value` to a variable; see `assign`.

    >>> v = tf.Variable(1.0)
    >>> _ = sess.run(v.initializer)
    >>> sess.run(tf.assign_add(v, 3.0))
    np.float32(4.0)
    """
    return _as_variable(ref, "assign_add").assign_add(value, name=name)


def assign_sub(ref: Any, value: TensorLike, use_locking: Any = None, name: Any = None) -> AssignedVariable | Any:
    """Subtracts `value` from a variable; see `assign`.

    >>> v = tf.Variable(1.0)
    >>> _ = sess.run(v.initializer)
    >>> sess.run(tf.assign_sub(v, 3.0))
    np.float32(-2.0)
    """
    return _as_variable(ref, "assign_sub").assign_sub(value, name=name)


def scatter_update(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = True,
                   name: Any = None) -> AssignedVariable | Any:
    """Replaces rows of a variable: `ref[indices[i]] = updates[i]`.

    Args:
      ref: the variable, (n, *D).
      indices: (*I), int32 or int64, each in [0, n).
      updates: (*I, *D), or a scalar, of the variable's dtype.
      use_locking: accepted; assignments of one run never interleave.
      name: a name for the operation.
    Returns: an object that refers to the variable after the update.
    Raises: InvalidArgumentError at run time if an index is out of range.
    Reference: TensorFlow 2.21 `tf.compat.v1.scatter_update`.

    >>> v = tf.Variable([1.0, 2.0])
    >>> _ = sess.run(v.initializer)
    >>> sess.run(tf.scatter_update(v, [1], [5.0]))
    array([1., 5.], dtype=float32)
    """
    return _as_variable(ref, "scatter_update")._scatter_rows("ResourceScatterUpdate", indices, updates, name)


def scatter_add(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = False,
                name: Any = None) -> AssignedVariable | Any:
    """Adds to rows of a variable, repeatedly for repeated indices; see `scatter_update`."""
    return _as_variable(ref, "scatter_add")._scatter_rows("ResourceScatterAdd", indices, updates, name)


def scatter_sub(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = False,
                name: Any = None) -> AssignedVariable | Any:
    """Subtracts from rows of a variable; see `scatter_update`."""
    return _as_variable(ref, "scatter_sub")._scatter_rows("ResourceScatterSub", indices, updates, name)


def scatter_mul(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = False,
                name: Any = None) -> AssignedVariable | Any:
    """Multiplies rows of a variable; see `scatter_update`."""
    return _as_variable(ref, "scatter_mul")._scatter_rows("ResourceScatterMul", indices, updates, name)


def scatter_div(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = False,
                name: Any = None) -> AssignedVariable | Any:
    """Divides rows of a variable; see `scatter_update`."""
    return _as_variable(ref, "scatter_div")._scatter_rows("ResourceScatterDiv", indices, updates, name)


def scatter_min(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = False,
                name: Any = None) -> AssignedVariable | Any:
    """Takes the minimum of rows of a variable and `updates`; see `scatter_update`."""
    return _as_variable(ref, "scatter_min")._scatter_rows("ResourceScatterMin", indices, updates, name)


def scatter_max(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = False,
                name: Any = None) -> AssignedVariable | Any:
    """Takes the maximum of rows of a variable and `updates`; see `scatter_update`."""
    return _as_variable(ref, "scatter_max")._scatter_rows("ResourceScatterMax", indices, updates, name)


def scatter_nd_update(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = True,
                      name: Any = None) -> AssignedVariable | Any:
    """Replaces slices of a variable: `ref[tuple(indices[i])] = updates[i]`.

    Args:
      ref: the variable.
      indices: (*I, k), int32 or int64: indices into the first k axes.
      updates: (*I, *ref.shape[k:]), of the variable's dtype.
      use_locking: accepted; assignments of one run never interleave.
      name: a name for the operation.
    Returns: an object that refers to the variable after the update.
    Raises: InvalidArgumentError at run time if an index is out of range.
    Reference: TensorFlow 2.21 `tf.compat.v1.scatter_nd_update`.

    >>> v = tf.Variable([[1.0, 2.0]])
    >>> _ = sess.run(v.initializer)
    >>> sess.run(tf.scatter_nd_update(v, [[0, 1]], [5.0]))
    array([[1., 5.]], dtype=float32)
    """
    return _as_variable(ref, "scatter_nd_update").scatter_nd_update(indices, updates, name)


def scatter_nd_add(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = False,
                   name: Any = None) -> AssignedVariable | Any:
    """Adds to slices of a variable; see `scatter_nd_update`."""
    return _as_variable(ref, "scatter_nd_add").scatter_nd_add(indices, updates, name)


def scatter_nd_sub(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = False,
                   name: Any = None) -> AssignedVariable | Any:
    """Subtracts from slices of a variable; see `scatter_nd_update`."""
    return _as_variable(ref, "scatter_nd_sub").scatter_nd_sub(indices, updates, name)


def batch_scatter_update(ref: Any, indices: TensorLike, updates: Any, use_locking: bool = True,
                         name: Any = None) -> AssignedVariable | Any:
    """Replaces rows within each batch: `ref[b, indices[b, i]] = updates[b, i]`.

    Args:
      ref: the variable, (*B, n, *D).
      indices: (*B, m), int32 or int64, each in [0, n).
      updates: (*B, m, *D).
      use_locking: accepted; assignments of one run never interleave.
      name: a name for the scope.
    Returns: an object that refers to the variable after the update.
    Raises: ValueError if the shape of `indices` is not static.
    Reference: TensorFlow 2.21 `tf.compat.v1.batch_scatter_update`.
    """
    with name_scope(name, "batch_scatter_update"):
        indices = convert_to_tensor(indices, name="indices")
        shape = indices._spec.shape
        if shape is None or None in shape:
            raise ValueError(f"batch_scatter_update needs indices of static shape, not {indices}. "
                             "Fix: give indices.set_shape(...) first")
        where = np.indices(shape)[:-1].astype(indices.dtype.np_dtype)
        parts = [constant(axis[..., None]) for axis in where] + [raw.ExpandDims(indices, -1)]
        full = parts[0] if len(parts) == 1 else raw.ConcatV2(parts, -1)
        return scatter_nd_update(ref, full, updates, use_locking)


def count_up_to(ref: Any, limit: int, name: Any = None) -> Tensor:
    """Returns the value of an integer variable and increments it.

    Args:
      ref: a scalar variable, int32 or int64.
      limit: where to stop.
      name: a name for the operation.
    Returns: a scalar with the value before it is raised.
    Raises: OutOfRangeError at run time if the value is `limit`.
    Reference: TensorFlow 2.21 ResourceCountUpTo.

    >>> v = tf.Variable(0)
    >>> _ = sess.run(v.initializer)
    >>> sess.run(tf.count_up_to(v, 3))
    np.int32(0)
    """
    return raw.ResourceCountUpTo(_as_variable(ref, "count_up_to").handle, limit=limit, T=ref.dtype, name=name)


# -- the variables of a graph ------------------------------------------------------


def global_variables(scope: Any = None) -> list[Any]:
    """Returns the variables of the default graph's collection GLOBAL_VARIABLES.

    Args:
      scope: a regular expression; keeps those whose name begins with a match.

    >>> v = tf.Variable(1.0, name="v")
    >>> tf.global_variables()
    [<tf.Variable 'v:0' shape=() dtype=float32>]
    """
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Any]:
    """Does what `global_variables()` does; the name of 0.x."""
    return global_variables()


def trainable_variables(scope: Any = None) -> list[Any]:
    """Returns the variables that optimizers update by default; see `global_variables`."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def local_variables(scope: Any = None) -> list[Any]:
    """Returns the variables of the collection LOCAL_VARIABLES; see `global_variables`."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: Any = None) -> list[Any]:
    """Returns the variables of the collection MODEL_VARIABLES; see `global_variables`."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: Any = None) -> list[Any]:
    """Returns the variables of which moving averages are kept; see `global_variables`."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


# -- initialization ----------------------------------------------------------------


def variables_initializer(var_list: Any, name: str | None = "init") -> Operation | Any:
    """Makes an operation that gives variables their initial values.

    Args:
      var_list: the variables.
      name: a name for the operation.
    Returns: the `Operation`; None in eager mode, where variables are initialized already.
    Raises: TypeError for anything else.
    Reference: TensorFlow 2.21 `tf.compat.v1.variables_initializer`.

    >>> v = tf.Variable(1.0)
    >>> sess.run(tf.variables_initializer([v]))
    >>> sess.run(v)
    np.float32(1.0)
    """
    if current_graph() is None:
        return None
    if any(not hasattr(v, "initializer") for v in var_list):
        other = next(v for v in var_list if not hasattr(v, "initializer"))
        raise TypeError(f"variables_initializer takes a list of variables, not {type(other).__name__}.\n"
                        f"  Asked for at {user_source(2)}\n  Fix: give [v, ...] or tf.global_variables()")
    return group(*[v.initializer for v in var_list], name=name)


initialize_variables = variables_initializer


def global_variables_initializer() -> Operation | Any:
    """Makes an operation that initializes all of `global_variables()`.

    >>> v = tf.Variable(1.0)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(v)
    np.float32(1.0)
    """
    return variables_initializer(global_variables())


def initialize_all_variables() -> Operation | Any:
    """Does what `global_variables_initializer()` does; the name of 0.x."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation | Any:
    """Makes an operation that initializes all of `local_variables()`."""
    return variables_initializer(local_variables())


def initialize_local_variables() -> Operation | Any:
    """Does what `local_variables_initializer()` does; the name of 0.x."""
    return variables_initializer(local_variables())


def is_variable_initialized(variable: Any) -> Tensor:
    """Returns whether the variable has a value, a bool scalar tensor.

    Args:
      variable: the variable.
    Returns: a scalar, bool.
    Reference: TensorFlow 2.21 `tf.compat.v1.is_variable_initialized`.

    >>> v = tf.Variable(1.0)
    >>> sess.run(tf.is_variable_initialized(v))
    np.False_
    """
    return _as_variable(variable, "is_variable_initialized").is_initialized()


def report_uninitialized_variables(var_list: Any = None, name: str = "report_uninitialized_variables") -> Tensor:
    """Returns the names of the variables that have no value yet.

    Args:
      var_list: the variables; global and local ones by default.
      name: a name for the scope.
    Returns: a vector of strings.
    Reference: TensorFlow 2.21 `tf.compat.v1.report_uninitialized_variables`.

    >>> v = tf.Variable(1.0, name="v")
    >>> sess.run(tf.report_uninitialized_variables())
    array([b'v'], dtype=object)
    """
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope(name):
        if not var_list:
            return constant(np.array([], object))
        missing = raw.LogicalNot(raw.Pack([v.is_initialized() for v in var_list], name="stack"))
        names = constant(np.array([v.op.name.encode() for v in var_list], object))
        return raw.GatherV2(names, raw.Squeeze(raw.Where(missing), squeeze_dims=(1,)), 0)


def assert_variables_initialized(var_list: Any = None) -> Operation | Any:
    """Makes an operation that raises FailedPreconditionError unless all variables have a value.

    Args:
      var_list: the variables; global and local ones by default.
    Returns: the `Operation`, or None if there are no variables.
    """
    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        return None
    with name_scope("assert_variables_initialized"):
        return group(*[v.read_value() for v in var_list])


