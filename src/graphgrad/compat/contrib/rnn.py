"""`tf.contrib.rnn`: the cells of `tf.nn.rnn_cell`."""

from graphgrad.frontend.rnn_cells import BasicLSTMCell as BasicLSTMCell
from graphgrad.frontend.rnn_cells import BasicRNNCell as BasicRNNCell
from graphgrad.frontend.rnn_cells import GRUCell as GRUCell
from graphgrad.frontend.rnn_cells import LSTMCell as LSTMCell
from graphgrad.frontend.rnn_cells import LSTMStateTuple as LSTMStateTuple
from graphgrad.frontend.rnn_cells import RNNCell as RNNCell
from graphgrad.frontend.rnn_wrappers import DeviceWrapper as DeviceWrapper
from graphgrad.frontend.rnn_wrappers import DropoutWrapper as DropoutWrapper
from graphgrad.frontend.rnn_wrappers import MultiRNNCell as MultiRNNCell
from graphgrad.frontend.rnn_wrappers import ResidualWrapper as ResidualWrapper
from graphgrad.frontend.rnn_static import static_bidirectional_rnn as static_bidirectional_rnn
from graphgrad.frontend.rnn_static import static_rnn as static_rnn
from graphgrad.frontend.rnn_static import static_state_saving_rnn as static_state_saving_rnn

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
