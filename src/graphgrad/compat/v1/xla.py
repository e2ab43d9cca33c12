"""`tf.xla`."""

from graphgrad.compat.v1 import _xla_experimental as experimental
