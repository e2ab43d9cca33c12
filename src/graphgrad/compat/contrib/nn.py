"""`tf.contrib.nn` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.contrib_metrics: deprecated_flipped_sigmoid_cross_entropy_with_logits
    deprecated_flipped_softmax_cross_entropy_with_logits deprecated_flipped_sparse_softmax_cross_entropy_with_logits
""")
