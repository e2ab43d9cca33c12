"""`tf.contrib.slim` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.contrib.slim.model_analyzer: model_analyzer=.
graphgrad.compat.contrib.slim.nets: nets=.
graphgrad.compat.contrib.slim.python: python=.
graphgrad.compat.contrib.slim.utils: utils=.
graphgrad.compat.v1.losses: losses=.
graphgrad.extras.contrib.layer_summaries: summarize_activation summarize_activations summarize_collection
    summarize_tensor summarize_tensors summarize_variables
graphgrad.extras.contrib.layers.arg_scope: add_arg_scope arg_scope arg_scoped_arguments has_arg_scope
graphgrad.extras.contrib.layers.contrib_layers: avg_pool2d batch_norm bias_add conv1d conv2d conv2d_transpose conv3d
    convolution convolution1d convolution2d convolution2d_transpose convolution3d dropout flatten fully_connected
    layer_norm max_pool2d repeat stack
graphgrad.extras.contrib.layers.contrib_variables: apply_regularization get_local_variables get_model_variables
    get_trainable_variables get_unique_variable get_variables get_variables_by_name get_variables_by_suffix
    get_variables_to_restore l1_l2_regularizer l1_regularizer l2_regularizer model_variable sum_regularizer variable
    variance_scaling_initializer xavier_initializer xavier_initializer_conv2d
graphgrad.extras.contrib.layers.rare_layers: avg_pool3d conv3d_transpose convolution3d_transpose embed_sequence
    group_norm instance_norm max_pool3d maxout one_hot_encoding separable_conv2d separable_convolution2d softmax
    spatial_softmax unit_norm
graphgrad.training.optimizers.global_step: assert_global_step create_global_step get_global_step
    get_or_create_global_step
graphgrad.training.optimizers.optimize_loss: optimize_loss
""")
