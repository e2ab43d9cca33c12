"""`tf.contrib.framework.python`."""

from graphgrad.compat.contrib import _framework_ops as ops
