"""What `tensorflow.python.ops.rnn` imports, which programs take from there: the module of cells."""

from __future__ import annotations

from graphgrad.compat.v1.nn import rnn_cell as rnn_cell_impl

__all__ = ["rnn_cell_impl"]
