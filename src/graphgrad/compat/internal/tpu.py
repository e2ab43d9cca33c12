"""`tensorflow.python.tpu.tpu_function` and `.ops.tpu_ops`: with a single replica."""

from __future__ import annotations

from typing import Any

from graphgrad.compat.internal.framework.ops import get_tpu_context as get_tpu_context
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source


def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """Returns the sum over all replicas: there is one."""
    return raw.Identity(convert_to_tensor(x), name=name)


def tpu_replicated_input(inputs: Any, is_mirrored_variable: bool = False, index: int = -1, is_packed: bool = False,
                         name: str | None = None) -> Any:
    """Returns the input of the only replica; raises ValueError for more than one."""
    if len(inputs) != 1:
        raise ValueError(f"tpu_replicated_input of {len(inputs)} inputs: there is one replica.\n"
                         f"  Asked for at {user_source(2)}\n  Fix: give one input")
    return raw.Identity(convert_to_tensor(inputs[0]), name=name)
