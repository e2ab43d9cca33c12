"""`tf.nn` of TensorFlow 1."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.trig import sigmoid as sigmoid
from graphgrad.ops.trig import tanh as tanh
