"""`tf.contrib.nn`, as far as programs use it."""

from graphgrad.extras.contrib.contrib_metrics import (
    deprecated_flipped_sigmoid_cross_entropy_with_logits as deprecated_flipped_sigmoid_cross_entropy_with_logits,
)  # noqa: E501
from graphgrad.extras.contrib.contrib_metrics import (
    deprecated_flipped_softmax_cross_entropy_with_logits as deprecated_flipped_softmax_cross_entropy_with_logits,
)  # noqa: E501
from graphgrad.extras.contrib.contrib_metrics import (
    deprecated_flipped_sparse_softmax_cross_entropy_with_logits as deprecated_flipped_sparse_softmax_cross_entropy_with_logits,  # noqa: E501
)

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
