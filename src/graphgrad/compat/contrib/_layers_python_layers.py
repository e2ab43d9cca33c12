"""`tf.contrib.layers.python.layers`."""

from graphgrad.layers.contrib import avg_pool2d as avg_pool2d
from graphgrad.layers.contrib import batch_norm as batch_norm
from graphgrad.layers.contrib import bias_add as bias_add
from graphgrad.layers.contrib import conv1d as conv1d
from graphgrad.layers.contrib import conv2d as conv2d
from graphgrad.layers.contrib import conv2d_transpose as conv2d_transpose
from graphgrad.layers.contrib import conv3d as conv3d
from graphgrad.layers.contrib import convolution as convolution
from graphgrad.layers.contrib import convolution1d as convolution1d
from graphgrad.layers.contrib import convolution2d as convolution2d
from graphgrad.layers.contrib import convolution2d_transpose as convolution2d_transpose
from graphgrad.layers.contrib import convolution3d as convolution3d
from graphgrad.layers.contrib import dropout as dropout
from graphgrad.layers.contrib import flatten as flatten
from graphgrad.layers.contrib import fully_connected as fully_connected
from graphgrad.layers.contrib import layer_norm as layer_norm
from graphgrad.layers.contrib import max_pool2d as max_pool2d
from graphgrad.layers.contrib import repeat as repeat
from graphgrad.layers.contrib import stack as stack
from graphgrad.layers.contrib_more import avg_pool3d as avg_pool3d
from graphgrad.layers.contrib_more import convolution3d_transpose as convolution3d_transpose
from graphgrad.layers.contrib_more import conv3d_transpose as conv3d_transpose
from graphgrad.layers.contrib_more import group_norm as group_norm
from graphgrad.layers.contrib_more import instance_norm as instance_norm
from graphgrad.layers.contrib_more import max_pool3d as max_pool3d
from graphgrad.layers.contrib_more import maxout as maxout
from graphgrad.layers.contrib_more import one_hot_encoding as one_hot_encoding
from graphgrad.layers.contrib_more import separable_conv2d as separable_conv2d
from graphgrad.layers.contrib_more import separable_convolution2d as separable_convolution2d
from graphgrad.layers.contrib_more import softmax as softmax
from graphgrad.layers.contrib_more import spatial_softmax as spatial_softmax
from graphgrad.layers.contrib_more import unit_norm as unit_norm
from graphgrad.layers.contrib_more import embed_sequence as embed_sequence
from graphgrad.contrib.layer_summaries import summarize_activation as summarize_activation
from graphgrad.contrib.layer_summaries import summarize_activations as summarize_activations
from graphgrad.contrib.layer_summaries import summarize_collection as summarize_collection
from graphgrad.contrib.layer_summaries import summarize_tensor as summarize_tensor
from graphgrad.contrib.layer_summaries import summarize_tensors as summarize_tensors
from graphgrad.contrib.layer_summaries import summarize_variables as summarize_variables
from graphgrad.layers.contrib_variables import apply_regularization as apply_regularization
from graphgrad.layers.contrib_variables import l1_l2_regularizer as l1_l2_regularizer
from graphgrad.layers.contrib_variables import l1_regularizer as l1_regularizer
from graphgrad.layers.contrib_variables import l2_regularizer as l2_regularizer
from graphgrad.layers.contrib_variables import sum_regularizer as sum_regularizer
from graphgrad.layers.contrib_variables import variance_scaling_initializer as variance_scaling_initializer
from graphgrad.layers.contrib_variables import xavier_initializer as xavier_initializer
from graphgrad.layers.contrib_variables import xavier_initializer_conv2d as xavier_initializer_conv2d
from graphgrad.compat.contrib import _layers_utils as utils

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
