"""`tf.contrib` of TensorFlow 1.15, as far as programs use it."""

from graphgrad.compat.contrib import framework as framework
from graphgrad.compat.contrib import layers as layers
from graphgrad.compat.contrib import rnn as rnn
from graphgrad.compat.contrib import slim as slim

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
