"""`tf.train` of TensorFlow 2."""

from graphgrad.train.coordinator import Coordinator as Coordinator
from graphgrad.train.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from graphgrad.train.checkpoint_state import latest_checkpoint as latest_checkpoint
from graphgrad.train.checkpoint_state import list_variables as list_variables
from graphgrad.train.checkpoint_state import load_checkpoint as load_checkpoint
from graphgrad.train.checkpoint_state import load_variable as load_variable
