"""`tf.contrib.rnn` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.rnn.contrib_cells: CoupledInputForgetGateLSTMCell IntersectionRNNCell LayerNormBasicLSTMCell
    NASCell PhasedLSTMCell TimeFreqLSTMCell UGRNNCell
graphgrad.extras.contrib.rnn.contrib_wrappers: AttentionCellWrapper CompiledWrapper EmbeddingWrapper GRUBlockCell
    GRUBlockCellV2 HighwayWrapper InputProjectionWrapper LSTMBlockCell LSTMBlockFusedCell OutputProjectionWrapper
graphgrad.extras.contrib.rnn.conv_cells: Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell
graphgrad.extras.contrib.rnn.stacks: stack_bidirectional_dynamic_rnn stack_bidirectional_rnn transpose_batch_time
graphgrad.frontend.rnn.lstm_cells: BasicLSTMCell LSTMCell LSTMStateTuple
graphgrad.frontend.rnn.rnn_cells: BasicRNNCell GRUCell LayerRNNCell=_LayerCell RNNCell
graphgrad.frontend.rnn.rnn_wrappers: DeviceWrapper DropoutWrapper MultiRNNCell ResidualWrapper
graphgrad.frontend.rnn.static_rnn: static_bidirectional_rnn static_rnn static_state_saving_rnn
""")
