"""`tf.contrib.layers.python`."""

from graphgrad.compat.contrib import _layers_python_layers as layers
