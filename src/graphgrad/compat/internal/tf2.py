"""`tensorflow.python.tf2`."""

from graphgrad.ir.context import eager_by_default as enabled

__all__ = ["enabled"]
