"""How loops and branches differ where `disable_control_flow_v2` has chosen those of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.gradients.core.inside_loop import OldControlFlow
from graphgrad.ir.dtypes import bool_
from graphgrad.ir.funcgraph import around
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.source import user_source


def is_old(graph: Graph | None) -> bool:
    """Returns whether loops and branches that are built in a graph are those of TensorFlow 1, outside of functions."""
    if graph is None or not OldControlFlow.on:
        return False
    return all(g.old_control_flow or not g.building_function for g in around(graph))


def check_decides(old: bool, value: Tensor, what: str) -> None:
    """Raises an error unless a value is a boolean scalar, as far as one can tell; for the old control flow."""
    rank = value.shape.rank
    problem = f"is of type {value.dtype.name}" if value.dtype is not bool_ else f"has the shape {value.shape}"
    if old and (value.dtype is not bool_ or rank):
        raise (ValueError if value.dtype is bool_ else TypeError)(
            f"{what} must be a boolean scalar, but it {problem}.\n  Built at {user_source(3)}\n"
            "  Fix: tf.reduce_all(...), or a comparison")


def layout_of_results(loop_vars: Any, result: Any, old: bool) -> Any:
    """Returns the structure of a loop's results: the old control flow has that of what the body returned."""
    if not old or (len(loop_vars) == 1 and isinstance(result, (list, tuple)) and len(result) != 1):
        return loop_vars
    return result if isinstance(result, (list, tuple)) or len(loop_vars) != 1 else [result]


def check_all_there(old: bool, leaves: Sequence[Any]) -> None:
    """Raises an error if there is a None among the results of a branch, or nothing at all; see `check_decides`."""
    if old and (not leaves or any(leaf is None for leaf in leaves)):
        raise ValueError("true_fn and false_fn must return tensors or operations, not None.\n"
                         f"  Built at {user_source(3)}\n  Fix: return a tensor in both, or tf.no_op()")
