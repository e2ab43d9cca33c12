"""`tf.metrics` of the k best classes: recall, precision and average precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.extras.sparse.sets import set_difference, set_intersection, set_size
from graphgrad.extras.sparse.sparse_combine import convert_to_tensor_or_sparse_tensor
from graphgrad.extras.sparse.sparse_functions import sparse_concat, sparse_reshape, sparse_retain
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float64, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.layers.loss_weights import broadcast_weights
from graphgrad.ops.array.concat_stack import concat
from graphgrad.ops.common.sparse_tensor import SparseTensor
from graphgrad.ops.math.cumulative import cumsum
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.math.topk import top_k

from .streaming_metrics import cast, collected, metric_variable, ratio, read, refuse_eager


def _scope(metric: str, k: int | None, class_id: int | None = None) -> str:
    """Returns the name of a metric's scope, such as "recall_at_3_class1"."""
    of_class = "" if class_id is None else f"_class{class_id}"
    return f"{metric}_at_{'k' if k is None else whole(k)}{of_class}"


def _as_rows(labels: Any, predictions: Any) -> Any:
    """Returns labels of the predictions' rank: one label a row may come without its axis."""
    with name_scope(None, "expand_labels"):
        labels = convert_to_tensor_or_sparse_tensor(labels)
        rank, wanted = labels.shape.rank, predictions.shape.rank
        if None in (rank, wanted) or rank == wanted:
            return labels
        if wanted != rank + 1:
            raise ValueError(f"Unexpected labels shape {labels.shape} for predictions shape {predictions.shape}.\n"
                             f"  Built at {user_source(2)}\n"
                             "  Fix: give labels of the predictions' rank, or of one axis less")
        if isinstance(labels, SparseTensor):
            return sparse_reshape(labels, concat([labels.dense_shape, np.array([1], np.int64)], 0))
        return raw.ExpandDims(labels, -1)


def _only(ids: Any, class_id: int | None) -> Any:
    """Returns the ids that are of a class, all for None."""
    if class_id is None:
        return ids
    if isinstance(ids, SparseTensor):
        return sparse_retain(ids, raw.Equal(ids.values, cast(class_id, ids.values.dtype)))
    shape = raw.Shape(ids, out_type=int64)
    alone = raw.Fill(concat([shape[:-1], np.array([1], np.int64)], 0), cast(class_id, ids.dtype))
    found = set_intersection(alone, ids)
    return SparseTensor(found.indices, found.values, shape)


def _counted(found: SparseTensor, weights: Any) -> Any:
    """Counts the elements of each row, times the row's weight."""
    number = cast(set_size(found), float64)
    if weights is None:
        return number
    return raw.Mul(number, broadcast_weights(cast(weights, float64), number))


def _kept(number: Any, name: str) -> tuple[Any, Any]:
    """Adds a number to a local variable named as its scope; returns the variable and the sum."""
    total = metric_variable([], float64, name=name)
    return total, total.assign_add(reduce_sum(number))


def _rate(metric: str, wrong: str, labels: Any, indices: Any, k: Any, class_id: Any, weights: Any,
          metrics_collections: Any, updates_collections: Any, name: str | None) -> tuple[Any, Any]:
    """Computes the part of true positives among these and the elements that are wrong."""
    with name_scope(name, _scope(metric, k, class_id)) as scope:
        indices = cast(indices, int64)
        labels = _as_rows(labels, indices)
        with name_scope(None, _scope("true_positive", k, class_id)) as inner:
            found = set_intersection(_only(indices, class_id), _only(labels, class_id))
            right, right_update = _kept(_counted(found, weights), inner)
        with name_scope(None, _scope(wrong, k, class_id)) as inner:
            found = set_difference(_only(indices, class_id), _only(labels, class_id), wrong == "false_positive")
            other, other_update = _kept(_counted(found, weights), inner)
        value = raw.RealDiv(read(right), raw.AddV2(read(right), read(other)), name=scope)
        update = raw.RealDiv(read(right_update), raw.AddV2(read(right_update), read(other_update)), name="update")
        return collected(value, update, metrics_collections, updates_collections)


