"""`tf.xla`."""

from . import _xla_experimental as experimental
