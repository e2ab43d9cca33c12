"""`tf.distribute` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.config.single_replica: ReduceOp get_replica_context get_strategy has_strategy
    in_cross_replica_context
""")
