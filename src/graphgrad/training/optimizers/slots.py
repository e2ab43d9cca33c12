"""Slots: the variables that an optimizer keeps beside each variable."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from graphgrad.frontend.distribute.sharding import share_layout
from graphgrad.frontend.variables.initializers import Zeros
from graphgrad.frontend.variables.references import is_reference
from graphgrad.frontend.variables.variable_scope import get_variable, get_variable_scope, variable_scope
from graphgrad.frontend.variables.variable_settings import SaveSliceInfo
from graphgrad.ir.context import current_graph
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined


def op_name(variable: Any) -> str:
    """Returns the name of a variable's operation, also of an eager one's."""
    return str(variable.op.name) if hasattr(variable, "op") else str(variable.name).partition(":")[0]


def create_slot(primary: Any, initial: Any, name: str, shape: Any = None, dtype: Any = None) -> Any:
    """Creates a variable `<primary>/<name>` that is not trainable.

    Args:
      primary: the variable or tensor that it goes with.
      initial: its initial value, or an initializer (then `shape` and `dtype` are needed).
      name: what to append to the name of `primary`; made unique.
      shape, dtype: for an initializer.
    """
    with _beside(primary), variable_scope(None, f"{op_name(primary)}/{name}"):
        get_variable_scope().set_partitioner(None)
        # A variable's slot is of its kind, a tensor's of the default one.
        resource = not is_reference(primary) if getattr(primary, "_snapshot", None) is not None else None
        slot = get_variable("", shape, dtype, initial, trainable=False, use_resource=resource)
    _set_part(slot, primary)
    share_layout(primary, slot)
    return slot


def _set_part(slot: Any, primary: Any) -> None:
    """Marks the slot of a part of a variable as the same part of a slot, by which checkpoints know it."""
    info = primary._get_save_slice_info() if hasattr(primary, "_get_save_slice_info") else None
    rank = slot.shape.rank
    if info is None or rank == 0:
        return
    # Its name begins as the part's, unless a scope is around; TensorFlow cuts off as many characters then, too.
    name = op_name(slot)[len(op_name(primary)) + 1:]
    slot._set_save_slice_info(SaveSliceInfo(f"{info.full_name}/{name}", info.full_shape[:rank], info.var_offset[:rank],
                                            info.var_shape[:rank]))


def _beside(primary: Any) -> contextlib.AbstractContextManager[None]:
    """Places operations in a block on the device of `primary`."""
    op: Any = getattr(primary, "op", None)
    if isinstance(op, Operation) and op.graph is current_graph():
        return op.graph.colocate_with(op)
    return contextlib.nullcontext()


def create_zeros_slot(primary: Any, name: str, dtype: Any = None) -> Any:
    """Creates a slot of zeros of the shape of `primary`; see `create_slot`."""
    dtype = dtype or primary.dtype
    shape = primary.shape
    if is_fully_defined(shape._dims):
        return create_slot(primary, Zeros(), name, shape, dtype)
    return create_slot(primary, _zeros_like(primary, dtype), name)


def _zeros_like(primary: Any, dtype: Any) -> Callable[[], Any]:
    def initial() -> Any:
        first = primary.initial_value if hasattr(primary, "initializer") and current_graph() is not None else primary
        zeros = raw.ZerosLike(first)
        return zeros if zeros.dtype is dtype else raw.Cast(zeros, DstT=dtype)

    return initial
