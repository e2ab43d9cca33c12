"""`tf.distribute.cluster_resolver` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.distribute.multi_worker import TFConfigClusterResolver as TFConfigClusterResolver

__all__ = [
    "TFConfigClusterResolver"
]
