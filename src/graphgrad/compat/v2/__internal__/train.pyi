"""`tf.__internal__.train`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.state import is_mixed_precision_graph_rewrite_enabled as is_mixed_precision_graph_rewrite_enabled
from graphgrad.compat.internal.state import set_using_mixed_precision_policy as set_using_mixed_precision_policy
from graphgrad.training.checkpoints.checkpoint_state import update_checkpoint_state_internal as update_checkpoint_state
from graphgrad.training.optimizers.moving_averages import assign_moving_average as assign_moving_average

__all__ = [
    "assign_moving_average", "is_mixed_precision_graph_rewrite_enabled", "set_using_mixed_precision_policy",
    "update_checkpoint_state"
]
