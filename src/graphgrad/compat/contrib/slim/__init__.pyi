"""`tf.contrib.slim` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.slim import model_analyzer as model_analyzer
from graphgrad.compat.contrib.slim import nets as nets
from graphgrad.compat.contrib.slim import python as python
from graphgrad.compat.contrib.slim import utils as utils
from graphgrad.compat.v1 import losses as losses
from graphgrad.extras.contrib.layer_summaries import summarize_activation as summarize_activation
from graphgrad.extras.contrib.layer_summaries import summarize_activations as summarize_activations
from graphgrad.extras.contrib.layer_summaries import summarize_collection as summarize_collection
from graphgrad.extras.contrib.layer_summaries import summarize_tensor as summarize_tensor
from graphgrad.extras.contrib.layer_summaries import summarize_tensors as summarize_tensors
from graphgrad.extras.contrib.layer_summaries import summarize_variables as summarize_variables
from graphgrad.extras.contrib.layers.arg_scope import add_arg_scope as add_arg_scope
from graphgrad.extras.contrib.layers.arg_scope import arg_scope as arg_scope
from graphgrad.extras.contrib.layers.arg_scope import arg_scoped_arguments as arg_scoped_arguments
from graphgrad.extras.contrib.layers.arg_scope import has_arg_scope as has_arg_scope
from graphgrad.extras.contrib.layers.contrib_layers import avg_pool2d as avg_pool2d
from graphgrad.extras.contrib.layers.contrib_layers import batch_norm as batch_norm
from graphgrad.extras.contrib.layers.contrib_layers import bias_add as bias_add
from graphgrad.extras.contrib.layers.contrib_layers import conv1d as conv1d
from graphgrad.extras.contrib.layers.contrib_layers import conv2d as conv2d
from graphgrad.extras.contrib.layers.contrib_layers import conv2d_transpose as conv2d_transpose
from graphgrad.extras.contrib.layers.contrib_layers import conv3d as conv3d
from graphgrad.extras.contrib.layers.contrib_layers import convolution as convolution
from graphgrad.extras.contrib.layers.contrib_layers import convolution1d as convolution1d
from graphgrad.extras.contrib.layers.contrib_layers import convolution2d as convolution2d
from graphgrad.extras.contrib.layers.contrib_layers import convolution2d_transpose as convolution2d_transpose
from graphgrad.extras.contrib.layers.contrib_layers import convolution3d as convolution3d
from graphgrad.extras.contrib.layers.contrib_layers import dropout as dropout
from graphgrad.extras.contrib.layers.contrib_layers import flatten as flatten
from graphgrad.extras.contrib.layers.contrib_layers import fully_connected as fully_connected
from graphgrad.extras.contrib.layers.contrib_layers import layer_norm as layer_norm
from graphgrad.extras.contrib.layers.contrib_layers import max_pool2d as max_pool2d
from graphgrad.extras.contrib.layers.contrib_layers import repeat as repeat
from graphgrad.extras.contrib.layers.contrib_layers import stack as stack
from graphgrad.extras.contrib.layers.contrib_variables import apply_regularization as apply_regularization
from graphgrad.extras.contrib.layers.contrib_variables import get_local_variables as get_local_variables
from graphgrad.extras.contrib.layers.contrib_variables import get_model_variables as get_model_variables
from graphgrad.extras.contrib.layers.contrib_variables import get_trainable_variables as get_trainable_variables
from graphgrad.extras.contrib.layers.contrib_variables import get_unique_variable as get_unique_variable
from graphgrad.extras.contrib.layers.contrib_variables import get_variables as get_variables
from graphgrad.extras.contrib.layers.contrib_variables import get_variables_by_name as get_variables_by_name
from graphgrad.extras.contrib.layers.contrib_variables import get_variables_by_suffix as get_variables_by_suffix
from graphgrad.extras.contrib.layers.contrib_variables import get_variables_to_restore as get_variables_to_restore
from graphgrad.extras.contrib.layers.contrib_variables import l1_l2_regularizer as l1_l2_regularizer
from graphgrad.extras.contrib.layers.contrib_variables import l1_regularizer as l1_regularizer
from graphgrad.extras.contrib.layers.contrib_variables import l2_regularizer as l2_regularizer
from graphgrad.extras.contrib.layers.contrib_variables import model_variable as model_variable
from graphgrad.extras.contrib.layers.contrib_variables import sum_regularizer as sum_regularizer
from graphgrad.extras.contrib.layers.contrib_variables import variable as variable
from graphgrad.extras.contrib.layers.contrib_variables import variance_scaling_initializer as variance_scaling_initializer
from graphgrad.extras.contrib.layers.contrib_variables import xavier_initializer as xavier_initializer
from graphgrad.extras.contrib.layers.contrib_variables import xavier_initializer_conv2d as xavier_initializer_conv2d
from graphgrad.extras.contrib.layers.rare_layers import avg_pool3d as avg_pool3d
from graphgrad.extras.contrib.layers.rare_layers import conv3d_transpose as conv3d_transpose
from graphgrad.extras.contrib.layers.rare_layers import convolution3d_transpose as convolution3d_transpose
from graphgrad.extras.contrib.layers.rare_layers import embed_sequence as embed_sequence
from graphgrad.extras.contrib.layers.rare_layers import group_norm as group_norm
from graphgrad.extras.contrib.layers.rare_layers import instance_norm as instance_norm
from graphgrad.extras.contrib.layers.rare_layers import max_pool3d as max_pool3d
from graphgrad.extras.contrib.layers.rare_layers import maxout as maxout
from graphgrad.extras.contrib.layers.rare_layers import one_hot_encoding as one_hot_encoding
from graphgrad.extras.contrib.layers.rare_layers import separable_conv2d as separable_conv2d
from graphgrad.extras.contrib.layers.rare_layers import separable_convolution2d as separable_convolution2d
from graphgrad.extras.contrib.layers.rare_layers import softmax as softmax
from graphgrad.extras.contrib.layers.rare_layers import spatial_softmax as spatial_softmax
from graphgrad.extras.contrib.layers.rare_layers import unit_norm as unit_norm
from graphgrad.training.optimizers.global_step import assert_global_step as assert_global_step
from graphgrad.training.optimizers.global_step import create_global_step as create_global_step
from graphgrad.training.optimizers.global_step import get_global_step as get_global_step
from graphgrad.training.optimizers.global_step import get_or_create_global_step as get_or_create_global_step
from graphgrad.training.optimizers.optimize_loss import optimize_loss as optimize_loss

__all__ = [
    "add_arg_scope", "apply_regularization", "arg_scope", "arg_scoped_arguments", "assert_global_step", "avg_pool2d",
    "avg_pool3d", "batch_norm", "bias_add", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose",
    "convolution", "convolution1d", "convolution2d", "convolution2d_transpose", "convolution3d",
    "convolution3d_transpose", "create_global_step", "dropout", "embed_sequence", "flatten", "fully_connected",
    "get_global_step", "get_local_variables", "get_model_variables", "get_or_create_global_step",
    "get_trainable_variables", "get_unique_variable", "get_variables", "get_variables_by_name",
    "get_variables_by_suffix", "get_variables_to_restore", "group_norm", "has_arg_scope", "instance_norm",
    "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "layer_norm", "losses", "max_pool2d", "max_pool3d",
    "maxout", "model_analyzer", "model_variable", "nets", "one_hot_encoding", "optimize_loss", "python", "repeat",
    "separable_conv2d", "separable_convolution2d", "softmax", "spatial_softmax", "stack", "sum_regularizer",
    "summarize_activation", "summarize_activations", "summarize_collection", "summarize_tensor", "summarize_tensors",
    "summarize_variables", "unit_norm", "utils", "variable", "variance_scaling_initializer", "xavier_initializer",
    "xavier_initializer_conv2d"
]
