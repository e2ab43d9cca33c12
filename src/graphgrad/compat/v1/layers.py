"""`tf.layers` of TensorFlow 1."""

from graphgrad.layers.base import InputSpec as InputSpec
from graphgrad.layers.base import Layer as Layer
from graphgrad.layers.batch_norm import BatchNormalization as BatchNormalization
from graphgrad.layers.batch_norm import batch_normalization as batch_normalization
from graphgrad.layers.conv import Conv1D as Conv1D
from graphgrad.layers.conv import Conv2D as Conv2D
from graphgrad.layers.conv import Conv2DTranspose as Conv2DTranspose
from graphgrad.layers.conv import Conv3D as Conv3D
from graphgrad.layers.conv import Conv3DTranspose as Conv3DTranspose
from graphgrad.layers.conv import conv1d as conv1d
from graphgrad.layers.conv import conv2d as conv2d
from graphgrad.layers.conv import conv2d_transpose as conv2d_transpose
from graphgrad.layers.conv import conv3d as conv3d
from graphgrad.layers.conv import conv3d_transpose as conv3d_transpose
from graphgrad.layers.conv_separable import SeparableConv1D as SeparableConv1D
from graphgrad.layers.conv_separable import SeparableConv2D as SeparableConv2D
from graphgrad.layers.conv_separable import separable_conv1d as separable_conv1d
from graphgrad.layers.conv_separable import separable_conv2d as separable_conv2d
from graphgrad.layers.core import Dense as Dense
from graphgrad.layers.core import Dropout as Dropout
from graphgrad.layers.core import Flatten as Flatten
from graphgrad.layers.core import dense as dense
from graphgrad.layers.core import dropout as dropout
from graphgrad.layers.core import flatten as flatten
from graphgrad.layers.pool import AveragePooling1D as AveragePooling1D
from graphgrad.layers.pool import AveragePooling2D as AveragePooling2D
from graphgrad.layers.pool import AveragePooling3D as AveragePooling3D
from graphgrad.layers.pool import MaxPooling1D as MaxPooling1D
from graphgrad.layers.pool import MaxPooling2D as MaxPooling2D
from graphgrad.layers.pool import MaxPooling3D as MaxPooling3D
from graphgrad.layers.pool import average_pooling1d as average_pooling1d
from graphgrad.layers.pool import average_pooling2d as average_pooling2d
from graphgrad.layers.pool import average_pooling3d as average_pooling3d
from graphgrad.layers.pool import max_pooling1d as max_pooling1d
from graphgrad.layers.pool import max_pooling2d as max_pooling2d
from graphgrad.layers.pool import max_pooling3d as max_pooling3d

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
