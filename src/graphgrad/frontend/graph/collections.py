"""The standard names of graph collections."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.context import get_default_graph
from graphgrad.ir.graph import Graph

from .init_scope import variables_graph


class GraphKeys:
    """The names of the collections that the library itself adds to."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = "variables"  # the name of 0.x


def collecting_graph() -> Graph:
    """Returns the graph that holds collections: the one around all functions and branches."""
    return variables_graph() or get_default_graph()


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Returns a copy of a collection of that graph.

    Args:
      key: the collection's name.
      scope: a regular expression; keeps items whose `name` begins with a match.
    """
    return collecting_graph().get_collection(key, scope)
