"""`tf.xla`."""

from graphgrad.compat.v2 import _xla_experimental as experimental
