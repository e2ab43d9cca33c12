"""`tf.layers` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.layers.batch_norm_layer import BatchNormalization as BatchNormalization
from graphgrad.layers.batch_norm_layer import batch_normalization as batch_normalization
from graphgrad.layers.conv_layers import Conv1D as Conv1D
from graphgrad.layers.conv_layers import Conv2D as Conv2D
from graphgrad.layers.conv_layers import Conv2DTranspose as Conv2DTranspose
from graphgrad.layers.conv_layers import Conv3D as Conv3D
from graphgrad.layers.conv_layers import Conv3DTranspose as Conv3DTranspose
from graphgrad.layers.conv_layers import conv1d as conv1d
from graphgrad.layers.conv_layers import conv2d as conv2d
from graphgrad.layers.conv_layers import conv2d_transpose as conv2d_transpose
from graphgrad.layers.conv_layers import conv3d as conv3d
from graphgrad.layers.conv_layers import conv3d_transpose as conv3d_transpose
from graphgrad.layers.dense import Dense as Dense
from graphgrad.layers.dense import Dropout as Dropout
from graphgrad.layers.dense import Flatten as Flatten
from graphgrad.layers.dense import dense as dense
from graphgrad.layers.dense import dropout as dropout
from graphgrad.layers.dense import flatten as flatten
from graphgrad.layers.layer import InputSpec as InputSpec
from graphgrad.layers.layer import Layer as Layer
from graphgrad.layers.pool_layers import AveragePooling1D as AveragePooling1D
from graphgrad.layers.pool_layers import AveragePooling2D as AveragePooling2D
from graphgrad.layers.pool_layers import AveragePooling3D as AveragePooling3D
from graphgrad.layers.pool_layers import MaxPooling1D as MaxPooling1D
from graphgrad.layers.pool_layers import MaxPooling2D as MaxPooling2D
from graphgrad.layers.pool_layers import MaxPooling3D as MaxPooling3D
from graphgrad.layers.pool_layers import average_pooling1d as average_pooling1d
from graphgrad.layers.pool_layers import average_pooling2d as average_pooling2d
from graphgrad.layers.pool_layers import average_pooling3d as average_pooling3d
from graphgrad.layers.pool_layers import max_pooling1d as max_pooling1d
from graphgrad.layers.pool_layers import max_pooling2d as max_pooling2d
from graphgrad.layers.pool_layers import max_pooling3d as max_pooling3d
from graphgrad.layers.separable_conv import SeparableConv1D as SeparableConv1D
from graphgrad.layers.separable_conv import SeparableConv2D as SeparableConv2D
from graphgrad.layers.separable_conv import separable_conv1d as separable_conv1d
from graphgrad.layers.separable_conv import separable_conv2d as separable_conv2d

__all__ = [
    "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "BatchNormalization", "Conv1D", "Conv2D",
    "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "Dropout", "Flatten", "InputSpec", "Layer", "MaxPooling1D",
    "MaxPooling2D", "MaxPooling3D", "SeparableConv1D", "SeparableConv2D", "average_pooling1d", "average_pooling2d",
    "average_pooling3d", "batch_normalization", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose",
    "dense", "dropout", "flatten", "max_pooling1d", "max_pooling2d", "max_pooling3d", "separable_conv1d",
    "separable_conv2d"
]
