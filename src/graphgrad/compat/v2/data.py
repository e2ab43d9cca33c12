"""`tf.data` of TensorFlow 2."""

from graphgrad.frontend.dataset import Dataset as Dataset

AUTOTUNE = -1
