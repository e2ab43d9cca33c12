"""`tf.distribute` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.frontend.config.single_replica import ReduceOp as ReduceOp
from graphgrad.frontend.config.single_replica import get_replica_context as get_replica_context
from graphgrad.frontend.config.single_replica import get_strategy as get_strategy
from graphgrad.frontend.config.single_replica import has_strategy as has_strategy
from graphgrad.frontend.config.single_replica import in_cross_replica_context as in_cross_replica_context

__all__ = [
    "ReduceOp", "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context"
]
