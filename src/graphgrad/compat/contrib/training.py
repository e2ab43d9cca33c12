"""`tf.contrib.training` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.device_strategies: GreedyLoadBalancingStrategy RandomStrategy byte_size_load_fn
graphgrad.extras.contrib.hparams: HParams
""")
