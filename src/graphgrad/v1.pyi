from graphgrad import errors as errors
from graphgrad.compat import contrib as contrib
from graphgrad.compat.v1 import *
from graphgrad.compat.v1 import __git_version__ as __git_version__
from graphgrad.compat.v1 import __version__ as __version__
from graphgrad.ops.array import concat_stack as _concat_stack
from graphgrad.ops.array import select as _select
from graphgrad.ops.linalg import linalg_functions as _linalg
from graphgrad.ops.linalg import matmul as _matmul
from graphgrad.ops.math import arithmetic as _arithmetic
from graphgrad.ops.math import unary as _unary

# Imports under another name would need `__all__`, which type checkers cannot add another module's names to.
batch_cholesky = _linalg.cholesky
batch_matmul = _matmul.matmul
batch_svd = _linalg.svd
concat_v2 = _concat_stack.concat_v1
mul = _arithmetic.multiply
neg = _unary.negative
pack = _concat_stack.stack
select = _select.where_v1
sub = _arithmetic.subtract
unpack = _concat_stack.unstack
