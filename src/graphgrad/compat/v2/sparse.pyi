"""`tf.sparse`. Written by `make faces` from exports.txt."""

from graphgrad.extras.sparse.feature_crosses import sampled_addmm as sampled_addmm
from graphgrad.extras.sparse.feature_crosses import sparse_cross as cross
from graphgrad.extras.sparse.feature_crosses import sparse_cross_hashed as cross_hashed
from graphgrad.extras.sparse.sparse_combine import sparse_mask as mask
from graphgrad.extras.sparse.sparse_combine import sparse_maximum as maximum
from graphgrad.extras.sparse.sparse_combine import sparse_minimum as minimum
from graphgrad.extras.sparse.sparse_combine import sparse_reset_shape as reset_shape
from graphgrad.extras.sparse.sparse_combine import sparse_split as split
from graphgrad.extras.sparse.sparse_combine import sparse_to_indicator as to_indicator
from graphgrad.extras.sparse.sparse_counts import sparse_bincount as bincount
from graphgrad.extras.sparse.sparse_functions import expand_dims as expand_dims
from graphgrad.extras.sparse.sparse_functions import eye as eye
from graphgrad.extras.sparse.sparse_functions import from_dense as from_dense
from graphgrad.extras.sparse.sparse_functions import map_values as map_values
from graphgrad.extras.sparse.sparse_functions import sparse_add as add
from graphgrad.extras.sparse.sparse_functions import sparse_concat as concat
from graphgrad.extras.sparse.sparse_functions import sparse_fill_empty_rows as fill_empty_rows
from graphgrad.extras.sparse.sparse_functions import sparse_reorder as reorder
from graphgrad.extras.sparse.sparse_functions import sparse_reshape as reshape
from graphgrad.extras.sparse.sparse_functions import sparse_retain as retain
from graphgrad.extras.sparse.sparse_functions import sparse_slice as slice
from graphgrad.extras.sparse.sparse_functions import sparse_softmax as softmax
from graphgrad.extras.sparse.sparse_functions import sparse_tensor_dense_matmul as sparse_dense_matmul
from graphgrad.extras.sparse.sparse_functions import sparse_transpose as transpose
from graphgrad.extras.sparse.sparse_functions import to_dense as to_dense
from graphgrad.extras.sparse.sparse_reductions import sparse_reduce_max as reduce_max
from graphgrad.extras.sparse.sparse_reductions import sparse_reduce_sum as reduce_sum
from graphgrad.extras.sparse.sparse_segment import segment_mean as segment_mean
from graphgrad.extras.sparse.sparse_segment import segment_sqrt_n as segment_sqrt_n
from graphgrad.extras.sparse.sparse_segment import segment_sum as segment_sum
from graphgrad.ops.common.sparse_tensor import SparseTensor as SparseTensor

__all__ = [
    "SparseTensor", "add", "bincount", "concat", "cross", "cross_hashed", "expand_dims", "eye", "fill_empty_rows",
    "from_dense", "map_values", "mask", "maximum", "minimum", "reduce_max", "reduce_sum", "reorder", "reset_shape",
    "reshape", "retain", "sampled_addmm", "segment_mean", "segment_sqrt_n", "segment_sum", "slice", "softmax",
    "sparse_dense_matmul", "split", "to_dense", "to_indicator", "transpose"
]
