"""`tf.linalg.experimental` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.linear.conjugate_gradient import conjugate_gradient as conjugate_gradient

__all__ = [
    "conjugate_gradient"
]
