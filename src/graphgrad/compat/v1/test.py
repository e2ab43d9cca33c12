"""`tf.test` of TensorFlow 1."""

from graphgrad.frontend.gradient_checker import compute_gradient_error_v1 as compute_gradient_error
from graphgrad.frontend.gradient_checker import compute_gradient_v1 as compute_gradient
