"""`tf.distribute`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.distribute import cluster_resolver as cluster_resolver
from graphgrad.compat.v2.distribute import experimental as experimental
from graphgrad.extras.distribute.input import DistributedDataset as DistributedDataset
from graphgrad.extras.distribute.input import DistributedIterator as DistributedIterator
from graphgrad.extras.distribute.mirrored import MirroredStrategy as MirroredStrategy
from graphgrad.extras.distribute.mirrored import OneDeviceStrategy as OneDeviceStrategy
from graphgrad.extras.distribute.multi_worker import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from graphgrad.extras.distribute.replica_values import DistributedValues as DistributedValues
from graphgrad.frontend.distribute.contexts import ReduceOp as ReduceOp
from graphgrad.frontend.distribute.contexts import experimental_set_strategy as experimental_set_strategy
from graphgrad.frontend.distribute.contexts import get_replica_context as get_replica_context
from graphgrad.frontend.distribute.contexts import get_strategy as get_strategy
from graphgrad.frontend.distribute.contexts import has_strategy as has_strategy
from graphgrad.frontend.distribute.contexts import in_cross_replica_context as in_cross_replica_context
from graphgrad.frontend.distribute.sharding import Mesh as Mesh
from graphgrad.frontend.distribute.strategy import InputContext as InputContext
from graphgrad.frontend.distribute.strategy import ReplicaContext as ReplicaContext
from graphgrad.frontend.distribute.strategy import Strategy as Strategy
from graphgrad.frontend.distribute.strategy import StrategyExtended as StrategyExtended
from graphgrad.training.sessions.server import Server as Server

__all__ = [
    "DistributedDataset", "DistributedIterator", "DistributedValues", "InputContext", "Mesh", "MirroredStrategy",
    "MultiWorkerMirroredStrategy", "OneDeviceStrategy", "ReduceOp", "ReplicaContext", "Server", "Strategy",
    "StrategyExtended", "cluster_resolver", "experimental", "experimental_set_strategy", "get_replica_context",
    "get_strategy", "has_strategy", "in_cross_replica_context"
]
