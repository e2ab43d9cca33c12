"""`tf.distribute` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v1.distribute.cluster_resolver: cluster_resolver=.
graphgrad.compat.v1.distribute.experimental: experimental=.
graphgrad.extras.distribute.mirrored: MirroredStrategy=MirroredStrategyV1 OneDeviceStrategy=OneDeviceStrategyV1
graphgrad.frontend.distribute.contexts: ReduceOp experimental_set_strategy get_loss_reduction get_replica_context
    get_strategy has_strategy in_cross_replica_context
graphgrad.frontend.distribute.sharding: Mesh
graphgrad.frontend.distribute.strategy: InputContext ReplicaContext Strategy=StrategyV1 StrategyExtended
graphgrad.training.sessions.server: Server
""")
