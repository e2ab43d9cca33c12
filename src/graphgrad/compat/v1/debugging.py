"""`tf.debugging` of TensorFlow 1."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.logical import is_finite as is_finite
from graphgrad.ops.logical import is_inf as is_inf
from graphgrad.ops.logical import is_nan as is_nan
from graphgrad.ops.logical import is_non_decreasing as is_non_decreasing
from graphgrad.ops.logical import is_strictly_increasing as is_strictly_increasing

# -- arrays --------------------------------------------------------------------------
from graphgrad.ops.array import check_numerics as check_numerics
