"""`tf.metrics`: values accumulated over many runs, in local variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import cond
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.graph.init_scope import variables_graph
from graphgrad.frontend.variables.variable import VariableV1
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.context import executing_eagerly
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.layers.loss_weights import broadcast_weights
from graphgrad.ops.array.concat_stack import concat
from graphgrad.ops.math.reduce_functions import reduce_sum


def metric_variable(shape: Any, dtype: Any, validate_shape: bool = True, name: str | None = None) -> Any:
    """Makes a local variable of zeros, in the collection METRIC_VARIABLES too; False lets its shape change."""

    def zeros() -> Any:
        return convert_to_tensor(np.zeros(shape, dtype.np_dtype))

    return VariableV1(zeros, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
                      validate_shape=validate_shape, name=name, dtype=dtype)


def refuse_eager(metric: str) -> None:
    """Raises RuntimeError in eager mode, as TensorFlow does."""
    if executing_eagerly():
        raise RuntimeError(f"tf.metrics.{metric} is not supported when eager execution is enabled.\n"
                           f"  Asked for at {user_source(2)}\n  Fix: use it inside tf.Graph().as_default()")


def collected(value: Any, update: Any, of_values: Any, of_updates: Any) -> tuple[Any, Any]:
    """Adds a metric's value and update to their collections, one or several, and returns them."""
    graph = variables_graph()
    for tensor, collections in ((value, of_values), (update, of_updates)):
        if collections and graph is not None:
            for key in [collections] if isinstance(collections, str) else collections:
                graph.add_to_collection(key, tensor)
    return value, update


def cast(value: Any, dtype: Any) -> Any:
    """Converts the value to a tensor of the dtype."""
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype is dtype else raw.Cast(tensor, DstT=dtype)


