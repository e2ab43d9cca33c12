"""`tf.nn.rnn_cell` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.frontend.rnn.lstm_cells import BasicLSTMCell as BasicLSTMCell
from graphgrad.frontend.rnn.lstm_cells import LSTMCell as LSTMCell
from graphgrad.frontend.rnn.lstm_cells import LSTMStateTuple as LSTMStateTuple
from graphgrad.frontend.rnn.rnn_cells import BasicRNNCell as BasicRNNCell
from graphgrad.frontend.rnn.rnn_cells import GRUCell as GRUCell
from graphgrad.frontend.rnn.rnn_cells import RNNCell as RNNCell
from graphgrad.frontend.rnn.rnn_wrappers import DeviceWrapper as DeviceWrapper
from graphgrad.frontend.rnn.rnn_wrappers import DropoutWrapper as DropoutWrapper
from graphgrad.frontend.rnn.rnn_wrappers import MultiRNNCell as MultiRNNCell
from graphgrad.frontend.rnn.rnn_wrappers import ResidualWrapper as ResidualWrapper

__all__ = [
    "BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUCell", "LSTMCell", "LSTMStateTuple",
    "MultiRNNCell", "RNNCell", "ResidualWrapper"
]
