"""`tf.debugging` of TensorFlow 2: checks."""

# -- arrays --------------------------------------------------------------------------
from graphgrad.ops.array import check_numerics as check_numerics
