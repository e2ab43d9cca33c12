"""`tf.nn.rnn_cell` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.rnn.lstm_cells: BasicLSTMCell LSTMCell LSTMStateTuple
graphgrad.frontend.rnn.rnn_cells: BasicRNNCell GRUCell RNNCell
graphgrad.frontend.rnn.rnn_wrappers: DeviceWrapper DropoutWrapper MultiRNNCell ResidualWrapper
""")
