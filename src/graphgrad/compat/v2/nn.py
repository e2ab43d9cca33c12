"""`tf.nn` of TensorFlow 2."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.trig import sigmoid as sigmoid
from graphgrad.ops.trig import tanh as tanh

# -- arrays --------------------------------------------------------------------------
from graphgrad.ops.space import depth_to_space as depth_to_space
from graphgrad.ops.space import space_to_batch as space_to_batch
from graphgrad.ops.space import space_to_depth as space_to_depth
