"""Resource variables: handles, reads, assignments.

A kernel gets, for an input of type `resource`, a `Ref`: an object whose `value` is read and
set. Reads and assignments happen in creation order, so a read made before an assignment
sees the old value in every run.
"""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint, UnimplementedError
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import ANY, INDEX, NUMERIC
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw, registry
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.values.array_rows import combine_rows, set_rows
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ir.values.spare_arrays import copy_for_rows
from graphgrad.ops.array.gather import _along_axis, _gather_shape, check_range
from graphgrad.ops.common.row_sums import LARGE

_STATEFUL = ("stateful",)


@op("VarHandleOp", "-> resource: resource", dtype=ANY, flags=("stateful", "idle"), variable="handle")
def var_handle(xp, *, dtype, shape=None, container="", shared_name=""):
    """Returns a handle to the variable `shared_name` of the session. The executor resolves it."""
    raise Complaint("its handle stands for a variable of a graph", "use tf.Variable", UnimplementedError)


@var_handle.shape
def _scalar():
    return ()


@op("ReadVariableOp", "resource: resource -> value: dtype", dtype=ANY, flags=("stateful", "reads"), variable="read")
def read_variable(xp, ref, *, shape=None):
    """Returns the value of a variable."""
    return ref.value


@read_variable.shape
def _read_shape(handle, shape):
    return shape


@read_variable.grad
def _read_grad(op, dy):
    return dy


@op("VariableOf", "value: T -> resource: resource", T=ANY, variable="hold")
def variable_of(xp, value):
    """Makes a variable of a value, for gradients that read a variable assigned to since. Resolved by the executor."""
    raise Complaint("its handle stands for a variable of a graph", "use tf.Variable", UnimplementedError)


@variable_of.shape
def _variable_of_shape(value):
    return ()


@variable_of.grad
def _variable_of_grad(op, dy):
    return dy


@op("AssignVariableOp", "resource: resource, value: dtype ->", dtype=ANY, flags=_STATEFUL, variable="assign")
def assign_variable(xp, ref, value):
    """Sets the value of a variable."""
    ref.value = value


@op("AssignAddVariableOp", "resource: resource, value: dtype ->", dtype=NUMERIC, flags=_STATEFUL, variable="update")
def assign_add_variable(xp, ref, value):
    """Adds to a variable."""
    ref.value = ref.value + value


@op("AssignSubVariableOp", "resource: resource, value: dtype ->", dtype=NUMERIC, flags=_STATEFUL, variable="update")
def assign_sub_variable(xp, ref, value):
    """Subtracts from a variable."""
    ref.value = ref.value - value


@op("VarIsInitializedOp", "resource: resource -> is_initialized: bool", flags=("stateful", "host", "reads", "unset"),
    variable="ask")
def var_is_initialized(xp, ref):
    """Returns whether a variable has a value."""
    return xp.asarray(ref.value is not None)


@var_is_initialized.shape
def _initialized_shape(handle):
    return ()


var_is_initialized.grad(NOT_DIFFERENTIABLE)


@op("ResourceGather", "resource: resource, indices: Tindices -> output: dtype", dtype=ANY, Tindices=INDEX,
    flags=("stateful", "reads"))
def resource_gather(xp, ref, indices, *, shape=None, batch_dims=0):
    """Gathers rows of a variable, or of each of its parts along the first `batch_dims` axes."""
    return registry["GatherV2"].kernel(xp, ref.value, indices, np.asarray(batch_dims), batch_dims=batch_dims)


@resource_gather.refuses("indices")
def _resource_gather_refuses(xp, ref, indices, batch_dims=0):
    return [(indices, ref.value.shape[batch_dims])]


@resource_gather.shape
def _resource_gather_shape(handle, indices, shape, batch_dims):
    return None if shape is None else _gather_shape(tuple(shape), indices, batch_dims, batch_dims)