def recall_at_top_k(labels: TensorLike, predictions_idx: TensorLike, k: int | None = None, class_id: int | None = None,
                    weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
                    name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the part of the labels that are among the predicted classes.

    Args:
      labels: (..., n) or (...), integers, a tensor or `SparseTensor`: the classes of each row.
      predictions_idx: (..., k), the predicted classes.
      k: for names only.
      class_id: the class that is looked at; None for all.
      weights: a scalar, or a tensor of the shape (...) or one that broadcasts: the weights of rows. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): float64, the value over all data so far, and the operation that adds the current data.
    Raises: ValueError for labels of another rank.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.recall_at_top_k`.

    >>> value, update = tf.metrics.recall_at_top_k(tf.constant([[0, 3]], tf.int64), [[3, 1, 2]])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float64(0.5)
    """
    return _rate("recall", "false_negative", labels, predictions_idx, k, class_id, weights, metrics_collections,
                 updates_collections, name)


def precision_at_top_k(labels: TensorLike, predictions_idx: TensorLike, k: int | None = None,
                       class_id: int | None = None, weights: Any = None, metrics_collections: Any = None,
                       updates_collections: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the part of the predicted classes that are among the labels.

    Args:
      labels: (..., n) or (...), integers, a tensor or `SparseTensor`: the classes of each row.
      predictions_idx: (..., k), the predicted classes.
      k: for names only.
      class_id: the class that is looked at; None for all.
      weights: a scalar, or a tensor of the shape (...) or one that broadcasts: the weights of rows. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): float64, the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode; ValueError for labels of another rank.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.precision_at_top_k`.

    >>> value, update = tf.metrics.precision_at_top_k(tf.constant([[0, 3]], tf.int64), [[3, 1]])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float64(0.5)
    """
    refuse_eager("precision_at_top_k")
    return _rate("precision", "false_positive", labels, predictions_idx, k, class_id, weights, metrics_collections,
                 updates_collections, name)


def recall_at_k(labels: TensorLike, predictions: TensorLike, k: int, class_id: int | None = None, weights: Any = None,
                metrics_collections: Any = None, updates_collections: Any = None,
                name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the part of the labels that are among the k best classes.

    Args:
      labels: (..., n) or (...), integers, a tensor or `SparseTensor`: the classes of each row.
      predictions: (..., classes), float: the score of each class.
      k: how many of the best are looked at.
      class_id: the class that is looked at; None for all.
      weights: a scalar, or a tensor of the shape (...) or one that broadcasts: the weights of rows. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): float64, the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode; ValueError for labels of another rank.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.recall_at_k`.

    >>> value, update = tf.metrics.recall_at_k(tf.constant([2, 1], tf.int64), [[0.1, 0.2, 0.7], [0.5, 0.2, 0.3]], 2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float64(0.5)
    """
    refuse_eager("recall_at_k")
    with name_scope(name, _scope("recall", k, class_id)) as scope:
        return recall_at_top_k(labels, top_k(predictions, k).indices, k, class_id, weights, metrics_collections,
                               updates_collections, scope)


