"""`tf.nn`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.nn import experimental as experimental
from graphgrad.extras.sparse.sparse_embedding import embedding_lookup_sparse as embedding_lookup_sparse
from graphgrad.extras.sparse.sparse_embedding import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from graphgrad.frontend.rnn.rnn_wrappers import RNNCellDropoutWrapper as RNNCellDropoutWrapper
from graphgrad.frontend.rnn.rnn_wrappers import RNNCellResidualWrapper as RNNCellResidualWrapper
from graphgrad.layers.average_losses import compute_average_loss as compute_average_loss
from graphgrad.layers.average_losses import scale_regularization_loss as scale_regularization_loss
from graphgrad.ops.array.space_to_batch import depth_to_space as depth_to_space
from graphgrad.ops.array.space_to_batch import space_to_batch as space_to_batch
from graphgrad.ops.array.space_to_batch import space_to_depth as space_to_depth
from graphgrad.ops.math.order_statistics import approx_max_k as approx_max_k
from graphgrad.ops.math.order_statistics import approx_min_k as approx_min_k
from graphgrad.ops.math.order_statistics import isotonic_regression as isotonic_regression
from graphgrad.ops.math.topk import in_top_k as in_top_k
from graphgrad.ops.math.topk import top_k as top_k
from graphgrad.ops.math.trig import sigmoid as sigmoid
from graphgrad.ops.math.trig import tanh as tanh
from graphgrad.ops.nn.activations import crelu as crelu
from graphgrad.ops.nn.activations import elu as elu
from graphgrad.ops.nn.activations import gelu as gelu
from graphgrad.ops.nn.activations import leaky_relu as leaky_relu
from graphgrad.ops.nn.activations import relu as relu
from graphgrad.ops.nn.activations import relu6 as relu6
from graphgrad.ops.nn.activations import selu as selu
from graphgrad.ops.nn.activations import silu as silu
from graphgrad.ops.nn.activations import silu as swish
from graphgrad.ops.nn.activations import softplus as softplus
from graphgrad.ops.nn.activations import softsign as softsign
from graphgrad.ops.nn.bias import bias_add as bias_add
from graphgrad.ops.nn.candidate_samplers import all_candidate_sampler as all_candidate_sampler
from graphgrad.ops.nn.candidate_samplers import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from graphgrad.ops.nn.candidate_samplers import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from graphgrad.ops.nn.conv.conv3d_functions import conv3d as conv3d
from graphgrad.ops.nn.conv.conv3d_functions import conv3d_transpose as conv3d_transpose
from graphgrad.ops.nn.conv.conv_functions import atrous_conv2d as atrous_conv2d
from graphgrad.ops.nn.conv.conv_functions import atrous_conv2d_transpose as atrous_conv2d_transpose
from graphgrad.ops.nn.conv.conv_functions import conv1d as conv1d
from graphgrad.ops.nn.conv.conv_functions import conv1d_transpose as conv1d_transpose
from graphgrad.ops.nn.conv.conv_functions import conv2d as conv2d
from graphgrad.ops.nn.conv.conv_functions import conv2d_transpose as conv2d_transpose
from graphgrad.ops.nn.conv.conv_functions import conv_transpose as conv_transpose
from graphgrad.ops.nn.conv.conv_functions import convolution as convolution
from graphgrad.ops.nn.conv.depthwise_functions import depthwise_conv2d as depthwise_conv2d
from graphgrad.ops.nn.conv.depthwise_functions import depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter
from graphgrad.ops.nn.conv.depthwise_functions import depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input
from graphgrad.ops.nn.conv.depthwise_functions import separable_conv2d as separable_conv2d
from graphgrad.ops.nn.conv.dilated import with_space_to_batch as with_space_to_batch
from graphgrad.ops.nn.conv.morphology import dilation2d as dilation2d
from graphgrad.ops.nn.conv.morphology import erosion2d as erosion2d
from graphgrad.ops.nn.cross_entropy import l2_loss as l2_loss
from graphgrad.ops.nn.cross_entropy import log_poisson_loss as log_poisson_loss
from graphgrad.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from graphgrad.ops.nn.cross_entropy import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from graphgrad.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits
from graphgrad.ops.nn.cross_entropy import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
from graphgrad.ops.nn.ctc.ctc_functions import collapse_repeated as collapse_repeated
from graphgrad.ops.nn.ctc.ctc_functions import ctc_beam_search_decoder as ctc_beam_search_decoder
from graphgrad.ops.nn.ctc.ctc_functions import ctc_greedy_decoder as ctc_greedy_decoder
from graphgrad.ops.nn.ctc.ctc_functions import ctc_loss as ctc_loss
from graphgrad.ops.nn.ctc.ctc_functions import ctc_unique_labels as ctc_unique_labels
from graphgrad.ops.nn.dropout import dropout as dropout
from graphgrad.ops.nn.embedding import embedding_lookup as embedding_lookup
from graphgrad.ops.nn.norm.lrn import local_response_normalization as local_response_normalization
from graphgrad.ops.nn.norm.lrn import local_response_normalization as lrn
from graphgrad.ops.nn.norm.moments import batch_norm_with_global_normalization as batch_norm_with_global_normalization
from graphgrad.ops.nn.norm.moments import batch_normalization as batch_normalization
from graphgrad.ops.nn.norm.moments import l2_normalize as l2_normalize
from graphgrad.ops.nn.norm.moments import moments as moments
from graphgrad.ops.nn.norm.moments import normalize_moments as normalize_moments
from graphgrad.ops.nn.norm.moments import sufficient_statistics as sufficient_statistics
from graphgrad.ops.nn.norm.moments import weighted_moments as weighted_moments
from graphgrad.ops.nn.norm.moments import zero_fraction as zero_fraction
from graphgrad.ops.nn.pool.fractional_pool import fractional_avg_pool as fractional_avg_pool
from graphgrad.ops.nn.pool.fractional_pool import fractional_max_pool as fractional_max_pool
from graphgrad.ops.nn.pool.pool_functions import avg_pool as avg_pool
from graphgrad.ops.nn.pool.pool_functions import avg_pool1d as avg_pool1d
from graphgrad.ops.nn.pool.pool_functions import avg_pool2d as avg_pool2d
from graphgrad.ops.nn.pool.pool_functions import avg_pool3d as avg_pool3d
from graphgrad.ops.nn.pool.pool_functions import max_pool as max_pool
from graphgrad.ops.nn.pool.pool_functions import max_pool1d as max_pool1d
from graphgrad.ops.nn.pool.pool_functions import max_pool2d as max_pool2d
from graphgrad.ops.nn.pool.pool_functions import max_pool3d as max_pool3d
from graphgrad.ops.nn.pool.pool_functions import max_pool_with_argmax as max_pool_with_argmax
from graphgrad.ops.nn.pool.pool_functions import pool as pool
from graphgrad.ops.nn.sampled_losses import compute_accidental_hits as compute_accidental_hits
from graphgrad.ops.nn.sampled_losses import nce_loss as nce_loss
from graphgrad.ops.nn.sampled_losses import sampled_softmax_loss as sampled_softmax_loss
from graphgrad.ops.nn.softmax import log_softmax as log_softmax
from graphgrad.ops.nn.softmax import softmax as softmax

__all__ = [
    "RNNCellDropoutWrapper", "RNNCellResidualWrapper", "all_candidate_sampler", "approx_max_k", "approx_min_k",
    "atrous_conv2d", "atrous_conv2d_transpose", "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "batch_norm_with_global_normalization", "batch_normalization", "bias_add", "collapse_repeated",
    "compute_accidental_hits", "compute_average_loss", "conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose",
    "conv3d", "conv3d_transpose", "conv_transpose", "convolution", "crelu", "ctc_beam_search_decoder",
    "ctc_greedy_decoder", "ctc_loss", "ctc_unique_labels", "depth_to_space", "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input", "dilation2d", "dropout", "elu",
    "embedding_lookup", "embedding_lookup_sparse", "erosion2d", "experimental", "fixed_unigram_candidate_sampler",
    "fractional_avg_pool", "fractional_max_pool", "gelu", "in_top_k", "isotonic_regression", "l2_loss", "l2_normalize",
    "leaky_relu", "learned_unigram_candidate_sampler", "local_response_normalization", "log_poisson_loss",
    "log_softmax", "lrn", "max_pool", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool_with_argmax", "moments",
    "nce_loss", "normalize_moments", "pool", "relu", "relu6", "safe_embedding_lookup_sparse", "sampled_softmax_loss",
    "scale_regularization_loss", "selu", "separable_conv2d", "sigmoid", "sigmoid_cross_entropy_with_logits", "silu",
    "softmax", "softmax_cross_entropy_with_logits", "softplus", "softsign", "space_to_batch", "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits", "sufficient_statistics", "swish", "tanh", "top_k",
    "weighted_cross_entropy_with_logits", "weighted_moments", "with_space_to_batch", "zero_fraction"
]
