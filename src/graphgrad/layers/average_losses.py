"""Losses averaged over a batch that several devices may share; here it is one."""

from __future__ import annotations

from typing import Any

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.array.cast import cast
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.reduce_functions import reduce_sum


def compute_average_loss(per_example_loss: TensorLike, sample_weight: TensorLike | None = None,
                         global_batch_size: Any = None) -> Tensor:
    """Sums the losses of examples, and divides by the number of examples.

    Args:
      per_example_loss: (n, ...), the losses.
      sample_weight: factors of the losses, of their shape; the last dimension may be 1, or missing.
      global_batch_size: the number of examples; n by default.
    Returns: a scalar.
    Raises: ValueError for a scalar loss.
    Gradient: with respect to losses and weights.
    Reference: TensorFlow 2.21 `tf.nn.compute_average_loss`.

    >>> sess.run(compute_average_loss([1.0, 2.0, 6.0], global_batch_size=4))
    np.float32(2.25)
    """
    losses = convert_to_tensor(per_example_loss, name="per_example_loss")
    if sample_weight is not None:
        weights = convert_to_tensor(sample_weight, losses.dtype)
        difference = (weights.shape.rank or 0) - (losses.shape.rank or 0)
        if difference == 1:
            weights = raw.Squeeze(weights, axis=[-1])
        elif difference == -1 and weights.shape.rank:
            weights = raw.ExpandDims(weights, -1)
        losses = raw.Mul(losses, weights)
    if losses.shape.rank == 0:
        raise Complaint("Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1.",
                        "give the losses of all examples")
    count = shape(losses, out_type=int64)[0] if global_batch_size is None else convert_to_tensor(global_batch_size)
    return raw.RealDiv(reduce_sum(losses), cast(count, losses.dtype))


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """Sums a regularization loss; with several devices it is divided among them.

    Args:
      regularization_loss: the losses.
    Returns: a scalar.
    Gradient: with respect to the losses.
    Reference: TensorFlow 2.21 `tf.nn.scale_regularization_loss`.

    >>> sess.run(scale_regularization_loss([1.0, 2.0]))
    np.float32(3.0)
    """
    return reduce_sum(convert_to_tensor(regularization_loss))
