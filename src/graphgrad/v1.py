"""TensorFlow 1: `import graphgrad.v1 as tf`. Importing it turns graph mode on."""

from graphgrad.compat.lazy import mirror as _mirror
from graphgrad.frontend import modes as _modes

# The numbers of 1.x, its names, names of 0.x that 1.x gave up, and what TensorFlow 2 no longer has.
__all__, __getattr__, __dir__ = _mirror(__name__, "graphgrad.compat.v1", """
graphgrad.ops.array.concat_stack: concat_v2=concat_v1 pack=stack unpack=unstack
graphgrad.ops.array.select: select=where_v1
graphgrad.ops.linalg.linalg_functions: batch_cholesky=cholesky batch_svd=svd
graphgrad.ops.linalg.matmul: batch_matmul=matmul
graphgrad.ops.math.arithmetic: mul=multiply sub=subtract
graphgrad.ops.math.unary: neg=negative
graphgrad.compat.contrib: contrib=.
graphgrad.compat.compat_of_1: compat=.
graphgrad.compat.versions_of_1: version=. VERSION __version__=VERSION GIT_VERSION
""")

_modes.disable_v2_behavior()
