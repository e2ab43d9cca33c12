"""The names of `tensorflow.compiler.tf2xla.python.xla` that libraries import: operations of XLA's."""

from graphgrad.ops.array.xla_slice import dynamic_slice as dynamic_slice
from graphgrad.ops.array.xla_slice import dynamic_update_slice as dynamic_update_slice
