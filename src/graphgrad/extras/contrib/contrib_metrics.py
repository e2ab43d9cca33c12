"""Small functions of `tf.contrib.metrics` and `tf.contrib.nn`."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.math.reduce_functions import reduce_mean, reduce_sum
from graphgrad.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from graphgrad.ops.nn.cross_entropy import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from graphgrad.ops.nn.cross_entropy import (
    sparse_softmax_cross_entropy_with_logits_v1 as sparse_softmax_cross_entropy_with_logits,
)


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Tensor:
    """Computes the fraction of predictions that equal their labels.

    Args:
      predictions, labels: tensors of one shape and dtype: integers, bools or strings.
      weights: a tensor that broadcasts with them.
      name: a name for the operations.
    Returns: a float32 scalar.
    Raises: ValueError for two dtypes.
    Reference: `tf.contrib.metrics.accuracy` of TensorFlow 1.15.

    >>> from graphgrad.extras.contrib.contrib_metrics import accuracy
    >>> sess.run(accuracy(tf.constant([1, 2, 3, 4]), tf.constant([1, 2, 3, 0])))
    np.float32(0.75)
    """
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    if predictions.dtype is not labels.dtype:
        raise ValueError(f"dtypes of labels and predictions should match, but got {labels.dtype.name} and "
                         f"{predictions.dtype.name}. Fix: tf.cast")
    with name_scope(name or "accuracy"):
        right = raw.Cast(raw.Equal(predictions, labels), DstT=float32)
        if weights is None:
            return reduce_mean(right)
        weights = raw.Cast(convert_to_tensor(weights), DstT=float32)
        return reduce_sum(right * weights) / reduce_sum(weights + raw.ZerosLike(right))


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits: Any, labels: Any,
                                                                name: str | None = None) -> Tensor:
    """Computes `tf.nn.sparse_softmax_cross_entropy_with_logits`, with the arguments in the order of 0.x.

    Args:
      logits, labels, name: as for `tf.nn.sparse_softmax_cross_entropy_with_logits`.
    """
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_softmax_cross_entropy_with_logits(logits: Any, labels: Any, dim: int = -1,
                                                         name: str | None = None) -> Tensor:
    """Computes `tf.nn.softmax_cross_entropy_with_logits`, with the arguments in the order of 0.x.

    Args:
      logits, labels, dim, name: as for `tf.nn.softmax_cross_entropy_with_logits`.
    """
    labels = raw.StopGradient(convert_to_tensor(labels))
    return softmax_cross_entropy_with_logits(labels=labels, logits=logits, axis=dim, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits: Any, targets: Any, name: str | None = None) -> Tensor:
    """Computes `tf.nn.sigmoid_cross_entropy_with_logits`, with the arguments in the order of 0.x.

    Args:
      logits, targets, name: as for `tf.nn.sigmoid_cross_entropy_with_logits`.
    """
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
