"""Functions that metrics share, by the names that TensorFlow's inside has for them."""

from __future__ import annotations

from typing import Any

from graphgrad.extras.metrics.ranking_metrics import (
    average_precision_at_top_k as _streaming_sparse_average_precision_at_top_k,
)
from graphgrad.extras.metrics.streaming_metrics import fitting, fitting_weights, metric_variable
from graphgrad.extras.metrics.threshold_metrics import confusion_at_thresholds as _confusion_matrix_at_thresholds
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw


def _remove_squeezable_dimensions(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Squeezes a last dimension of 1 where ranks differ by one, or adds it to weights; returns all three."""
    if labels is None:
        predictions = convert_to_tensor(predictions)
        return predictions, None, fitting_weights(predictions, weights)
    labels, predictions, weights = fitting(labels, predictions, weights)
    return predictions, labels, weights


def _safe_scalar_div(numerator: Any, denominator: Any, name: str | None) -> Any:
    """Computes numerator / denominator, 0 where the denominator is 0."""
    return raw.DivNoNan(numerator, denominator, name=name)


def _aggregate_variable(v: Any, collections: Any) -> Any:
    """Reads a metric's variable; the value joins the collections."""
    value = convert_to_tensor(v)
    for key in [collections] if isinstance(collections, str) else collections or ():
        value.graph.add_to_collection(key, value)
    return value