def fitting(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Squeezes a last dimension of 1 where ranks differ by one, or adds it to weights; returns all three."""
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    p, k = predictions.shape.rank, labels.shape.rank
    if p is not None and k is not None and abs(p - k) == 1:
        larger = predictions if p > k else labels
        if larger.shape.as_list()[-1] in (1, None):
            squeezed = raw.Squeeze(larger, squeeze_dims=(-1,))
            predictions, labels = (squeezed, labels) if p > k else (predictions, squeezed)
    if not predictions.shape.is_compatible_with(labels.shape):
        raise ValueError(f"Shapes {predictions.shape} and {labels.shape} are incompatible.\n  Built at {user_source(2)}"
                         "\n  Fix: give labels of the predictions' shape")
    return labels, predictions, fitting_weights(predictions, weights)


def fitting_weights(values: Any, weights: Any) -> Any:
    """Squeezes a last dimension of 1 of the weights, or adds it, where their rank differs from the values' by one."""
    if weights is None:
        return None
    weights = convert_to_tensor(weights)
    w, p = weights.shape.rank, values.shape.rank
    if w is None or p is None:
        return weights if w == 0 else _fitting_at_run_time(values, weights)
    if w and w - p == 1:
        return raw.Squeeze(weights, squeeze_dims=(-1,))
    if w and p - w == 1:
        return raw.ExpandDims(weights, -1)
    return weights


def _fitting_at_run_time(values: Any, weights: Any) -> Any:
    """Does the same for ranks that a run knows: scalars are left alone."""
    rank = raw.Rank(weights)
    more = raw.Sub(rank, raw.Rank(values))
    one = np.array([1], np.int32)
    shape = raw.Shape(weights)
    wider = cond(raw.Equal(more, np.int32(-1)), lambda: concat([shape, one], 0), lambda: raw.Identity(shape))
    shape = cond(raw.Equal(more, np.int32(1)), lambda: shape[:-1], lambda: raw.Identity(wider))
    return raw.Reshape(weights, cond(raw.Equal(rank, np.int32(0)), lambda: one[:0], lambda: raw.Identity(shape)))


def ratio(total: Any, count: Any, name: str) -> Any:
    """Computes total / count, 0 where the count is not positive."""
    return raw.DivNoNan(total, raw.Maximum(count, np.zeros((), count.dtype.np_dtype)), name=name)


def read(variable: Any) -> Any:
    """Reads a variable, or an assignment to one."""
    return convert_to_tensor(variable)


def mean(values: TensorLike, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
         name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the weighted mean of all values so far.

    Args:
      values: a tensor.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.mean`.

    >>> value, update = tf.metrics.mean([1.0, 2.0, 6.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update), sess.run(value)
    (np.float32(3.0), np.float32(3.0))
    """
    refuse_eager("mean")
    with variable_scope(name, "mean"):
        values = cast(values, float32)
        total, count = metric_variable([], float32, name="total"), metric_variable([], float32, name="count")
        if weights is None:
            number = raw.Cast(raw.Size(values), DstT=float32)
        else:
            weights = broadcast_weights(cast(fitting_weights(values, weights), float32), values)
            values = raw.Mul(values, weights)
            number = reduce_sum(weights)
        new_total = total.assign_add(reduce_sum(values))
        new_count = count.assign_add(number)
        value = ratio(read(total), read(count), "value")
        update = ratio(read(new_total), read(new_count), "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def mean_tensor(values: TensorLike, weights: Any = None, metrics_collections: Any = None,
                updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the weighted mean of each element over all values so far.

    Args:
      values: a tensor of known shape.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.mean_tensor`.
    """
    refuse_eager("mean_tensor")
    with variable_scope(name, "mean"):
        values = cast(values, float32)
        shape = values.shape.as_list()
        total = metric_variable(shape, float32, name="total_tensor")
        count = metric_variable(shape, float32, name="count_tensor")
        number = raw.OnesLike(values)
        if weights is not None:
            weights = broadcast_weights(cast(fitting_weights(values, weights), float32), values)
            values, number = raw.Mul(values, weights), raw.Mul(number, weights)
        new_total, new_count = total.assign_add(values), count.assign_add(number)
        value = ratio(read(total), read(count), "value")
        update = ratio(read(new_total), read(new_count), "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def accuracy(labels: TensorLike, predictions: Any, weights: Any = None, metrics_collections: Any = None,
             updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the fraction of predictions that equal the labels.

    Args:
      labels, predictions: of one shape.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.accuracy`.

    >>> value, update = tf.metrics.accuracy([0, 1, 1], [0, 1, 0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float32(0.6666667)
    """
    refuse_eager("accuracy")
    labels, predictions, weights = fitting(labels, predictions, weights)
    if labels.dtype is not predictions.dtype:
        predictions = raw.Cast(predictions, DstT=labels.dtype)
    correct = raw.Cast(raw.Equal(predictions, labels), DstT=float32)
    return mean(correct, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(labels: TensorLike, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                        updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean of |predictions - labels|.

    Args:
      labels, predictions: of one shape.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.mean_absolute_error`.
    """
    refuse_eager("mean_absolute_error")
    labels, predictions, weights = fitting(labels, predictions, weights)
    error = raw.Abs(raw.Sub(predictions, labels))
    return mean(error, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def mean_squared_error(labels: TensorLike, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                       updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean of (predictions - labels)^2.

    Args:
      labels, predictions: of one shape.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.mean_squared_error`.
    """
    refuse_eager("mean_squared_error")
    labels, predictions, weights = fitting(labels, predictions, weights)
    error = raw.SquaredDifference(labels, predictions)
    return mean(error, weights, metrics_collections, updates_collections, name or "mean_squared_error")


def root_mean_squared_error(labels: TensorLike, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                            updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the square root of the mean of (predictions - labels)^2.

    Args:
      labels, predictions: of one shape.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.root_mean_squared_error`.
    """
    refuse_eager("root_mean_squared_error")
    pair = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    value, update = (raw.Sqrt(t) for t in pair)
    return collected(value, update, metrics_collections, updates_collections)


def mean_relative_error(labels: TensorLike, predictions: Any, normalizer: Any, weights: Any = None,
                        metrics_collections: Any = None, updates_collections: Any = None,
                        name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean of |predictions - labels| / normalizer, 0 where the normalizer is 0.

    Args:
      labels, predictions: of one shape.
      normalizer: of that shape.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.mean_relative_error`.
    """
    refuse_eager("mean_relative_error")
    labels, predictions, weights = fitting(labels, predictions, weights)
    normalizer, predictions, _ = fitting(normalizer, predictions, None)
    error = raw.DivNoNan(raw.Abs(raw.Sub(labels, predictions)), normalizer)
    return mean(error, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(labels: TensorLike, predictions: Any, dim: Any, weights: Any = None,
                         metrics_collections: Any = None, updates_collections: Any = None,
                         name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean of 1 - predictions . labels along a dimension.

    Args:
      labels, predictions: of one shape.
      dim: the dimension.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.mean_cosine_distance`.
    """
    refuse_eager("mean_cosine_distance")
    labels, predictions, weights = fitting(labels, predictions, weights)
    products = reduce_sum(raw.Mul(predictions, labels), dim, keepdims=True)
    pair = mean(products, weights, None, None, name or "mean_cosine_distance")
    value, update = (raw.Sub(np.float32(1), t) for t in pair)
    return collected(value, update, metrics_collections, updates_collections)


def percentage_below(values: TensorLike, threshold: Any, weights: Any = None, metrics_collections: Any = None,
                     updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the fraction of values below a threshold.

    Args:
      values: a tensor.
      threshold: a scalar.
      weights: a scalar, or a tensor that broadcasts: the weights of values. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.percentage_below`.
    """
    refuse_eager("percentage_below")
    values = convert_to_tensor(values)
    below = raw.Less(values, convert_to_tensor(threshold, values.dtype))
    return mean(raw.Cast(below, DstT=float32), weights, metrics_collections, updates_collections,
                name or "percentage_below_threshold")
