"""`tf.contrib.opt` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.external_optimizer import ExternalOptimizerInterface as ExternalOptimizerInterface
from graphgrad.extras.contrib.external_optimizer import ScipyOptimizerInterface as ScipyOptimizerInterface
from graphgrad.training.optimizers.adamax import AdaMaxOptimizer as AdaMaxOptimizer

__all__ = [
    "AdaMaxOptimizer", "ExternalOptimizerInterface", "ScipyOptimizerInterface"
]