@resource_gather.grad
def _resource_gather_grad(op, dy):
    lead, shape = op._attr("batch_dims"), op._attr("shape")
    sizes = sizes_of_variable(op)
    if lead:
        return _along_axis(dy, sizes, len(shape), op.inputs[1], lead, lead), None
    indices = raw.Reshape(op.inputs[1], [-1])
    if is_fully_defined(shape):
        target = np.asarray([-1, *shape[1:]], np.int32)
    else:
        target = raw.ConcatV2([[-1], raw.StridedSlice(sizes, [1], [0], [1], end_mask=1)], 0)
    return IndexedSlices(raw.Reshape(dy, target), indices, sizes), None


def sizes_of_variable(op):
    """Returns the sizes of the variable that an operation reads: a constant where they are known."""
    shape = op._attr("shape")
    if is_fully_defined(shape):
        return convert_to_tensor(np.asarray(shape, np.int32))
    return raw.VariableShape(op.inputs[0], shape=shape)


@op("VariableShape", "input: resource -> output: int32", flags=("stateful", "reads"), shape_only=True)
def variable_shape(xp, ref, *, shape=None):
    """Returns the shape of a variable's value."""
    return np.asarray(ref.value.shape, np.int32)


@variable_shape.shape
def _variable_shape_shape(handle, shape):
    return None if shape is None else (len(shape),)


variable_shape.grad(NOT_DIFFERENTIABLE)


def _scatter(name, update):
    @op(name, "resource: resource, indices: Tindices, updates: dtype ->", dtype=ANY, Tindices=INDEX, flags=_STATEFUL)
    def scatter(xp, ref, indices, updates):
        if isinstance(indices, np.ndarray):
            check_range(indices, ref.value.shape[0])
        ref.value = update(xp, ref.value, indices, updates)

    scatter.__doc__ = f"{name}: updates rows of a variable in place."
    scatter.refuses("indices")(_scatter_refuses)
    return scatter


def _scatter_refuses(xp, ref, indices, updates):
    return [(indices, ref.value.shape[0])]


def changeable(xp, value, rows=None):
    """Returns a variable's value for an update of some rows: an array of JAX with its own, or a copy for NumPy.

    While XLA compiles, the value may be a constant that was assigned, and the updates computed.

    Args:
      xp: NumPy or `jax.numpy`.
      value: the variable's value.
      rows: the numbers of the rows that will be changed, valid ones; None if others may be.
    """
    if hasattr(value, "at"):
        return value
    return copy_for_rows(value, rows) if xp is np and rows is not None else xp.array(value)


def _at(xp, value, indices, updates, method):
    result = changeable(xp, value, indices)
    if hasattr(result, "at"):
        return getattr(result.at[indices], method)(updates)
    ufunc = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
             "min": np.minimum, "max": np.maximum}
    if method == "set" and indices.ndim == 1:
        set_rows(result, indices, updates)
    elif method == "set":
        result[indices] = updates
    elif method != "divide" and updates.size >= LARGE and indices.ndim == 1 and updates.shape[:1] == indices.shape:
        combine_rows(result, indices, updates, ufunc[method])
    else:
        ufunc[method].at(result, indices, updates)
    return result


resource_scatter_update = _scatter("ResourceScatterUpdate", lambda xp, v, i, u: _at(xp, v, i, u, "set"))
resource_scatter_add = _scatter("ResourceScatterAdd", lambda xp, v, i, u: _at(xp, v, i, u, "add"))
resource_scatter_sub = _scatter("ResourceScatterSub", lambda xp, v, i, u: _at(xp, v, i, u, "subtract"))
resource_scatter_mul = _scatter("ResourceScatterMul", lambda xp, v, i, u: _at(xp, v, i, u, "multiply"))
resource_scatter_div = _scatter("ResourceScatterDiv", lambda xp, v, i, u: _at(xp, v, i, u, "divide"))
resource_scatter_min = _scatter("ResourceScatterMin", lambda xp, v, i, u: _at(xp, v, i, u, "min"))
resource_scatter_max = _scatter("ResourceScatterMax", lambda xp, v, i, u: _at(xp, v, i, u, "max"))
