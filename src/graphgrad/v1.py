"""TensorFlow 1: `import graphgrad.v1 as tf`. Importing it turns graph mode on."""

from graphgrad.compat.v1 import *  # noqa: F403  # the same names
from graphgrad.frontend import modes as _modes

# Names of TensorFlow 0.x that 1.x gave up.
from graphgrad.ops.array.concat_stack import concat_v1 as concat_v2
from graphgrad.ops.array.concat_stack import stack as pack
from graphgrad.ops.array.concat_stack import unstack as unpack
from graphgrad.ops.linalg.linalg_functions import cholesky as batch_cholesky
from graphgrad.ops.linalg.linalg_functions import svd as batch_svd
from graphgrad.ops.math.arithmetic import multiply as mul
from graphgrad.ops.math.arithmetic import subtract as sub
from graphgrad.ops.math.unary import negative as neg
from graphgrad.ops.linalg.matmul import matmul as batch_matmul
from graphgrad.ops.array.select import where_v1 as select

# What TensorFlow 2 no longer has.
from graphgrad.compat import contrib as contrib

_modes.disable_v2_behavior()

# What a name that is missing gets to hear.
from graphgrad.compat.missing import listing as _listing
from graphgrad.compat.missing import missing_attribute as _missing_attribute
from graphgrad.compat.v1 import _LATER

__getattr__ = _missing_attribute(__name__, _LATER)
__dir__ = _listing(__name__)
