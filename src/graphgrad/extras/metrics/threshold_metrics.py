"""`tf.metrics` over thresholds: the area under a curve and related ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import bool_, float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.layers.loss_weights import broadcast_weights
from graphgrad.ops.control.assertions import assert_greater_equal, assert_less_equal
from graphgrad.ops.math.argmax import argmin
from graphgrad.ops.math.reduce_functions import reduce_sum

from .streaming_metrics import cast, collected, fitting, metric_variable, refuse_eager

_NAMES = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}
_SMALL = 1e-7


def confusion_at_thresholds(labels: Any, predictions: Any, thresholds: Any, weights: Any = None,
                            includes: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Builds values and updates of the counts for each threshold, by their short names; all four for None."""
    if np.ndim(thresholds) != 1:
        raise TypeError(f"thresholds must be a list of numbers, not {thresholds!r}.\n"
                        f"  Asked for at {user_source(4)}\n  Fix: give [0.5, ...]")
    predictions = cast(predictions, float32)
    message = "predictions must be in [0, 1]"
    checks = [assert_greater_equal(predictions, np.float32(0), message=message),
              assert_less_equal(predictions, np.float32(1), message=message)]
    with get_default_graph().control_dependencies([c for c in checks if c is not None]):
        labels, predictions, weights = fitting(cast(labels, bool_), raw.Identity(predictions, name="checked"), weights)
    row = np.array([1, -1], np.int32)
    bounds = np.asarray(thresholds, np.float32)[:, None]
    predicted = raw.Greater(raw.Reshape(predictions, row), bounds)
    true = raw.Reshape(labels, row)
    if weights is not None:
        weights = raw.Reshape(broadcast_weights(cast(weights, float32), predictions), row)
    values, updates = {}, {}
    for key in includes or ("tp", "fn", "tn", "fp"):
        count = metric_variable([len(bounds)], float32, name=_NAMES[key])
        right = predicted if key[1] == "p" else raw.LogicalNot(predicted)
        found = raw.LogicalAnd(true if key in ("tp", "fn") else raw.LogicalNot(true), right)
        found = raw.Cast(found, DstT=float32)
        found = found if weights is None else raw.Mul(found, weights)
        values[key] = convert_to_tensor(count)
        updates[key] = convert_to_tensor(count.assign_add(reduce_sum(found, 1)))
    return values, updates


def _between(n: int) -> list[float]:
    if n > _MOST:
        raise ValueError(f"num_thresholds is {n}, more than {_MOST}.\n  Fix: give some hundreds of thresholds")
    return [(i + 1) / (n - 1) for i in range(n - 2)]


def _per(a: Any, b: Any, small: float = _SMALL, name: str | None = None) -> Any:
    """Computes a / (b + small)."""
    return raw.RealDiv(a, raw.AddV2(b, np.float32(small)), name=name)


_MOST = 2**24  # thresholds: they are drawn one by one, in Python
_METHODS = ("trapezoidal", "careful_interpolation", "minoring", "majoring")


