"""What libraries import from `python.training.training_util` besides public names."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.training.optimizers.global_step import get_global_step

GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def _get_or_create_global_step_read(graph: Any = None) -> Any:
    """Returns the graph's tensor of the global step, None without a step; the step is not changed before it is read.

    Args:
      graph: the graph; the default graph if it is not given.
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GLOBAL_STEP_READ_KEY)
    if found:
        return found[0]
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), name_scope(f"{step.op.name}/"):
        value = raw.Identity(step.read_value() if isinstance(step, Variable) else step)
        graph.add_to_collection(GLOBAL_STEP_READ_KEY, value)
    return value
