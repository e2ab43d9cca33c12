"""`tf.sparse` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.sparse.feature_crosses import sparse_cross as cross
from graphgrad.extras.sparse.feature_crosses import sparse_cross_hashed as cross_hashed
from graphgrad.extras.sparse.sparse_combine import sparse_mask as mask
from graphgrad.extras.sparse.sparse_combine import sparse_maximum as maximum
from graphgrad.extras.sparse.sparse_combine import sparse_merge as merge
from graphgrad.extras.sparse.sparse_combine import sparse_minimum as minimum
from graphgrad.extras.sparse.sparse_combine import sparse_reduce_max_sparse as reduce_max_sparse
from graphgrad.extras.sparse.sparse_combine import sparse_reduce_sum_sparse as reduce_sum_sparse
from graphgrad.extras.sparse.sparse_combine import sparse_reset_shape as reset_shape
from graphgrad.extras.sparse.sparse_combine import sparse_split_v1 as split
from graphgrad.extras.sparse.sparse_combine import sparse_to_indicator as to_indicator
from graphgrad.extras.sparse.sparse_counts import sparse_bincount as bincount
from graphgrad.extras.sparse.sparse_functions import expand_dims as expand_dims
from graphgrad.extras.sparse.sparse_functions import eye as eye
from graphgrad.extras.sparse.sparse_functions import from_dense as from_dense
from graphgrad.extras.sparse.sparse_functions import sparse_add_v1 as add
from graphgrad.extras.sparse.sparse_functions import sparse_concat_v1 as concat
from graphgrad.extras.sparse.sparse_functions import sparse_fill_empty_rows as fill_empty_rows
from graphgrad.extras.sparse.sparse_functions import sparse_placeholder as placeholder
from graphgrad.extras.sparse.sparse_functions import sparse_reorder as reorder
from graphgrad.extras.sparse.sparse_functions import sparse_reshape as reshape
from graphgrad.extras.sparse.sparse_functions import sparse_retain as retain
from graphgrad.extras.sparse.sparse_functions import sparse_slice as slice
from graphgrad.extras.sparse.sparse_functions import sparse_softmax as softmax
from graphgrad.extras.sparse.sparse_functions import sparse_tensor_dense_matmul as matmul
from graphgrad.extras.sparse.sparse_functions import sparse_tensor_dense_matmul as sparse_dense_matmul
from graphgrad.extras.sparse.sparse_functions import sparse_transpose as transpose
from graphgrad.extras.sparse.sparse_functions import to_dense as to_dense
from graphgrad.extras.sparse.sparse_reductions import sparse_reduce_max_v1 as reduce_max
from graphgrad.extras.sparse.sparse_reductions import sparse_reduce_sum_v1 as reduce_sum
from graphgrad.extras.sparse.sparse_segment import segment_mean_v1 as segment_mean
from graphgrad.extras.sparse.sparse_segment import segment_sqrt_n_v1 as segment_sqrt_n
from graphgrad.extras.sparse.sparse_segment import segment_sum_v1 as segment_sum
from graphgrad.ops.common.sparse_tensor import SparseTensor as SparseTensor

__all__ = [
    "SparseTensor", "add", "bincount", "concat", "cross", "cross_hashed", "expand_dims", "eye", "fill_empty_rows",
    "from_dense", "mask", "matmul", "maximum", "merge", "minimum", "placeholder", "reduce_max", "reduce_max_sparse",
    "reduce_sum", "reduce_sum_sparse", "reorder", "reset_shape", "reshape", "retain", "segment_mean", "segment_sqrt_n",
    "segment_sum", "slice", "softmax", "sparse_dense_matmul", "split", "to_dense", "to_indicator", "transpose"
]
