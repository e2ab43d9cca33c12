"""`tf.contrib` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.contrib.data: data=.
graphgrad.compat.contrib.distributions: distributions=.
graphgrad.compat.contrib.eager: eager=.
graphgrad.compat.contrib.framework: framework=.
graphgrad.compat.contrib.graph_editor: graph_editor=.
graphgrad.compat.contrib.image: image=.
graphgrad.compat.contrib.integrate: integrate=.
graphgrad.compat.contrib.layers: layers=.
graphgrad.compat.contrib.legacy_seq2seq: legacy_seq2seq=.
graphgrad.compat.contrib.lookup: lookup=.
graphgrad.compat.contrib.memory_stats: memory_stats=.
graphgrad.compat.contrib.metrics: metrics=.
graphgrad.compat.contrib.nn: nn=.
graphgrad.compat.contrib.opt: opt=.
graphgrad.compat.contrib.rnn: rnn=.
graphgrad.compat.contrib.seq2seq: seq2seq=.
graphgrad.compat.contrib.slim: slim=.
graphgrad.compat.contrib.staging: staging=.
graphgrad.compat.contrib.stateless: stateless=.
graphgrad.compat.contrib.tensorboard: tensorboard=.
graphgrad.compat.contrib.training: training=.
graphgrad.compat.contrib.util: util=.
graphgrad.compat.v1.autograph: autograph=.
""")
