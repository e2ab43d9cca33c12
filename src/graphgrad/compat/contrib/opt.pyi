"""`tf.contrib.opt` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.external_optimizer import ExternalOptimizerInterface as ExternalOptimizerInterface
from graphgrad.extras.contrib.external_optimizer import ScipyOptimizerInterface as ScipyOptimizerInterface

__all__ = [
    "ExternalOptimizerInterface", "ScipyOptimizerInterface"
]
