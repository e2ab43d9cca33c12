"""`tf.contrib.seq2seq`, as far as programs use it."""

from graphgrad.contrib.seq2seq import sequence_loss as sequence_loss
from graphgrad.contrib.seq2seq import tile_batch as tile_batch

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
