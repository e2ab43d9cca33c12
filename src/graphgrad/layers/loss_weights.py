"""`tf.losses`: weights, reductions, and the collections that losses join."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.graph.collections import GraphKeys, get_collection
from graphgrad.frontend.graph.init_scope import variables_graph
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.math.arithmetic import add_n
from graphgrad.ops.math.reduce_functions import reduce_sum


class Reduction:
    """The ways to reduce the losses of elements to one.

    NONE keeps them; SUM adds them; MEAN divides the sum by the sum of the weights; SUM_OVER_BATCH_SIZE by the
    number of elements; SUM_BY_NONZERO_WEIGHTS (also SUM_OVER_NONZERO_WEIGHTS) by the number of those whose weight is
    not 0.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Returns all of them."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
                cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key: Any) -> None:
        """Raises ValueError for anything else."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Key should be one of {cls.all()}.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: use one of the names of tf.losses.Reduction")


# -- weights ---------------------------------------------------------------------------


def check_weights(weights: Any, values: Any) -> None:
    """Raises ValueError unless weights are a scalar, or of the values' rank with the same sizes or 1."""
    w, v = weights.shape, values.shape
    if w.rank is None or v.rank is None or w.rank == 0:
        return
    fits = w.rank == v.rank and all(
        a == b or a == 1 or a is None or b is None for a, b in zip(w.as_list(), v.as_list(), strict=True)
    )
    if not fits:
        raise ValueError(f"weights can not be broadcast to values. values.rank={v.rank}. weights.rank={w.rank}. "
                         f"values.shape={tuple(v.as_list())}. weights.shape={tuple(w.as_list())}.\n"
                         f"  Built at {user_source(2)}\n"
                         "  Fix: give weights of the values' rank, with 1 where they are to be repeated")


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """Broadcasts the weights to the values' shape."""
    with name_scope(None, "broadcast_weights"):
        values = convert_to_tensor(values)
        weights = convert_to_tensor(weights, values.dtype)
        check_weights(weights, values)
        if weights.shape.is_fully_defined() and weights.shape == values.shape:
            return weights
        return raw.Mul(weights, raw.OnesLike(values))


def _number(values: Any, dtype: Any) -> Any:
    return raw.Cast(raw.Size(values), DstT=dtype)


def _number_present(losses: Any, weights: Any) -> Any:
    """Counts the elements whose weight is not 0."""
    with name_scope(None, "num_present"):
        if weights.shape.rank == 0:
            known = constant_value(weights)
            if known is not None:
                return _number(losses, losses.dtype) if known else raw.ZerosLike(reduce_sum(losses))
        present = raw.Cast(raw.NotEqual(weights, np.zeros((), weights.dtype.np_dtype)), DstT=losses.dtype)
        return reduce_sum(broadcast_weights(present, losses))


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None,
                          loss_collection: Any = GraphKeys.LOSSES,
                          reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Reduces the losses of elements to one weighted loss.

    Args:
      losses: (...), the losses.
      weights: a scalar, or a tensor of the losses' rank, with size 1 where it is broadcast.
      scope: the name of the operations.
      loss_collection: the collection that the loss joins, or None.
      reduction: a `Reduction`.
    Returns: a scalar, or for `Reduction.NONE` a tensor of the losses' shape.
    Raises: ValueError for incompatible weights.
    Gradient: those of its operations; none for the weights' count.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.compute_weighted_loss`.

    >>> sess.run(tf.losses.compute_weighted_loss([1.0, 2.0, 5.0], [1.0, 0.0, 1.0]))
    np.float32(3.0)
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss"):
        losses = convert_to_tensor(losses)
        given = losses.dtype
        losses = losses if given is float32 else raw.Cast(losses, DstT=float32)
        weights = convert_to_tensor(weights)
        weights = weights if weights.dtype is float32 else raw.Cast(weights, DstT=float32)
        check_weights(weights, losses)
        weighted = raw.Mul(losses, weights)
        if reduction == Reduction.NONE:
            loss = weighted
        else:
            loss = reduce_sum(weighted)
            if reduction == Reduction.MEAN:
                loss = raw.DivNoNan(loss, reduce_sum(raw.Mul(raw.OnesLike(losses), weights)), name="value")
            elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                loss = raw.DivNoNan(loss, _number_present(losses, weights), name="value")
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                loss = raw.DivNoNan(loss, _number(losses, loss.dtype), name="value")
        loss = loss if given is float32 else raw.Cast(loss, DstT=given)
        add_loss(loss, loss_collection)
        return loss


# -- collections -----------------------------------------------------------------------


def add_loss(loss: Any, loss_collection: Any = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection, so that `get_total_loss` counts it; does nothing in eager mode.

    Args:
      loss: a tensor.
      loss_collection: the collection, or None to add it to none.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.add_loss`.
    """
    graph = variables_graph()
    if loss_collection and graph is not None:
        graph.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES) -> list[Any]:
    """Returns the losses of a collection; with `scope`, those whose names begin with it.

    Args:
      scope: the beginning of the names, a regular expression.
      loss_collection: the collection.
    Returns: a list of tensors.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.get_losses`.
    """
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """Returns the losses of regularizers; with `scope`, those whose names begin with it.

    Args:
      scope: the beginning of the names, a regular expression.
    Returns: a list of tensors.
    Reference: TensorFlow 2.21 `tf.compat.v1.losses.get_regularization_losses`.
    """
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str | None = "total_regularization_loss") -> Tensor:
    """Returns the sum of the losses of regularizers; 0 if there are none.

    Args:
      scope: the beginning of the names of those to include.
      name: the name of the operation.
    """
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else convert_to_tensor(np.float32(0.0))


def get_total_loss(add_regularization_losses: bool = True, name: str | None = "total_loss",
                   scope: str | None = None) -> Tensor:
    """Computes the sum of all losses that were added.

    Args:
      add_regularization_losses: whether those of regularizers count.
      name: the name of the operation.
      scope: the beginning of the names of those to include.
    Returns: a scalar.
    Raises: ValueError if there is none.

    >>> _ = tf.losses.mean_squared_error([1.0], [3.0]), tf.losses.absolute_difference([1.0], [3.0])
    >>> sess.run(tf.losses.get_total_loss())
    np.float32(6.0)
    """
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return add_n(losses, name=name)