def precision_at_k(labels: TensorLike, predictions: TensorLike, k: int, class_id: int | None = None,
                   weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
                   name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the part of the k best classes that are among the labels.

    Args:
      labels: (..., n) or (...), integers, a tensor or `SparseTensor`: the classes of each row.
      predictions: (..., classes), float: the score of each class.
      k: how many of the best are looked at.
      class_id: the class that is looked at; None for all.
      weights: a scalar, or a tensor of the shape (...) or one that broadcasts: the weights of rows. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): float64, the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode; ValueError for labels of another rank.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.precision_at_k`.

    >>> value, update = tf.metrics.precision_at_k(tf.constant([2, 1], tf.int64), [[0.1, 0.2, 0.7], [0.5, 0.2, 0.3]], 2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float64(0.25)
    """
    refuse_eager("precision_at_k")
    with name_scope(name, _scope("precision", k, class_id)) as scope:
        return precision_at_top_k(labels, top_k(predictions, k).indices, k, class_id, weights, metrics_collections,
                                  updates_collections, scope)


def _within(labels: Any, classes: Any) -> Any:
    """Returns the labels with -1 in the place of those that are no class."""
    labels = convert_to_tensor_or_sparse_tensor(labels)
    values = labels.values if isinstance(labels, SparseTensor) else labels
    bound = raw.Cast(classes, DstT=values.dtype)
    values = raw.SelectV2(raw.GreaterEqual(values, bound), raw.Neg(raw.OnesLike(values)), values)
    return SparseTensor(labels.indices, values, labels.dense_shape) if isinstance(labels, SparseTensor) else values


def _repeated(labels: Any, k: int) -> Any:
    """Returns the labels of each row k times: (..., k, n)."""
    if isinstance(labels, SparseTensor):
        shape = labels.dense_shape
        once = sparse_reshape(labels, concat([shape[:-1], np.array([1], np.int64), shape[-1:]], 0))
        return sparse_concat(-2, [once] * k)
    once = raw.ExpandDims(labels, -2)
    return raw.Tile(once, np.array([1] * (once.shape.rank - 2) + [k, 1], np.int32))


def _number_of(labels: Any, k: int) -> Any:
    """Counts the labels of each row, no more than k."""
    if isinstance(labels, SparseTensor):
        number = set_size(labels)
    else:
        number = reduce_sum(raw.Cast(raw.GreaterEqual(labels, cast(0, labels.dtype)), DstT=labels.dtype), -1)
    return raw.Minimum(cast(number, float64), np.float64(k))


def average_precision_at_top_k(labels: TensorLike, predictions_idx: TensorLike, weights: Any = None,
                               metrics_collections: Any = None, updates_collections: Any = None,
                               name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean over rows of the average precision of predicted classes, in their order.

    Args:
      labels: (..., n) or (...), integers, a tensor or `SparseTensor`: the classes of each row; negative ones are none.
      predictions_idx: (..., k), the predicted classes, the best first; k is known.
      weights: a scalar, or a tensor of the shape (...) or one that broadcasts: the weights of rows. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): float64, the value over all data so far, and the operation that adds the current data.
    Raises: ValueError for labels of another rank, or if k is not known.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `metrics_impl._streaming_sparse_average_precision_at_top_k`.
    """
    with name_scope(name, "average_precision_at_top_k") as scope:
        indices = cast(predictions_idx, int64)
        k = indices.shape.as_list()[-1] if indices.shape.rank else None
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be set.\n"
                             f"  Built at {user_source(2)}\n  Fix: give (..., k) with a known k")
        labels = _as_rows(labels, indices)
        hits = _counted(set_intersection(raw.ExpandDims(indices, -1), _repeated(labels, k)), None)
        precision = raw.RealDiv(cumsum(hits, -1), cumsum(raw.OnesLike(hits), -1))
        average = raw.RealDiv(reduce_sum(raw.Mul(precision, hits), -1), _number_of(labels, k))
        if weights is None:
            most = cast(raw.Size(average), float64)
        else:
            weights = broadcast_weights(cast(weights, float64), average)
            average, most = raw.Mul(average, weights), reduce_sum(weights)
        with name_scope(None, "max") as inner:
            count, count_update = _kept(most, inner)
        with name_scope(None, "total") as inner:
            total, total_update = _kept(average, inner)
        value = ratio(read(total), read(count), "mean")
        update = ratio(read(total_update), read(count_update), scope)
        return collected(value, update, metrics_collections, updates_collections)


def average_precision_at_k(labels: TensorLike, predictions: TensorLike, k: int, weights: Any = None,
                           metrics_collections: Any = None, updates_collections: Any = None,
                           name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean over rows of the average precision of the k best classes.

    That of a row is the sum, over those of its k best classes that are labels, of the precision down to that class,
    divided by the number of labels, or k if that is less.

    Args:
      labels: (..., n) or (...), integers, a tensor or `SparseTensor`: the classes of each row; others are left out.
      predictions: (..., classes), float: the score of each class.
      k: how many of the best are looked at.
      weights: a scalar, or a tensor of the shape (...) or one that broadcasts: the weights of rows. None for 1.
      metrics_collections, updates_collections: collections that value and update join.
      name: the name of the scope.
    Returns: (value, update_op): float64, the value over all data so far, and the operation that adds the current data.
    Raises: RuntimeError in eager mode; ValueError for k < 1 and for labels of another rank.
    Gradient: none; counts are kept in local variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.metrics.average_precision_at_k`.

    >>> value, update = tf.metrics.average_precision_at_k(tf.constant([[0, 1]], tf.int64), [[0.5, 0.2, 0.3]], 3)
    >>> sess.run(tf.local_variables_initializer())
    >>> float(round(sess.run(update), 4))  # (1/1 + 2/3) / 2
    0.8333
    """
    refuse_eager("sparse_average_precision_at_k")
    if k < 1:
        raise ValueError(f"Invalid k={k}. `k` should be >= 1.\n  Asked for at {user_source(2)}")
    with name_scope(name, _scope("average_precision", k)) as scope:
        predictions = convert_to_tensor(predictions)
        get_default_graph().unique_name("Max")  # TensorFlow has such an operation here: its variable is `max_1`
        return average_precision_at_top_k(_within(labels, raw.Shape(predictions)[-1]), top_k(predictions, k).indices,
                                          weights, metrics_collections, updates_collections, scope)
