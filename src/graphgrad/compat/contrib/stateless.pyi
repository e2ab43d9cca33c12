"""`tf.contrib.stateless` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.ops.random.stateless import stateless_multinomial as stateless_multinomial
from graphgrad.ops.random.stateless import stateless_normal as stateless_random_normal
from graphgrad.ops.random.stateless import stateless_truncated_normal as stateless_truncated_normal
from graphgrad.ops.random.stateless import stateless_uniform as stateless_random_uniform

__all__ = [
    "stateless_multinomial", "stateless_random_normal", "stateless_random_uniform", "stateless_truncated_normal"
]
