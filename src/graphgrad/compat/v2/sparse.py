"""`tf.sparse`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.sparse.feature_crosses: cross=sparse_cross cross_hashed=sparse_cross_hashed sampled_addmm
graphgrad.extras.sparse.sparse_combine: mask=sparse_mask maximum=sparse_maximum minimum=sparse_minimum
    reset_shape=sparse_reset_shape split=sparse_split to_indicator=sparse_to_indicator
graphgrad.extras.sparse.sparse_counts: bincount=sparse_bincount
graphgrad.extras.sparse.sparse_functions: add=sparse_add concat=sparse_concat expand_dims eye
    fill_empty_rows=sparse_fill_empty_rows from_dense map_values reorder=sparse_reorder reshape=sparse_reshape
    retain=sparse_retain slice=sparse_slice softmax=sparse_softmax sparse_dense_matmul=sparse_tensor_dense_matmul
    to_dense transpose=sparse_transpose
graphgrad.extras.sparse.sparse_reductions: reduce_max=sparse_reduce_max reduce_sum=sparse_reduce_sum
graphgrad.extras.sparse.sparse_segment: segment_mean segment_sqrt_n segment_sum
graphgrad.ops.common.sparse_tensor: SparseTensor
""")
