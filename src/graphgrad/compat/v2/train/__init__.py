"""`tf.train`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.train.experimental: experimental=.
graphgrad.frontend.config.config_proto: ClusterDef JobDef
graphgrad.ir.proto.example_messages: BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List
    SequenceExample
graphgrad.training.checkpoints.checkpoint_manager: CheckpointManager CheckpointView TrackableView checkpoints_iterator
graphgrad.training.checkpoints.checkpoint_state: get_checkpoint_state latest_checkpoint list_variables load_checkpoint
    load_variable
graphgrad.training.checkpoints.object_checkpoint: Checkpoint CheckpointOptions
graphgrad.training.coordination.coordinator: Coordinator
graphgrad.training.optimizers.averages: ExponentialMovingAverage
graphgrad.training.sessions.cluster_spec: ClusterSpec
graphgrad.training.sessions.server: ServerDef
""")
