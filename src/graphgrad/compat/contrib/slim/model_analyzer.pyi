"""`tf.contrib.slim.model_analyzer` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.layer_summaries import analyze_ops as analyze_ops
from graphgrad.extras.contrib.layer_summaries import analyze_vars as analyze_vars
from graphgrad.extras.contrib.layer_summaries import tensor_description as tensor_description

__all__ = [
    "analyze_ops", "analyze_vars", "tensor_description"
]
