"""`tf.contrib.layers.python.layers` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.contrib.slim.utils: utils=.
graphgrad.extras.contrib.layer_summaries: summarize_activation summarize_activations summarize_collection
    summarize_tensor summarize_tensors summarize_variables
graphgrad.extras.contrib.layers.contrib_layers: avg_pool2d batch_norm bias_add conv1d conv2d conv2d_transpose conv3d
    convolution convolution1d convolution2d convolution2d_transpose convolution3d dropout flatten fully_connected
    layer_norm max_pool2d repeat stack
graphgrad.extras.contrib.layers.contrib_variables: apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer
    sum_regularizer variance_scaling_initializer xavier_initializer xavier_initializer_conv2d
graphgrad.extras.contrib.layers.rare_layers: avg_pool3d conv3d_transpose convolution3d_transpose embed_sequence
    group_norm instance_norm max_pool3d maxout one_hot_encoding separable_conv2d separable_convolution2d softmax
    spatial_softmax unit_norm
""")
