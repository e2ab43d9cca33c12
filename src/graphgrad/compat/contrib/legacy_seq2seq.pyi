"""`tf.contrib.legacy_seq2seq` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.seq2seq.legacy import attention_decoder as attention_decoder
from graphgrad.extras.contrib.seq2seq.legacy import basic_rnn_seq2seq as basic_rnn_seq2seq
from graphgrad.extras.contrib.seq2seq.legacy import embedding_attention_decoder as embedding_attention_decoder
from graphgrad.extras.contrib.seq2seq.legacy import embedding_attention_seq2seq as embedding_attention_seq2seq
from graphgrad.extras.contrib.seq2seq.legacy import embedding_rnn_decoder as embedding_rnn_decoder
from graphgrad.extras.contrib.seq2seq.legacy import embedding_rnn_seq2seq as embedding_rnn_seq2seq
from graphgrad.extras.contrib.seq2seq.legacy import model_with_buckets as model_with_buckets
from graphgrad.extras.contrib.seq2seq.legacy import rnn_decoder as rnn_decoder
from graphgrad.extras.contrib.seq2seq.legacy import sequence_loss as sequence_loss
from graphgrad.extras.contrib.seq2seq.legacy import sequence_loss_by_example as sequence_loss_by_example
from graphgrad.extras.contrib.seq2seq.legacy import tied_rnn_seq2seq as tied_rnn_seq2seq

__all__ = [
    "attention_decoder", "basic_rnn_seq2seq", "embedding_attention_decoder", "embedding_attention_seq2seq",
    "embedding_rnn_decoder", "embedding_rnn_seq2seq", "model_with_buckets", "rnn_decoder", "sequence_loss",
    "sequence_loss_by_example", "tied_rnn_seq2seq"
]
