"""`tf.dtypes` of TensorFlow 2."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.cast import cast as cast
from graphgrad.ops.cast import saturate_cast as saturate_cast
from graphgrad.ops.complexes import complex as complex
