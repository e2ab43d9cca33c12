"""`tf.contrib.legacy_seq2seq` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.seq2seq.legacy: attention_decoder basic_rnn_seq2seq embedding_attention_decoder
    embedding_attention_seq2seq embedding_rnn_decoder embedding_rnn_seq2seq model_with_buckets rnn_decoder sequence_loss
    sequence_loss_by_example tied_rnn_seq2seq
""")
