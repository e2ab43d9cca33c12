"""`tf.train`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.train import experimental as experimental
from graphgrad.frontend.config.config_proto import ClusterDef as ClusterDef
from graphgrad.frontend.config.config_proto import JobDef as JobDef
from graphgrad.ir.proto.example_messages import BytesList as BytesList
from graphgrad.ir.proto.example_messages import Example as Example
from graphgrad.ir.proto.example_messages import Feature as Feature
from graphgrad.ir.proto.example_messages import FeatureList as FeatureList
from graphgrad.ir.proto.example_messages import FeatureLists as FeatureLists
from graphgrad.ir.proto.example_messages import Features as Features
from graphgrad.ir.proto.example_messages import FloatList as FloatList
from graphgrad.ir.proto.example_messages import Int64List as Int64List
from graphgrad.ir.proto.example_messages import SequenceExample as SequenceExample
from graphgrad.training.checkpoints.checkpoint_manager import CheckpointManager as CheckpointManager
from graphgrad.training.checkpoints.checkpoint_manager import CheckpointView as CheckpointView
from graphgrad.training.checkpoints.checkpoint_manager import TrackableView as TrackableView
from graphgrad.training.checkpoints.checkpoint_manager import checkpoints_iterator as checkpoints_iterator
from graphgrad.training.checkpoints.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from graphgrad.training.checkpoints.checkpoint_state import latest_checkpoint as latest_checkpoint
from graphgrad.training.checkpoints.checkpoint_state import list_variables as list_variables
from graphgrad.training.checkpoints.checkpoint_state import load_checkpoint as load_checkpoint
from graphgrad.training.checkpoints.checkpoint_state import load_variable as load_variable
from graphgrad.training.checkpoints.object_checkpoint import Checkpoint as Checkpoint
from graphgrad.training.checkpoints.object_checkpoint import CheckpointOptions as CheckpointOptions
from graphgrad.training.coordination.coordinator import Coordinator as Coordinator
from graphgrad.training.optimizers.averages import ExponentialMovingAverage as ExponentialMovingAverage
from graphgrad.training.sessions.cluster_spec import ClusterSpec as ClusterSpec
from graphgrad.training.sessions.server import ServerDef as ServerDef

__all__ = [
    "BytesList", "Checkpoint", "CheckpointManager", "CheckpointOptions", "CheckpointView", "ClusterDef", "ClusterSpec",
    "Coordinator", "Example", "ExponentialMovingAverage", "Feature", "FeatureList", "FeatureLists", "Features",
    "FloatList", "Int64List", "JobDef", "SequenceExample", "ServerDef", "TrackableView", "checkpoints_iterator",
    "experimental", "get_checkpoint_state", "latest_checkpoint", "list_variables", "load_checkpoint", "load_variable"
]
