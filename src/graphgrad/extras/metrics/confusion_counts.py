"""`tf.metrics`: counts of right and wrong predictions, and rates derived from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.dtypes import bool_, float32, float64, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.layers.loss_weights import broadcast_weights
from graphgrad.ops.math.bincount import confusion_matrix_v1
from graphgrad.ops.math.reduce_functions import reduce_sum

from .streaming_metrics import cast, collected, fitting, metric_variable, ratio, read, refuse_eager

_ZERO = np.float32(0)


def _count(metric: str, of: tuple[bool, bool], labels: Any, predictions: Any, weights: Any, metrics_collections: Any,
           updates_collections: Any, name: str | None) -> tuple[Any, Any]:
    """Counts the values whose label and prediction are as `of` says."""
    refuse_eager(metric)
    with variable_scope(name, metric):
        labels, predictions, weights = fitting(cast(labels, bool_), cast(predictions, bool_), weights)
        as_label = labels if of[0] else raw.LogicalNot(labels)
        as_prediction = predictions if of[1] else raw.LogicalNot(predictions)
        count = metric_variable([], float32, name="count")
        found = raw.Cast(raw.LogicalAnd(as_label, as_prediction), DstT=float32)
        value = raw.Identity(read(count))
        if weights is not None:
            found = raw.Mul(found, broadcast_weights(cast(weights, float32), found))
        update = read(count.assign_add(reduce_sum(found)))
        return collected(value, update, metrics_collections, updates_collections)


def true_positives(labels: TensorLike, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                   updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Counts the values for which both label and prediction are true.

    Args:
      labels, predictions: of one shape; cast to bool.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.true_positives`.
    """
    return _count("true_positives", (True, True), labels, predictions, weights, metrics_collections,
                  updates_collections, name)


def false_positives(labels: TensorLike, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                    updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Counts the values for which the prediction is true and the label is not.

    Args:
      labels, predictions: of one shape; cast to bool.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.false_positives`.
    """
    return _count("false_positives", (False, True), labels, predictions, weights, metrics_collections,
                  updates_collections, name)


def true_negatives(labels: TensorLike, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                   updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Counts the values for which neither label nor prediction is true.

    Args:
      labels, predictions: of one shape; cast to bool.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.true_negatives`.
    """
    return _count("true_negatives", (False, False), labels, predictions, weights, metrics_collections,
                  updates_collections, name)


def false_negatives(labels: TensorLike, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                    updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Counts the values for which the label is true and the prediction is not.

    Args:
      labels, predictions: of one shape; cast to bool.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.false_negatives`.
    """
    return _count("false_negatives", (True, False), labels, predictions, weights, metrics_collections,
                  updates_collections, name)


def _fraction(metric: str, count_wrong: Callable[..., Any], labels: Any, predictions: Any, weights: Any,
              metrics_collections: Any, updates_collections: Any, name: str | None) -> tuple[Any, Any]:
    """Computes the fraction of true positives among these and what another metric counts."""
    refuse_eager(metric)
    with variable_scope(name, metric):
        labels, predictions, weights = fitting(cast(labels, bool_), cast(predictions, bool_), weights)
        right, new_right = true_positives(labels, predictions, weights)
        wrong, new_wrong = count_wrong(labels, predictions, weights)
        value = raw.DivNoNan(right, raw.AddV2(right, wrong), name="value")
        update = raw.DivNoNan(new_right, raw.AddV2(new_right, new_wrong), name="update_op")
        return collected(value, update, metrics_collections, updates_collections)


def precision(labels: TensorLike, predictions: Any, weights: Any = None, metrics_collections: Any = None,
              updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the fraction of predicted positives that are true.

    Args:
      labels, predictions: of one shape; cast to bool.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.precision`.

    >>> value, update = tf.metrics.precision([1, 1, 0, 0], [1, 0, 1, 1])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float32(0.33333334)
    """
    return _fraction("precision", false_positives, labels, predictions, weights, metrics_collections,
                     updates_collections, name)


def recall(labels: TensorLike, predictions: Any, weights: Any = None, metrics_collections: Any = None,
           updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the fraction of true labels that are predicted as true.

    Args:
      labels, predictions: of one shape; cast to bool.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.recall`.

    >>> value, update = tf.metrics.recall([1, 1, 0, 0], [1, 0, 1, 1])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float32(0.5)
    """
    return _fraction("recall", false_negatives, labels, predictions, weights, metrics_collections,
                     updates_collections, name)


# -- classes ---------------------------------------------------------------------------


def _flat(tensor: Any) -> Any:
    return tensor if tensor.shape.rank == 1 else raw.Reshape(tensor, np.array([-1], np.int32))


def mean_iou(labels: TensorLike, predictions: Any, num_classes: Any, weights: Any = None,
             metrics_collections: Any = None, updates_collections: Any = None,
             name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean over classes of intersection over union.

    Args:
      labels, predictions: of one shape; integers below num_classes.
      num_classes: the number of classes.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.mean_iou`.
    """
    refuse_eager("mean_iou")
    with variable_scope(name, "mean_iou"):
        labels, predictions, weights = fitting(labels, predictions, weights)
        total = metric_variable([num_classes, num_classes], float64, name="total_confusion_matrix")
        weights = None if weights is None else _flat(broadcast_weights(cast(weights, float64), cast(labels, float64)))
        found = confusion_matrix_v1(_flat(cast(labels, int64)), _flat(cast(predictions, int64)), num_classes, float64,
                                    weights=weights)
        update = read(total.assign_add(found))
        matrix = cast(read(total), float32)
        both = raw.DiagPart(matrix)
        either = raw.Sub(raw.AddV2(reduce_sum(matrix, 0), reduce_sum(matrix, 1)), both)
        valid = reduce_sum(raw.Cast(raw.NotEqual(either, _ZERO), DstT=float32))
        value = raw.DivNoNan(reduce_sum(raw.DivNoNan(both, either)), valid, name="Select_1")  # as TensorFlow names it
        return collected(value, update, metrics_collections, updates_collections)


def mean_per_class_accuracy(labels: TensorLike, predictions: Any, num_classes: Any, weights: Any = None,
                            metrics_collections: Any = None, updates_collections: Any = None,
                            name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean over classes of the fraction of correct predictions.

    Args:
      labels, predictions: of one shape; integers below num_classes.
      num_classes: the number of classes.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.mean_per_class_accuracy`.
    """
    refuse_eager("mean_per_class_accuracy")
    with variable_scope(name, "mean_accuracy"):
        labels, predictions, weights = fitting(cast(labels, int64), cast(predictions, int64), weights)
        labels, predictions = _flat(labels), _flat(predictions)
        total = metric_variable([num_classes], float32, name="total")
        count = metric_variable([num_classes], float32, name="count")
        correct = raw.Cast(raw.Equal(predictions, labels), DstT=float32)
        ones = raw.OnesLike(correct)
        if weights is not None:
            weights = _flat(cast(weights, float32))
            correct, ones = raw.Mul(correct, weights), raw.Mul(ones, weights)
        number = np.int32(num_classes)
        new_total = read(total.assign_add(raw.UnsortedSegmentSum(ones, labels, number)))
        new_count = read(count.assign_add(raw.UnsortedSegmentSum(correct, labels, number)))
        value = raw.Mean(ratio(read(count), read(total), "value"), np.array([0], np.int32), name="mean_accuracy")
        update = ratio(new_count, new_total, "update_op")
        return collected(value, update, metrics_collections, updates_collections)
