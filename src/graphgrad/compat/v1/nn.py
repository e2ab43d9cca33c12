"""`tf.nn` of TensorFlow 1."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.trig import sigmoid as sigmoid
from graphgrad.ops.trig import tanh as tanh

# -- arrays --------------------------------------------------------------------------
from graphgrad.ops.space import depth_to_space_v1 as depth_to_space
from graphgrad.ops.space import space_to_batch_v1 as space_to_batch
from graphgrad.ops.space import space_to_depth_v1 as space_to_depth
