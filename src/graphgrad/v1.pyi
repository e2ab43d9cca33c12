from graphgrad.compat import contrib as contrib
from graphgrad.compat import v1 as _v1
from graphgrad.compat.v1 import *
from graphgrad.ops.array.concat_stack import concat_v1 as concat_v2
from graphgrad.ops.array.concat_stack import stack as pack
from graphgrad.ops.array.concat_stack import unstack as unpack
from graphgrad.ops.array.select import where_v1 as select
from graphgrad.ops.linalg.linalg_functions import cholesky as batch_cholesky
from graphgrad.ops.linalg.linalg_functions import svd as batch_svd
from graphgrad.ops.linalg.matmul import matmul as batch_matmul
from graphgrad.ops.math.arithmetic import multiply as mul
from graphgrad.ops.math.arithmetic import subtract as sub
from graphgrad.ops.math.unary import negative as neg

__all__ = ["batch_cholesky", "batch_matmul", "batch_svd", "concat_v2", "contrib", "mul", "neg", "pack", "select", "sub", "unpack"]
__all__ += _v1.__all__
