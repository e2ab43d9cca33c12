"""`tf.nn.rnn_cell` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.rnn.rnn_cells: BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple RNNCell
graphgrad.frontend.rnn.rnn_wrappers: DeviceWrapper DropoutWrapper MultiRNNCell ResidualWrapper
""")
