"""`tf.losses`: losses with weights, collected in the collection LOSSES."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)

from .loss_weights import Reduction, add_loss, broadcast_weights, compute_weighted_loss


def _pair(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Converts both to float32 tensors of one shape."""
    predictions = convert_to_tensor(predictions)
    predictions = predictions if predictions.dtype is float32 else raw.Cast(predictions, DstT=float32)
    labels = convert_to_tensor(labels)
    labels = labels if labels.dtype is float32 else raw.Cast(labels, DstT=float32)
    _check_shapes(labels, predictions, "give labels of the predictions' shape")
    return labels, predictions


def _check_shapes(labels: Any, predictions: Any, fix: str) -> None:
    if not predictions.shape.is_compatible_with(labels.shape):
        raise ValueError(f"Shapes {predictions.shape} and {labels.shape} are incompatible.\n"
                         f"  Built at {user_source(2)}\n  Fix: {fix}")


def _given(what: str, labels: Any, predictions: Any, names: Any = ("labels", "predictions")) -> None:
    for name, value in zip(names, (labels, predictions), strict=True):
        if value is None:
            raise ValueError(f"{what}: {name} must not be None.\n  Asked for at {user_source(2)}")


def absolute_difference(labels: TensorLike, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                        loss_collection: Any = GraphKeys.LOSSES,
                        reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Computes the loss |predictions - labels|.

    Args:
      labels, predictions: of one shape.
      weights, scope, loss_collection, reduction: as in `compute_weighted_loss`.
    Returns: a float32 scalar, or a tensor for `Reduction.NONE`.
    Raises: ValueError for incompatible shapes.
    Gradient: those of its operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.absolute_difference`.

    >>> sess.run(tf.losses.absolute_difference([1.0, 2.0], [3.0, 3.0]))
    np.float32(1.5)
    """
    _given("absolute_difference", labels, predictions)
    with name_scope(scope, "absolute_difference") as name:
        labels, predictions = _pair(labels, predictions)
        losses = raw.Abs(raw.Sub(predictions, labels))
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def cosine_distance(labels: TensorLike, predictions: Any, axis: Any = None, weights: Any = 1.0,
                    scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES,
                    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS, dim: Any = None) -> Tensor:
    """Computes the loss 1 - predictions . labels along an axis, for vectors of unit length.

    Args:
      labels, predictions: of one shape.
      axis, dim: the axis.
      weights, scope, loss_collection, reduction: as in `compute_weighted_loss`.
    Returns: a float32 scalar, or a tensor for `Reduction.NONE`.
    Raises: ValueError for incompatible shapes, and without an axis.
    Gradient: those of its operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.cosine_distance`.

    >>> sess.run(tf.losses.cosine_distance([[0.0, 1.0]], [[0.6, 0.8]], axis=1))
    np.float32(0.19999999)
    """
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError(f"You must specify argument `axis`.\n  Asked for at {user_source(2)}\n  Fix: give axis=1")
    _given("cosine_distance", labels, predictions)
    with name_scope(scope, "cosine_distance_loss") as name:
        labels, predictions = _pair(labels, predictions)
        losses = raw.Sub(np.float32(1), reduce_sum(raw.Mul(predictions, labels), axis, keepdims=True))
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def hinge_loss(labels: TensorLike, logits: TensorLike, weights: Any = 1.0, scope: str | None = None,
               loss_collection: Any = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Computes the loss max(0, 1 - l logits), with l = 1 for a label of 1 and -1 for one of 0.

    Args:
      labels, logits: of one shape; labels 0 or 1.
      weights, scope, loss_collection, reduction: as in `compute_weighted_loss`.
    Returns: a float32 scalar, or a tensor for `Reduction.NONE`.
    Raises: ValueError for incompatible shapes.
    Gradient: those of its operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.hinge_loss`.

    >>> sess.run(tf.losses.hinge_loss([1.0, 0.0], [0.5, 0.5]))
    np.float32(1.0)
    """
    _given("hinge_loss", labels, logits, names=("labels", "logits"))
    with name_scope(scope, "hinge_loss") as name:
        labels, logits = _pair(labels, logits)
        signs = raw.Sub(raw.Mul(np.float32(2), labels), np.float32(1))
        losses = raw.Relu(raw.Sub(np.float32(1), raw.Mul(signs, logits)))
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def huber_loss(labels: TensorLike, predictions: Any, weights: Any = 1.0, delta: Any = 1.0, scope: str | None = None,
               loss_collection: Any = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Computes a loss that is half the square of small differences, and linear beyond `delta`.

    Args:
      labels, predictions: of one shape.
      delta: where it becomes linear.
      weights, scope, loss_collection, reduction: as in `compute_weighted_loss`.
    Returns: a float32 scalar, or a tensor for `Reduction.NONE`.
    Raises: ValueError for incompatible shapes.
    Gradient: those of its operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.huber_loss`; Huber 1964, doi:10.1214/aoms/1177703732.

    >>> sess.run(tf.losses.huber_loss([0.0, 0.0], [1.0, 3.0]))
    np.float32(1.5)
    """
    _given("huber_loss", labels, predictions)
    with name_scope(scope, "huber_loss") as name:
        labels, predictions = _pair(labels, predictions)
        error = raw.Abs(raw.Sub(predictions, labels))
        bound = convert_to_tensor(delta, error.dtype)
        small = raw.Minimum(error, bound)
        losses = raw.AddV2(raw.Mul(np.float32(0.5), raw.Mul(small, small)), raw.Mul(bound, raw.Sub(error, small)))
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def log_loss(labels: TensorLike, predictions: Any, weights: Any = 1.0, epsilon: Any = 1e-7, scope: str | None = None,
             loss_collection: Any = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Computes the loss -labels log(predictions) - (1 - labels) log(1 - predictions).

    Args:
      labels, predictions: of one shape; probabilities.
      epsilon: a small number that is added within the logarithms.
      weights, scope, loss_collection, reduction: as in `compute_weighted_loss`.
    Returns: a float32 scalar, or a tensor for `Reduction.NONE`.
    Raises: ValueError for incompatible shapes.
    Gradient: those of its operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.log_loss`.

    >>> sess.run(tf.losses.log_loss([1.0], [0.5]))
    np.float32(0.69314694)
    """
    _given("log_loss", labels, predictions)
    with name_scope(scope, "log_loss") as name:
        labels, predictions = _pair(labels, predictions)
        one, small = np.float32(1), convert_to_tensor(epsilon, float32)
        yes = raw.Neg(raw.Mul(labels, raw.Log(raw.AddV2(predictions, small))))
        no = raw.Mul(raw.Sub(one, labels), raw.Log(raw.AddV2(raw.Sub(one, predictions), small)))
        return compute_weighted_loss(raw.Sub(yes, no), weights, name, loss_collection, reduction)


def mean_squared_error(labels: TensorLike, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                       loss_collection: Any = GraphKeys.LOSSES,
                       reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Computes the loss (predictions - labels)^2.

    Args:
      labels, predictions: of one shape.
      weights, scope, loss_collection, reduction: as in `compute_weighted_loss`.
    Returns: a float32 scalar, or a tensor for `Reduction.NONE`.
    Raises: ValueError for incompatible shapes.
    Gradient: those of its operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.mean_squared_error`.

    >>> loss = tf.losses.mean_squared_error([1.0, 2.0], [3.0, 3.0])
    >>> sess.run(loss), tf.get_collection(tf.GraphKeys.LOSSES) == [loss]
    (np.float32(2.5), True)
    """
    _given("mean_squared_error", labels, predictions)
    with name_scope(scope, "mean_squared_error") as name:
        labels, predictions = _pair(labels, predictions)
        losses = raw.SquaredDifference(predictions, labels)
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def mean_pairwise_squared_error(labels: TensorLike, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                                loss_collection: Any = GraphKeys.LOSSES) -> Tensor:
    """Computes the mean, over pairs of elements of an example, of ((p_i - p_j) - (l_i - l_j))^2.

    Args:
      labels, predictions: (N, ...), of one shape.
      weights: a scalar, or one for each example: (N), (N, 1) and the like.
      scope, loss_collection: as in `compute_weighted_loss`.
    Returns: a float32 scalar.
    Raises: ValueError for incompatible shapes.
    Gradient: those of its operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.mean_pairwise_squared_error`.

    >>> sess.run(tf.losses.mean_pairwise_squared_error([[0.0, 1.0]], [[1.0, 4.0]]))
    np.float32(4.0)
    """
    _given("mean_pairwise_squared_error", labels, predictions)
    with name_scope(scope, "mean_pairwise_squared_error"):
        labels, predictions = _pair(labels, predictions)
        weights = raw.Cast(convert_to_tensor(weights), DstT=float32)
        delta = raw.Sub(predictions, labels)
        rank = delta.shape.rank
        axes = raw.Range(1, raw.Rank(delta), 1) if rank is None else np.arange(1, rank, dtype=np.int32)
        total = raw.Sum(raw.Square(delta), axes, keep_dims=True)
        present = raw.Cast(raw.NotEqual(weights, np.float32(0)), DstT=float32)
        n = raw.Sum(broadcast_weights(present, delta), axes, keep_dims=True)
        less = raw.Maximum(raw.Sub(n, np.float32(1)), np.float32(0))
        squares = raw.Mul(np.float32(2), raw.DivNoNan(total, less, name="value"))
        product = raw.Square(raw.Sum(delta, axes, keep_dims=True))
        products = raw.Mul(np.float32(2), raw.DivNoNan(product, raw.Mul(n, less), name="value"))
        weighted = raw.Mul(raw.Sub(squares, products), weights)
        loss = reduce_sum(weighted)
        some = raw.Greater(reduce_sum(n), np.float32(0))
        loss = raw.SelectV2(some, loss, np.float32(0), name="value")
        add_loss(loss, loss_collection)
        return loss


def sigmoid_cross_entropy(multi_class_labels: Any, logits: TensorLike, weights: Any = 1.0, label_smoothing: Any = 0,
                          scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES,
                          reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Computes the cross entropy of independent labels.

    Args:
      multi_class_labels, logits: of one shape; labels from 0 to 1.
      label_smoothing: the fraction by which labels move towards 1/2.
      weights, scope, loss_collection, reduction: as in `compute_weighted_loss`.
    Returns: a scalar of the logits' dtype, or a tensor for `Reduction.NONE`.
    Raises: ValueError for incompatible shapes.
    Gradient: those of its operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.sigmoid_cross_entropy`.

    >>> sess.run(tf.losses.sigmoid_cross_entropy([1.0], [0.0]))
    np.float32(0.6931472)
    """
    _given("sigmoid_cross_entropy", multi_class_labels, logits, names=("multi_class_labels", "logits"))
    with name_scope(scope, "sigmoid_cross_entropy_loss") as name:
        logits = convert_to_tensor(logits)
        labels = _as(multi_class_labels, logits.dtype)
        _check_shapes(labels, logits, "give labels of the logits' shape")
        if label_smoothing > 0:
            labels = _scaled(labels, 1 - label_smoothing, 0.5 * label_smoothing)
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def softmax_cross_entropy(onehot_labels: Any, logits: TensorLike, weights: Any = 1.0, label_smoothing: Any = 0,
                          scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES,
                          reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Computes the cross entropy of mutually exclusive labels; no gradient flows into the labels.

    Args:
      onehot_labels, logits: (..., n); labels are probabilities.
      label_smoothing: the fraction by which labels move towards 1/n.
      weights: a scalar, or a tensor for (...).
      scope, loss_collection, reduction: as in `compute_weighted_loss`.
    Returns: a scalar of the logits' dtype, or a tensor for `Reduction.NONE`.
    Raises: ValueError for incompatible shapes.
    Gradient: those of its operations; none for the labels.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.softmax_cross_entropy`.

    >>> sess.run(tf.losses.softmax_cross_entropy([[1.0, 0.0]], [[0.0, 0.0]]))
    np.float32(0.6931472)
    """
    _given("softmax_cross_entropy", onehot_labels, logits, names=("onehot_labels", "logits"))
    with name_scope(scope, "softmax_cross_entropy_loss") as name:
        logits = convert_to_tensor(logits)
        labels = _as(onehot_labels, logits.dtype)
        _check_shapes(labels, logits, "give labels of the logits' shape, or use sparse_softmax_cross_entropy")
        if label_smoothing > 0:
            n = labels.shape.as_list()[-1]
            labels = _scaled(labels, 1 - label_smoothing, label_smoothing / n)
        labels = raw.StopGradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def sparse_softmax_cross_entropy(labels: TensorLike, logits: TensorLike, weights: Any = 1.0, scope: str | None = None,
                                 loss_collection: Any = GraphKeys.LOSSES,
                                 reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Computes the cross entropy of mutually exclusive labels, given as indices.

    Args:
      labels: (...) or (..., 1), integers below n.
      logits: (..., n).
      weights: a scalar, or a tensor for (...).
      scope, loss_collection, reduction: as in `compute_weighted_loss`.
    Returns: a scalar of the logits' dtype, or a tensor for `Reduction.NONE`.
    Raises: ValueError for incompatible shapes.
    Gradient: those of its operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.sparse_softmax_cross_entropy`.

    >>> sess.run(tf.losses.sparse_softmax_cross_entropy([1], [[0.0, 0.0]]))
    np.float32(0.6931472)
    """
    _given("sparse_softmax_cross_entropy", labels, logits, names=("labels", "logits"))
    with name_scope(scope, "sparse_softmax_cross_entropy_loss") as name:
        logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
        weights = convert_to_tensor(weights)
        rank = logits.shape.rank
        if rank is not None and labels.shape.rank == rank and labels.shape.as_list()[-1] == 1:
            labels = raw.Squeeze(labels, squeeze_dims=(-1,))
        if rank is not None and weights.shape.rank == rank and weights.shape.as_list()[-1] == 1:
            weights = raw.Squeeze(weights, squeeze_dims=(-1,))
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def _as(value: Any, dtype: Any) -> Any:
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype is as_dtype(dtype) else raw.Cast(tensor, DstT=dtype)


def _scaled(labels: Any, factor: float, shift: float) -> Any:
    return raw.AddV2(raw.Mul(labels, convert_to_tensor(factor, labels.dtype)), convert_to_tensor(shift, labels.dtype))
