"""`tf.nn.experimental`."""

# -- neural networks ---------------------------------------------------------------------
from graphgrad.ops.nn.dropout import general_dropout as general_dropout
from graphgrad.ops.nn.dropout import stateless_dropout as stateless_dropout
