"""`tf.distribute`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.distribute.cluster_resolver: cluster_resolver=.
graphgrad.compat.v2.distribute.experimental: experimental=.
graphgrad.extras.distribute.input: DistributedDataset DistributedIterator
graphgrad.extras.distribute.mirrored: MirroredStrategy OneDeviceStrategy
graphgrad.extras.distribute.multi_worker: MultiWorkerMirroredStrategy
graphgrad.extras.distribute.replica_values: DistributedValues
graphgrad.frontend.distribute.contexts: ReduceOp experimental_set_strategy get_replica_context get_strategy has_strategy
    in_cross_replica_context
graphgrad.frontend.distribute.sharding: Mesh
graphgrad.frontend.distribute.strategy: InputContext ReplicaContext Strategy StrategyExtended
graphgrad.training.sessions.server: Server
""")
