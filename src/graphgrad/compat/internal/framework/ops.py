"""Small functions of TensorFlow's inside."""

from __future__ import annotations

import abc
import itertools
from typing import Any

from graphgrad.frontend.graph.default_graph import control_dependencies
from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor
from graphgrad.ir.values.composite import Composite
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ops.common.sparse_tensor import SparseTensor


class _TensorLike(abc.ABC):  # noqa: B024  # classes are registered
    """Dense and sparse tensors, and slices of tensors."""


for _kind in (Tensor, SparseTensor, IndexedSlices):
    _TensorLike.register(_kind)


def is_resource_variable(var: Any) -> bool:
    """Returns whether a value is a variable: all of them are resources here.

    Args:
      var: anything.
    """
    return isinstance(var, Variable)


_uids = itertools.count(1)


def uid() -> int:
    """Returns a number that is unique in the process."""
    return next(_uids)


def GetContainingXLAContext(ctxt: Any) -> None:
    """Returns None: functional control flow has no contexts.

    Args:
      ctxt: anything.
    """


def get_tpu_context() -> None:
    """Returns None: there are no TPU pods."""


def strip_name_scope(name: str, export_scope: Any) -> str:
    """Removes a name scope from a name.

    Args:
      name: the name.
      export_scope: the scope, or None.
    """
    if not export_scope:
        return name
    scope = export_scope.rstrip("/") + "/"
    marker = name[0] if name[:1] == "^" else ""
    return marker + name[len(marker) :].removeprefix(scope)


def prepend_name_scope(name: str, import_scope: Any) -> str:
    """Prepends a name scope to a name.

    Args:
      name: the name.
      import_scope: the scope, or None.
    """
    if not import_scope:
        return name
    marker = name[0] if name[:1] == "^" else ""
    return f"{marker}{import_scope.rstrip('/')}/{name[len(marker) :]}"


def name_from_scope_name(name: str) -> str:
    """Returns the name of an operation that has a scope's name: without the slash at the end.

    Args:
      name: the scope's name.
    """
    return name.removesuffix("/")


def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Converts what is not a value of several tensors, such as a sparse tensor, to a tensor.

    Args:
      value: the value.
      dtype: the tensor's dtype.
      name: a name for the operation.
    """
    return value if isinstance(value, Composite) else convert_to_tensor(value, dtype, name)


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """Returns a tensor that waits for operations.

    Args:
      dependencies: the operations.
      output_tensor: the tensor.
      name: a name for the operation.
    """
    with control_dependencies(dependencies):
        return raw.Identity(convert_to_tensor(output_tensor), name=name)


def _rows_changed(op: Any, done: str) -> Any:
    """Returns the function that changes rows by the op."""

    def changed(x: Any, i: Any, v: Any) -> Any:
        x = convert_to_tensor(x)
        i, v = convert_to_tensor(i), convert_to_tensor(v, x.dtype)
        if len(i.shape) == 0:
            i, v = raw.Reshape(i, [1]), raw.ExpandDims(v, 0)
        return op(x, raw.ExpandDims(i, -1), v)

    changed.__doc__ = f"""Returns x with {done}; x itself is unchanged.

    Args:
      x: a tensor.
      i: row numbers, a scalar or (n,).
      v: rows.
    """
    return changed


alias_inplace_update = _rows_changed(raw.TensorScatterUpdate, "the rows i set to v")
alias_inplace_add = _rows_changed(raw.TensorScatterAdd, "v added to the rows i")
alias_inplace_subtract = _rows_changed(raw.TensorScatterSub, "v subtracted from the rows i")


def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = None) -> Any:
    """Returns a tensor's shape.

    Args:
      input: the tensor.
      name: a name for the operation.
      optimize: whether a shape that is known becomes a constant; here it is none.
      out_type: int32, or int64.
    """
    return raw.Shape(convert_to_tensor(input), out_type=out_type or int32, name=name)


def _get_graph_from_inputs(op_input_list: Any, graph: Any = None) -> Any:
    """Returns the graph that tensors are in, the default graph for none.

    Args:
      op_input_list: values; those that are in no graph are passed over.
      graph: the graph that they have to be in, or None.
    Raises: ValueError for tensors of different graphs.
    """
    first = None
    for value in op_input_list:
        owner = getattr(value, "graph", None)
        if owner is None:
            continue
        if graph is not None and owner is not graph:
            raise ValueError(f"{value} is not from the passed-in graph.")
        if first is not None and owner is not first.graph:
            raise ValueError(f"{value} must be from the same graph as {first}.")
        first = value if first is None else first
    return graph or (get_default_graph() if first is None else first.graph)
