"""`tf.nn` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.contrib.legacy_seq2seq: seq2seq=.
graphgrad.compat.v1.nn.experimental: experimental=.
graphgrad.compat.v1.nn.rnn_cell: rnn_cell=.
graphgrad.extras.sparse.sparse_embedding: embedding_lookup_sparse=embedding_lookup_sparse_v1
    safe_embedding_lookup_sparse=safe_embedding_lookup_sparse_v1
graphgrad.frontend.rnn.dynamic_rnn: bidirectional_dynamic_rnn dynamic_rnn raw_rnn
graphgrad.frontend.rnn.static_rnn: static_bidirectional_rnn static_rnn static_state_saving_rnn
graphgrad.ops.array.space_to_batch: depth_to_space=depth_to_space_v1 space_to_batch=space_to_batch_v1
    space_to_depth=space_to_depth_v1
graphgrad.ops.math.order_statistics: approx_max_k approx_min_k
graphgrad.ops.math.topk: in_top_k=in_top_k_v1 top_k
graphgrad.ops.math.trig: sigmoid tanh
graphgrad.ops.nn.activations: crelu=crelu_v1 elu leaky_relu relu relu6 selu silu softplus softsign swish=silu
graphgrad.ops.nn.bias: bias_add relu_layer xw_plus_b
graphgrad.ops.nn.candidate_samplers: all_candidate_sampler fixed_unigram_candidate_sampler
    learned_unigram_candidate_sampler
graphgrad.ops.nn.conv.conv3d_functions: conv3d=conv3d_v1 conv3d_backprop_filter
    conv3d_backprop_filter_v2=conv3d_backprop_filter conv3d_transpose=conv3d_transpose_v1
graphgrad.ops.nn.conv.conv_functions: atrous_conv2d atrous_conv2d_transpose conv1d=conv1d_v1 conv1d_transpose
    conv2d=conv2d_v1 conv2d_backprop_filter conv2d_backprop_input conv2d_transpose=conv2d_transpose_v1 conv_transpose
    convolution=convolution_v1
graphgrad.ops.nn.conv.depthwise_functions: depthwise_conv2d=depthwise_conv2d_v1 depthwise_conv2d_backprop_filter
    depthwise_conv2d_backprop_input depthwise_conv2d_native
    depthwise_conv2d_native_backprop_filter=depthwise_conv2d_backprop_filter
    depthwise_conv2d_native_backprop_input=depthwise_conv2d_backprop_input separable_conv2d=separable_conv2d_v1
graphgrad.ops.nn.conv.dilated: with_space_to_batch
graphgrad.ops.nn.conv.morphology: dilation2d=dilation2d_v1 erosion2d=erosion2d_v1
graphgrad.ops.nn.cross_entropy: l2_loss log_poisson_loss sigmoid_cross_entropy_with_logits
    softmax_cross_entropy_with_logits=softmax_cross_entropy_with_logits_v1
    softmax_cross_entropy_with_logits_v2=softmax_cross_entropy_with_logits_v2_v1
    sparse_softmax_cross_entropy_with_logits=sparse_softmax_cross_entropy_with_logits_v1
    weighted_cross_entropy_with_logits=weighted_cross_entropy_with_logits_v1
graphgrad.ops.nn.ctc.ctc_functions: collapse_repeated ctc_beam_search_decoder=ctc_beam_search_decoder_v1
    ctc_beam_search_decoder_v2=ctc_beam_search_decoder ctc_greedy_decoder ctc_loss=ctc_loss_v1 ctc_loss_v2=ctc_loss
    ctc_unique_labels
graphgrad.ops.nn.dropout: dropout=dropout_v1
graphgrad.ops.nn.embedding: embedding_lookup=embedding_lookup_v1
graphgrad.ops.nn.norm.lrn: local_response_normalization lrn=local_response_normalization
graphgrad.ops.nn.norm.moments: batch_norm_with_global_normalization=batch_norm_with_global_normalization_v1
    batch_normalization fused_batch_norm l2_normalize moments=moments_v1 normalize_moments
    sufficient_statistics=sufficient_statistics_v1 weighted_moments=weighted_moments_v1 zero_fraction
graphgrad.ops.nn.pool.fractional_pool: fractional_avg_pool=fractional_avg_pool_v1
    fractional_max_pool=fractional_max_pool_v1
graphgrad.ops.nn.pool.pool_functions: avg_pool=avg_pool_v1 avg_pool1d avg_pool2d=avg_pool_v1 avg_pool3d
    avg_pool_v2=avg_pool max_pool=max_pool_v1 max_pool1d max_pool2d max_pool3d max_pool_v2=max_pool
    max_pool_with_argmax=max_pool_with_argmax_v1 pool=pool_v1
graphgrad.ops.nn.sampled_losses: compute_accidental_hits log_uniform_candidate_sampler nce_loss=nce_loss_v1
    sampled_softmax_loss=sampled_softmax_loss_v1 uniform_candidate_sampler
graphgrad.ops.nn.softmax: log_softmax=log_softmax_v1 softmax=softmax_v1
""")
