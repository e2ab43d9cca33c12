"""`tf.test` of TensorFlow 2."""

from graphgrad.frontend.gradient_checker import compute_gradient as compute_gradient
