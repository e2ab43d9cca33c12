"""`tf.experimental` of TensorFlow 1."""

from graphgrad.frontend.optional import Optional as Optional
