"""`tf.layers` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.layers.batch_norm_layer: BatchNormalization batch_normalization
graphgrad.layers.conv_layers: Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose conv1d conv2d conv2d_transpose conv3d
    conv3d_transpose
graphgrad.layers.dense: Dense Dropout Flatten dense dropout flatten
graphgrad.layers.layer: InputSpec Layer
graphgrad.layers.pool_layers: AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D MaxPooling3D
    average_pooling1d average_pooling2d average_pooling3d max_pooling1d max_pooling2d max_pooling3d
graphgrad.layers.separable_conv: SeparableConv1D SeparableConv2D separable_conv1d separable_conv2d
""")
