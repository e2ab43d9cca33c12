"""`tf.distribute` of TensorFlow 2: what libraries ask outside of any strategy."""

from graphgrad.frontend.config.single_replica import ReduceOp as ReduceOp
from graphgrad.frontend.config.single_replica import get_replica_context as get_replica_context
from graphgrad.frontend.config.single_replica import get_strategy as get_strategy
from graphgrad.frontend.config.single_replica import has_strategy as has_strategy
from graphgrad.frontend.config.single_replica import in_cross_replica_context as in_cross_replica_context

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
