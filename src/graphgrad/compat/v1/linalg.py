"""`tf.linalg` of TensorFlow 1."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.clip import global_norm as global_norm
from graphgrad.ops.math import cross as cross
