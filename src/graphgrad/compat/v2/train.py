"""`tf.train` of TensorFlow 2."""

from graphgrad.training.sessions.processes import ClusterSpec as ClusterSpec
from graphgrad.training.coordination.coordinator import Coordinator as Coordinator
from graphgrad.training.checkpoints.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from graphgrad.training.checkpoints.checkpoint_state import latest_checkpoint as latest_checkpoint
from graphgrad.training.checkpoints.checkpoint_state import list_variables as list_variables
from graphgrad.training.checkpoints.checkpoint_state import load_checkpoint as load_checkpoint
from graphgrad.training.checkpoints.checkpoint_state import load_variable as load_variable

from graphgrad.ir.proto.example_messages import BytesList as BytesList
from graphgrad.ir.proto.example_messages import Example as Example
from graphgrad.ir.proto.example_messages import Feature as Feature
from graphgrad.ir.proto.example_messages import FeatureList as FeatureList
from graphgrad.ir.proto.example_messages import FeatureLists as FeatureLists
from graphgrad.ir.proto.example_messages import Features as Features
from graphgrad.ir.proto.example_messages import FloatList as FloatList
from graphgrad.ir.proto.example_messages import Int64List as Int64List
from graphgrad.ir.proto.example_messages import SequenceExample as SequenceExample
from graphgrad.training.optimizers.averages import ExponentialMovingAverage as ExponentialMovingAverage

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

_CHECKPOINTS = {
    "Checkpoint": "graphgrad.training.checkpoints.object_checkpoint:Checkpoint",
    "CheckpointOptions": "graphgrad.training.checkpoints.object_checkpoint:CheckpointOptions",
    "CheckpointManager": "graphgrad.training.checkpoints.checkpoint_manager:CheckpointManager",
    "checkpoints_iterator": "graphgrad.training.checkpoints.checkpoint_manager:checkpoints_iterator",
    "CheckpointView": "graphgrad.training.checkpoints.checkpoint_manager:CheckpointView",
    "TrackableView": "graphgrad.training.checkpoints.checkpoint_manager:TrackableView",
}
__getattr__ = _missing_attribute(__name__, _CHECKPOINTS)
