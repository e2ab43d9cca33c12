"""`tf.sparse` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.sparse.feature_crosses: cross=sparse_cross cross_hashed=sparse_cross_hashed
graphgrad.extras.sparse.sparse_combine: mask=sparse_mask maximum=sparse_maximum merge=sparse_merge
    minimum=sparse_minimum reduce_max_sparse=sparse_reduce_max_sparse reduce_sum_sparse=sparse_reduce_sum_sparse
    reset_shape=sparse_reset_shape split=sparse_split_v1 to_indicator=sparse_to_indicator
graphgrad.extras.sparse.sparse_counts: bincount=sparse_bincount
graphgrad.extras.sparse.sparse_functions: add=sparse_add_v1 concat=sparse_concat_v1 expand_dims eye
    fill_empty_rows=sparse_fill_empty_rows from_dense matmul=sparse_tensor_dense_matmul placeholder=sparse_placeholder
    reorder=sparse_reorder reshape=sparse_reshape retain=sparse_retain slice=sparse_slice softmax=sparse_softmax
    sparse_dense_matmul=sparse_tensor_dense_matmul to_dense transpose=sparse_transpose
graphgrad.extras.sparse.sparse_reductions: reduce_max=sparse_reduce_max_v1 reduce_sum=sparse_reduce_sum_v1
graphgrad.extras.sparse.sparse_segment: segment_mean=segment_mean_v1 segment_sqrt_n=segment_sqrt_n_v1
    segment_sum=segment_sum_v1
graphgrad.ops.common.sparse_tensor: SparseTensor
""")
