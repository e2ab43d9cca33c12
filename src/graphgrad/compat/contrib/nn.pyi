"""`tf.contrib.nn` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.contrib_metrics import deprecated_flipped_sigmoid_cross_entropy_with_logits as deprecated_flipped_sigmoid_cross_entropy_with_logits
from graphgrad.extras.contrib.contrib_metrics import deprecated_flipped_softmax_cross_entropy_with_logits as deprecated_flipped_softmax_cross_entropy_with_logits
from graphgrad.extras.contrib.contrib_metrics import deprecated_flipped_sparse_softmax_cross_entropy_with_logits as deprecated_flipped_sparse_softmax_cross_entropy_with_logits

__all__ = [
    "deprecated_flipped_sigmoid_cross_entropy_with_logits", "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits"
]
