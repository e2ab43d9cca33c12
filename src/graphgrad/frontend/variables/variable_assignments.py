"""Assignments to variables, whole or in part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import raw, registry
from graphgrad.ir.shape import Shape, compatible, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.values.indexed_slices import IndexedSlices

from . import clusters
from .variable_creation import own_copy


class VariableSlice(AnyTensor):
    """What `variable[key]` is to type checkers: a tensor that can be assigned to; it is one that got this attribute."""

    __slots__ = ()

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Assigns to that part of the variable."""
        raise NotImplementedError  # only type checkers see the class


class Assignments:
    """The methods of a variable that assign to it, or to some of its rows or slices."""

    if TYPE_CHECKING:
        handle: Any
        name: Any
        numpy: Any
        _assigned: Any
        _changeable: bool
        _dtype: DType
        _graph: Graph | None
        _handle: Any
        _initializer_op: Operation | None
        _shape: Shape

    def _update(self, op_type: str, operands: tuple[Any, ...], name: str | None = None, read_value: bool = True) -> Any:
        self._changeable = True
        op = registry[op_type](self._handle, *operands, dtype=self._dtype, name=name)
        if not read_value:
            return op
        return self if op is None else self._assigned(op)

    def _operand(self, value: Any) -> Any:
        """Converts a value to assign and checks its shape."""
        tensor = convert_to_tensor(own_copy(value), self._dtype)
        if not compatible(self._shape, tensor._spec.shape):
            raise ValueError(f"Cannot assign value to variable '{self.name}': Shape mismatch.The variable shape "
                             f"{shape_str(self._shape)}, and the assigned value shape {shape_str(tensor._spec.shape)} "
                             f"are incompatible.\n  Asked for at {user_source(2)}\n"
                             "  Fix: give a value of the variable's shape")
        return tensor

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None,
               read_value: bool = True) -> Self | Any:
        """Sets the value.

        Args:
          value: a value of the variable's dtype and shape.
          use_locking: accepted; assignments of one run never interleave.
          name: a name for the operation.
          read_value: whether the result can be read.
        Returns: an object that refers to the variable after the assignment; the assignment's
          `Operation` if not `read_value`. In eager mode the variable, or None.
        Raises: ValueError if the shape does not fit.
        """
        return self._update("AssignVariableOp", (self._operand(value),), name, read_value)

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Self | Any:
        """Adds to the value; arguments and result as for `assign`."""
        return self._update("AssignAddVariableOp", (self._addend(delta),), name, read_value)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Self | Any:
        """Subtracts from the value; arguments and result as for `assign`."""
        return self._update("AssignSubVariableOp", (self._addend(delta),), name, read_value)

    def _addend(self, delta: Any) -> Any:
        """Converts a value to add; it is a sum over the workers of a cluster that share the variable."""
        tensor = self._operand(delta)
        return clusters.summed(tensor, self) if clusters.is_shared(self) else tensor

    def load(self, value: Any, session: Any = None) -> None:
        """Sets the value in a session at once; in eager mode without one.

        Raises: ValueError if there is no session.
        """
        if self._graph is None:
            self.assign(value)
            return
        from graphgrad.executor.runtime.session import get_default_session

        session = session or get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        # Silenced: it has an initializer.
        session.run(self._initializer_op, {self._initializer_op.inputs[1]: value})  # type: ignore[union-attr]

    def _scatter(self, op_type: str, sparse_delta: Any, name: str | None) -> Any:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        return self._scatter_rows(op_type, sparse_delta.indices, sparse_delta.values, name)

    def _scatter_rows(self, op_type: str, indices: Any, updates: Any, name: str | None = None) -> Any:
        return self._update(op_type, (indices, convert_to_tensor(updates, self._dtype)), name)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Self | Any:
        """Adds an `IndexedSlices` to the rows that it names."""
        return self._scatter("ResourceScatterAdd", sparse_delta, name)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Self | Any:
        """Subtracts an `IndexedSlices` from the rows that it names."""
        return self._scatter("ResourceScatterSub", sparse_delta, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Self | Any:
        """Multiplies the rows that an `IndexedSlices` names by its values."""
        return self._scatter("ResourceScatterMul", sparse_delta, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Self | Any:
        """Divides the rows that an `IndexedSlices` names by its values."""
        return self._scatter("ResourceScatterDiv", sparse_delta, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Self | Any:
        """Takes the minimum of an `IndexedSlices` and the rows that it names."""
        return self._scatter("ResourceScatterMin", sparse_delta, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Self | Any:
        """Takes the maximum of an `IndexedSlices` and the rows that it names."""
        return self._scatter("ResourceScatterMax", sparse_delta, name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Self | Any:
        """Replaces the rows that an `IndexedSlices` names by its values."""
        return self._scatter("ResourceScatterUpdate", sparse_delta, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Self | Any:
        """Adds `updates` to the slices at `indices`; see `tf.scatter_nd`."""
        return self._scatter_rows("ResourceScatterNdAdd", indices, updates, name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Self | Any:
        """Subtracts `updates` from the slices at `indices`; see `tf.scatter_nd`."""
        return self._scatter_rows("ResourceScatterNdSub", indices, updates, name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Self | Any:
        """Replaces the slices at `indices` by `updates`; see `tf.scatter_nd`."""
        return self._scatter_rows("ResourceScatterNdUpdate", indices, updates, name)

    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Self | Any:
        """Takes the minimum of `updates` and the slices at `indices`; see `tf.scatter_nd`."""
        return self._scatter_rows("ResourceScatterNdMin", indices, updates, name)

    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Self | Any:
        """Takes the maximum of `updates` and the slices at `indices`; see `tf.scatter_nd`."""
        return self._scatter_rows("ResourceScatterNdMax", indices, updates, name)

    def batch_scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Self | Any:
        """Replaces rows within each batch; see `tf.compat.v1.batch_scatter_update`."""
        from .variable_functions import batch_scatter_update

        return batch_scatter_update(self, sparse_delta.indices, sparse_delta.values, use_locking, name)

    def _assign_slice(self, picked: Any, key: Any, value: Any, name: str | None) -> Any:
        if isinstance(picked, Tensor):
            op = picked.op
            masks = {k: op._attr(k) for k in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                              "shrink_axis_mask")}
            value = convert_to_tensor(value, self._dtype)
            return self._assigned(
                raw.ResourceStridedSliceAssign(self.handle, *op.inputs[1:], value, **masks, name=name))
        keys = key if isinstance(key, tuple) else (key,)
        plain = tuple([np.asarray(k._value) if isinstance(k, EagerTensor) else k for k in keys])
        changed = np.array(self.numpy())
        changed[plain] = convert_to_tensor(value, self._dtype).numpy()
        return self.assign(changed)
