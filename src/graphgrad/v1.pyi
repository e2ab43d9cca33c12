from graphgrad.compat import contrib as contrib
from graphgrad.compat.v1 import *
from graphgrad.compat.v1 import __git_version__ as __git_version__
from graphgrad.compat.v1 import __version__ as __version__
from graphgrad.ops.array.concat_stack import concat_v1, stack, unstack
from graphgrad.ops.array.select import where_v1
from graphgrad.ops.linalg import linalg_functions as _linalg
from graphgrad.ops.linalg import matmul as _matmul
from graphgrad.ops.math import arithmetic as _arithmetic
from graphgrad.ops.math import unary as _unary

# Imports under another name would need `__all__`, which type checkers cannot add another module's names to.
batch_cholesky = _linalg.cholesky
batch_matmul = _matmul.matmul
batch_svd = _linalg.svd
concat_v2 = concat_v1
mul = _arithmetic.multiply
neg = _unary.negative
pack = stack
select = where_v1
sub = _arithmetic.subtract
unpack = unstack
