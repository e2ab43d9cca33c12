"""`tf.distribute` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1.distribute import cluster_resolver as cluster_resolver
from graphgrad.compat.v1.distribute import experimental as experimental
from graphgrad.extras.distribute.mirrored import MirroredStrategyV1 as MirroredStrategy
from graphgrad.extras.distribute.mirrored import OneDeviceStrategyV1 as OneDeviceStrategy
from graphgrad.frontend.distribute.contexts import ReduceOp as ReduceOp
from graphgrad.frontend.distribute.contexts import experimental_set_strategy as experimental_set_strategy
from graphgrad.frontend.distribute.contexts import get_loss_reduction as get_loss_reduction
from graphgrad.frontend.distribute.contexts import get_replica_context as get_replica_context
from graphgrad.frontend.distribute.contexts import get_strategy as get_strategy
from graphgrad.frontend.distribute.contexts import has_strategy as has_strategy
from graphgrad.frontend.distribute.contexts import in_cross_replica_context as in_cross_replica_context
from graphgrad.frontend.distribute.sharding import Mesh as Mesh
from graphgrad.frontend.distribute.strategy import InputContext as InputContext
from graphgrad.frontend.distribute.strategy import ReplicaContext as ReplicaContext
from graphgrad.frontend.distribute.strategy import StrategyExtended as StrategyExtended
from graphgrad.frontend.distribute.strategy import StrategyV1 as Strategy
from graphgrad.training.sessions.server import Server as Server

__all__ = [
    "InputContext", "Mesh", "MirroredStrategy", "OneDeviceStrategy", "ReduceOp", "ReplicaContext", "Server", "Strategy",
    "StrategyExtended", "cluster_resolver", "experimental", "experimental_set_strategy", "get_loss_reduction",
    "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context"
]
