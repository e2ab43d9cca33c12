"""`tf.contrib.rnn` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.rnn.contrib_cells import CoupledInputForgetGateLSTMCell as CoupledInputForgetGateLSTMCell
from graphgrad.extras.contrib.rnn.contrib_cells import IntersectionRNNCell as IntersectionRNNCell
from graphgrad.extras.contrib.rnn.contrib_cells import LayerNormBasicLSTMCell as LayerNormBasicLSTMCell
from graphgrad.extras.contrib.rnn.contrib_cells import NASCell as NASCell
from graphgrad.extras.contrib.rnn.contrib_cells import PhasedLSTMCell as PhasedLSTMCell
from graphgrad.extras.contrib.rnn.contrib_cells import TimeFreqLSTMCell as TimeFreqLSTMCell
from graphgrad.extras.contrib.rnn.contrib_cells import UGRNNCell as UGRNNCell
from graphgrad.extras.contrib.rnn.contrib_wrappers import AttentionCellWrapper as AttentionCellWrapper
from graphgrad.extras.contrib.rnn.contrib_wrappers import CompiledWrapper as CompiledWrapper
from graphgrad.extras.contrib.rnn.contrib_wrappers import EmbeddingWrapper as EmbeddingWrapper
from graphgrad.extras.contrib.rnn.contrib_wrappers import GRUBlockCell as GRUBlockCell
from graphgrad.extras.contrib.rnn.contrib_wrappers import GRUBlockCellV2 as GRUBlockCellV2
from graphgrad.extras.contrib.rnn.contrib_wrappers import HighwayWrapper as HighwayWrapper
from graphgrad.extras.contrib.rnn.contrib_wrappers import InputProjectionWrapper as InputProjectionWrapper
from graphgrad.extras.contrib.rnn.contrib_wrappers import LSTMBlockCell as LSTMBlockCell
from graphgrad.extras.contrib.rnn.contrib_wrappers import LSTMBlockFusedCell as LSTMBlockFusedCell
from graphgrad.extras.contrib.rnn.contrib_wrappers import OutputProjectionWrapper as OutputProjectionWrapper
from graphgrad.extras.contrib.rnn.conv_cells import Conv1DLSTMCell as Conv1DLSTMCell
from graphgrad.extras.contrib.rnn.conv_cells import Conv2DLSTMCell as Conv2DLSTMCell
from graphgrad.extras.contrib.rnn.conv_cells import Conv3DLSTMCell as Conv3DLSTMCell
from graphgrad.extras.contrib.rnn.conv_cells import ConvLSTMCell as ConvLSTMCell
from graphgrad.extras.contrib.rnn.stacks import stack_bidirectional_dynamic_rnn as stack_bidirectional_dynamic_rnn
from graphgrad.extras.contrib.rnn.stacks import stack_bidirectional_rnn as stack_bidirectional_rnn
from graphgrad.extras.contrib.rnn.stacks import transpose_batch_time as transpose_batch_time
from graphgrad.frontend.rnn.lstm_cells import BasicLSTMCell as BasicLSTMCell
from graphgrad.frontend.rnn.lstm_cells import LSTMCell as LSTMCell
from graphgrad.frontend.rnn.lstm_cells import LSTMStateTuple as LSTMStateTuple
from graphgrad.frontend.rnn.rnn_cells import BasicRNNCell as BasicRNNCell
from graphgrad.frontend.rnn.rnn_cells import GRUCell as GRUCell
from graphgrad.frontend.rnn.rnn_cells import RNNCell as RNNCell
from graphgrad.frontend.rnn.rnn_cells import _LayerCell as LayerRNNCell
from graphgrad.frontend.rnn.rnn_wrappers import DeviceWrapper as DeviceWrapper
from graphgrad.frontend.rnn.rnn_wrappers import DropoutWrapper as DropoutWrapper
from graphgrad.frontend.rnn.rnn_wrappers import MultiRNNCell as MultiRNNCell
from graphgrad.frontend.rnn.rnn_wrappers import ResidualWrapper as ResidualWrapper
from graphgrad.frontend.rnn.static_rnn import static_bidirectional_rnn as static_bidirectional_rnn
from graphgrad.frontend.rnn.static_rnn import static_rnn as static_rnn
from graphgrad.frontend.rnn.static_rnn import static_state_saving_rnn as static_state_saving_rnn

__all__ = [
    "AttentionCellWrapper", "BasicLSTMCell", "BasicRNNCell", "CompiledWrapper", "Conv1DLSTMCell", "Conv2DLSTMCell",
    "Conv3DLSTMCell", "ConvLSTMCell", "CoupledInputForgetGateLSTMCell", "DeviceWrapper", "DropoutWrapper",
    "EmbeddingWrapper", "GRUBlockCell", "GRUBlockCellV2", "GRUCell", "HighwayWrapper", "InputProjectionWrapper",
    "IntersectionRNNCell", "LSTMBlockCell", "LSTMBlockFusedCell", "LSTMCell", "LSTMStateTuple",
    "LayerNormBasicLSTMCell", "LayerRNNCell", "MultiRNNCell", "NASCell", "OutputProjectionWrapper", "PhasedLSTMCell",
    "RNNCell", "ResidualWrapper", "TimeFreqLSTMCell", "UGRNNCell", "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn", "static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn",
    "transpose_batch_time"
]
