"""`tf.__internal__.train`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.internal.state: is_mixed_precision_graph_rewrite_enabled set_using_mixed_precision_policy
graphgrad.training.checkpoints.checkpoint_state: update_checkpoint_state=update_checkpoint_state_internal
graphgrad.training.optimizers.moving_averages: assign_moving_average
""")
