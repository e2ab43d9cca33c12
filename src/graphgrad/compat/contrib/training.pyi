"""`tf.contrib.training` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.device_strategies import GreedyLoadBalancingStrategy as GreedyLoadBalancingStrategy
from graphgrad.extras.contrib.device_strategies import RandomStrategy as RandomStrategy
from graphgrad.extras.contrib.device_strategies import byte_size_load_fn as byte_size_load_fn
from graphgrad.extras.contrib.hparams import HParams as HParams

__all__ = [
    "GreedyLoadBalancingStrategy", "HParams", "RandomStrategy", "byte_size_load_fn"
]
