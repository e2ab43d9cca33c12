"""`tf.experimental` of TensorFlow 2."""

from graphgrad.frontend.optional import Optional as Optional
