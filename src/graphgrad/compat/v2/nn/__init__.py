"""`tf.nn`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.nn.experimental: experimental=.
graphgrad.extras.sparse.sparse_embedding: embedding_lookup_sparse safe_embedding_lookup_sparse
graphgrad.frontend.rnn.rnn_wrappers: RNNCellDropoutWrapper RNNCellResidualWrapper
graphgrad.layers.average_losses: compute_average_loss scale_regularization_loss
graphgrad.ops.array.space_to_batch: depth_to_space space_to_batch space_to_depth
graphgrad.ops.math.order_statistics: approx_max_k approx_min_k isotonic_regression
graphgrad.ops.math.topk: in_top_k top_k
graphgrad.ops.math.trig: sigmoid tanh
graphgrad.ops.nn.activations: crelu elu gelu leaky_relu relu relu6 selu silu softplus softsign swish=silu
graphgrad.ops.nn.bias: bias_add
graphgrad.ops.nn.candidate_samplers: all_candidate_sampler fixed_unigram_candidate_sampler
    learned_unigram_candidate_sampler
graphgrad.ops.nn.conv.conv3d_functions: conv3d conv3d_transpose
graphgrad.ops.nn.conv.conv_functions: atrous_conv2d atrous_conv2d_transpose conv1d conv1d_transpose conv2d
    conv2d_transpose conv_transpose convolution
graphgrad.ops.nn.conv.depthwise_functions: depthwise_conv2d depthwise_conv2d_backprop_filter
    depthwise_conv2d_backprop_input separable_conv2d
graphgrad.ops.nn.conv.dilated: with_space_to_batch
graphgrad.ops.nn.conv.morphology: dilation2d erosion2d
graphgrad.ops.nn.cross_entropy: l2_loss log_poisson_loss sigmoid_cross_entropy_with_logits
    softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits weighted_cross_entropy_with_logits
graphgrad.ops.nn.ctc.ctc_functions: collapse_repeated ctc_beam_search_decoder ctc_greedy_decoder ctc_loss
    ctc_unique_labels
graphgrad.ops.nn.dropout: dropout
graphgrad.ops.nn.embedding: embedding_lookup
graphgrad.ops.nn.norm.lrn: local_response_normalization lrn=local_response_normalization
graphgrad.ops.nn.norm.moments: batch_norm_with_global_normalization batch_normalization l2_normalize moments
    normalize_moments sufficient_statistics weighted_moments zero_fraction
graphgrad.ops.nn.pool.fractional_pool: fractional_avg_pool fractional_max_pool
graphgrad.ops.nn.pool.pool_functions: avg_pool avg_pool1d avg_pool2d avg_pool3d max_pool max_pool1d max_pool2d
    max_pool3d max_pool_with_argmax pool
graphgrad.ops.nn.sampled_losses: compute_accidental_hits nce_loss sampled_softmax_loss
graphgrad.ops.nn.softmax: log_softmax softmax
""")