def auc(labels: TensorLike, predictions: Any, weights: Any = None, num_thresholds: Any = 200,
        metrics_collections: Any = None, updates_collections: Any = None, curve: str = "ROC", name: str | None = None,
        summation_method: str = "trapezoidal", thresholds: Any = None) -> tuple[Tensor, Tensor]:
    """Computes the approximate area under a curve: recall over false positives, or precision over recall.

    Args:
      labels, predictions: of one shape; labels are cast to bool, predictions are from 0 to 1.
      num_thresholds: the number of points of the curve.
      curve: "ROC" or "PR".
      summation_method: "trapezoidal", "minoring", "majoring", or "careful_interpolation" (Davis and Goadrich 2006).
      thresholds: the points, instead of evenly spaced ones.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: ValueError for an unknown curve or method; InvalidArgumentError at run time for predictions beyond [0, 1].
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.auc`.

    >>> value, update = tf.metrics.auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> sess.run(tf.local_variables_initializer())
    >>> float(round(sess.run(update), 4))
    0.75
    """
    refuse_eager("auc")
    with variable_scope(name, "auc"):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"Curve must be either ROC or PR. Curve {curve} is unknown.\n"
                             f"  Asked for at {user_source(2)}")
        if summation_method not in _METHODS:
            raise ValueError(f"Invalid summation_method: {summation_method} summation_method should be one of "
                             f"{_METHODS}.\n  Asked for at {user_source(2)}")
        inner = _between(num_thresholds) if thresholds is None else sorted(thresholds)
        values, updates = confusion_at_thresholds(labels, predictions, [-_SMALL, *inner, 1.0 + _SMALL], weights)
        value = _area(values, curve, summation_method, "value")
        update = _area(updates, curve, summation_method, "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def _area(counts: dict[str, Any], curve: str, method: str, name: str) -> Any:
    tp, fp, fn, tn = (counts[k] for k in ("tp", "fp", "fn", "tn"))
    if curve == "PR" and method == "careful_interpolation":
        return _interpolated(tp, fp, fn, "interpolate_pr_auc")
    small = np.float32(1e-6)
    recall = raw.RealDiv(raw.AddV2(tp, small), raw.AddV2(raw.AddV2(tp, fn), small))
    if curve == "ROC":
        x, y = _per(fp, raw.AddV2(fp, tn), 1e-6), recall
    else:
        x, y = recall, raw.RealDiv(raw.AddV2(tp, small), raw.AddV2(raw.AddV2(tp, fp), small))
    left, right = y[:-1], y[1:]
    if method == "minoring":
        height = raw.Minimum(left, right)
    elif method == "majoring":
        height = raw.Maximum(left, right)
    else:
        height = raw.Mul(raw.AddV2(left, right), np.float32(0.5))
    return raw.Sum(raw.Mul(raw.Sub(x[:-1], x[1:]), height), np.array([0], np.int32), name=name)


def _interpolated(tp: Any, fp: Any, fn: Any, name: str) -> Any:
    """Returns the area where true and false positives, not precision, are linear between the points."""
    zero = np.float32(0)
    p = raw.AddV2(tp, fp)
    gained = raw.Sub(tp[:-1], tp[1:])
    slope = raw.DivNoNan(gained, raw.Maximum(raw.Sub(p[:-1], p[1:]), zero))
    intercept = raw.Sub(tp[1:], raw.Mul(slope, p[1:]))
    some = raw.LogicalAnd(raw.Greater(p[:-1], zero), raw.Greater(p[1:], zero))
    ratio = raw.SelectV2(some, raw.DivNoNan(p[:-1], p[1:]), np.float32(1))
    area = raw.Mul(slope, raw.AddV2(gained, raw.Mul(intercept, raw.Log(ratio))))
    return raw.Sum(raw.DivNoNan(area, raw.AddV2(tp[1:], fn[1:])), np.array([0], np.int32), name=name)


def true_positives_at_thresholds(labels: TensorLike, predictions: Any, thresholds: Any, weights: Any = None,
                                 metrics_collections: Any = None, updates_collections: Any = None,
                                 name: str | None = None) -> tuple[Tensor, Tensor]:
    """Counts the true positives for each threshold.

    Args:
      labels, predictions: of one shape; labels are cast to bool, predictions are from 0 to 1.
      thresholds: a list of numbers from 0 to 1.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.true_positives_at_thresholds`.
    """
    return _counts("true_positives_at_thresholds", "tp", labels, predictions, thresholds, weights,
                   metrics_collections, updates_collections, name)


def false_positives_at_thresholds(labels: TensorLike, predictions: Any, thresholds: Any, weights: Any = None,
                                  metrics_collections: Any = None, updates_collections: Any = None,
                                  name: str | None = None) -> tuple[Tensor, Tensor]:
    """Counts the false positives for each threshold.

    Args:
      labels, predictions: of one shape; labels are cast to bool, predictions are from 0 to 1.
      thresholds: a list of numbers from 0 to 1.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.false_positives_at_thresholds`.
    """
    return _counts("false_positives_at_thresholds", "fp", labels, predictions, thresholds, weights,
                   metrics_collections, updates_collections, name)


def true_negatives_at_thresholds(labels: TensorLike, predictions: Any, thresholds: Any, weights: Any = None,
                                 metrics_collections: Any = None, updates_collections: Any = None,
                                 name: str | None = None) -> tuple[Tensor, Tensor]:
    """Counts the true negatives for each threshold.

    Args:
      labels, predictions: of one shape; labels are cast to bool, predictions are from 0 to 1.
      thresholds: a list of numbers from 0 to 1.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.true_negatives_at_thresholds`.
    """
    return _counts("true_negatives_at_thresholds", "tn", labels, predictions, thresholds, weights,
                   metrics_collections, updates_collections, name)


def false_negatives_at_thresholds(labels: TensorLike, predictions: Any, thresholds: Any, weights: Any = None,
                                  metrics_collections: Any = None, updates_collections: Any = None,
                                  name: str | None = None) -> tuple[Tensor, Tensor]:
    """Counts the false negatives for each threshold.

    Args:
      labels, predictions: of one shape; labels are cast to bool, predictions are from 0 to 1.
      thresholds: a list of numbers from 0 to 1.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.false_negatives_at_thresholds`.
    """
    return _counts("false_negatives_at_thresholds", "fn", labels, predictions, thresholds, weights,
                   metrics_collections, updates_collections, name)


def _counts(metric: str, key: str, labels: Any, predictions: Any, thresholds: Any, weights: Any,
            metrics_collections: Any, updates_collections: Any, name: str | None) -> tuple[Any, Any]:
    refuse_eager(metric)
    with variable_scope(name, _NAMES[key]):
        values, updates = confusion_at_thresholds(labels, predictions, thresholds, weights, (key,))
        value, update = raw.Identity(values[key]), updates[key]
        return collected(value, update, metrics_collections, updates_collections)


def _fraction(metric: str, wrong: str, labels: Any, predictions: Any, thresholds: Any, weights: Any,
              metrics_collections: Any, updates_collections: Any, name: str | None) -> tuple[Any, Any]:
    """Computes the fraction of true positives among these and another count, for each threshold."""
    refuse_eager(f"{metric}_at_thresholds")
    with variable_scope(name, f"{metric}_at_thresholds"):
        values, updates = confusion_at_thresholds(labels, predictions, thresholds, weights, ("tp", wrong))
        value, update = (_per(c["tp"], raw.AddV2(c["tp"], c[wrong]), name=f"{metric}_{what}")
                         for c, what in ((values, "value"), (updates, "update_op")))
        return collected(value, update, metrics_collections, updates_collections)


def precision_at_thresholds(labels: TensorLike, predictions: Any, thresholds: Any, weights: Any = None,
                            metrics_collections: Any = None, updates_collections: Any = None,
                            name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the precision for each threshold.

    Args:
      labels, predictions: of one shape; labels are cast to bool, predictions are from 0 to 1.
      thresholds: a list of numbers from 0 to 1.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.precision_at_thresholds`.
    """
    return _fraction("precision", "fp", labels, predictions, thresholds, weights, metrics_collections,
                     updates_collections, name)


def recall_at_thresholds(labels: TensorLike, predictions: Any, thresholds: Any, weights: Any = None,
                         metrics_collections: Any = None, updates_collections: Any = None,
                         name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the recall for each threshold.

    Args:
      labels, predictions: of one shape; labels are cast to bool, predictions are from 0 to 1.
      thresholds: a list of numbers from 0 to 1.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.recall_at_thresholds`.
    """
    return _fraction("recall", "fn", labels, predictions, thresholds, weights, metrics_collections, updates_collections,
                     name)


def sensitivity_at_specificity(labels: TensorLike, predictions: Any, specificity: Any, weights: Any = None,
                               num_thresholds: Any = 200, metrics_collections: Any = None,
                               updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the sensitivity where the specificity is nearest to a given one.

    Args:
      labels, predictions: of one shape; labels are cast to bool, predictions are from 0 to 1.
      specificity: from 0 to 1.
      num_thresholds: the number of points that are compared.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: ValueError for a specificity beyond [0, 1]; InvalidArgumentError at run time for such predictions.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.sensitivity_at_specificity`.
    """
    refuse_eager("sensitivity_at_specificity")
    _check("specificity", specificity)
    with variable_scope(name, "sensitivity_at_specificity"):
        ends = [-_SMALL, *_between(num_thresholds), 1.0 + _SMALL]
        values, updates = confusion_at_thresholds(labels, predictions, ends, weights)
        value, update = (_at_specificity(c, specificity, n) for c, n in ((values, "value"), (updates, "update_op")))
        return collected(value, update, metrics_collections, updates_collections)


def specificity_at_sensitivity(labels: TensorLike, predictions: Any, sensitivity: Any, weights: Any = None,
                               num_thresholds: Any = 200, metrics_collections: Any = None,
                               updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the specificity where the sensitivity is nearest to a given one.

    Args:
      labels, predictions: of one shape; labels are cast to bool, predictions are from 0 to 1.
      sensitivity: from 0 to 1.
      num_thresholds: the number of points that are compared.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: ValueError for a sensitivity beyond [0, 1]; InvalidArgumentError at run time for such predictions.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.specificity_at_sensitivity`.
    """
    refuse_eager("specificity_at_sensitivity")
    _check("sensitivity", sensitivity)
    with variable_scope(name, "specificity_at_sensitivity"):
        ends = [-_SMALL, *_between(num_thresholds), 1.0 - _SMALL]
        values, updates = confusion_at_thresholds(labels, predictions, ends, weights)
        value, update = (_at_sensitivity(c, sensitivity, n) for c, n in ((values, "value"), (updates, "update_op")))
        return collected(value, update, metrics_collections, updates_collections)


def _check(what: str, value: Any) -> None:
    if value < 0 or value > 1:
        raise ValueError(f"`{what}` must be in the range [0, 1]. Currently, `{what}` is {value}.\n"
                         f"  Asked for at {user_source(2)}")


def _at_specificity(counts: dict[str, Any], wanted: Any, name: str) -> Any:
    tp, fn, tn, fp = (counts[k] for k in ("tp", "fn", "tn", "fp"))
    i = argmin(raw.Abs(raw.Sub(_per(tn, raw.AddV2(tn, fp)), np.float32(wanted))), 0)
    return _per(tp[i], raw.AddV2(tp[i], fn[i]), name=name)


def _at_sensitivity(counts: dict[str, Any], wanted: Any, name: str) -> Any:
    """Returns the last of the nearest points: sensitivity falls with the threshold, and the specificity rises."""
    tp, fn, tn, fp = (counts[k] for k in ("tp", "fn", "tn", "fp"))
    distance = raw.Abs(raw.Sub(_per(tp, raw.AddV2(tp, fn)), np.float32(wanted)))
    n = distance.shape.as_list()[0]
    i = raw.Sub(np.int64(n - 1), argmin(raw.ReverseV2(distance, np.array([0], np.int32)), 0))
    return _per(tn[i], raw.AddV2(tn[i], fp[i]), name=name)
