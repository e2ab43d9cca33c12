"""`tf.train` of TensorFlow 2."""

from graphgrad.train.processes import ClusterSpec as ClusterSpec
from graphgrad.train.coordinator import Coordinator as Coordinator
from graphgrad.train.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from graphgrad.train.checkpoint_state import latest_checkpoint as latest_checkpoint
from graphgrad.train.checkpoint_state import list_variables as list_variables
from graphgrad.train.checkpoint_state import load_checkpoint as load_checkpoint
from graphgrad.train.checkpoint_state import load_variable as load_variable

from graphgrad.ir.example_messages import BytesList as BytesList
from graphgrad.ir.example_messages import Example as Example
from graphgrad.ir.example_messages import Feature as Feature
from graphgrad.ir.example_messages import FeatureList as FeatureList
from graphgrad.ir.example_messages import FeatureLists as FeatureLists
from graphgrad.ir.example_messages import Features as Features
from graphgrad.ir.example_messages import FloatList as FloatList
from graphgrad.ir.example_messages import Int64List as Int64List
from graphgrad.ir.example_messages import SequenceExample as SequenceExample
from graphgrad.train.averages import ExponentialMovingAverage as ExponentialMovingAverage

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

_CHECKPOINTS = {
    "Checkpoint": "graphgrad.train.object_checkpoint:Checkpoint",
    "CheckpointOptions": "graphgrad.train.object_checkpoint:CheckpointOptions",
    "CheckpointManager": "graphgrad.train.checkpoint_manager:CheckpointManager",
    "checkpoints_iterator": "graphgrad.train.checkpoint_manager:checkpoints_iterator",
    "CheckpointView": "graphgrad.train.checkpoint_manager:CheckpointView",
    "TrackableView": "graphgrad.train.checkpoint_manager:TrackableView",
}
__getattr__ = _missing_attribute(__name__, _CHECKPOINTS)
