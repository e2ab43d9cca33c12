"""`tf.linalg` of TensorFlow 2."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.clip import global_norm as global_norm
from graphgrad.ops.math import cross as cross

# -- arrays --------------------------------------------------------------------------
from graphgrad.ops.matrices import matrix_band_part as band_part
from graphgrad.ops.matrices import matrix_diag as diag
from graphgrad.ops.matrices import matrix_diag_part as diag_part
from graphgrad.ops.matrices import eye as eye
from graphgrad.ops.matrices import matrix_set_diag as set_diag
from graphgrad.ops.matrices import tensor_diag as tensor_diag
from graphgrad.ops.matrices import tensor_diag_part as tensor_diag_part
from graphgrad.ops.permute import matrix_transpose as matrix_transpose

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
