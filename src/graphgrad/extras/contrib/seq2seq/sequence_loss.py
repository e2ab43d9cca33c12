"""The loss of sequences, and copies for beams, of `tf.contrib.seq2seq`."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.structure_types import TensorsT
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.array.reshape import reshape, shape
from graphgrad.ops.array.tile import tile
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.nn.cross_entropy import (
    sparse_softmax_cross_entropy_with_logits_v1 as sparse_softmax_cross_entropy_with_logits,
)


def sequence_loss(logits: Any, targets: Any, weights: Any, average_across_timesteps: bool = True,
                  average_across_batch: bool = True, sum_over_timesteps: bool = False, sum_over_batch: bool = False,
                  softmax_loss_function: Any = None, name: str | None = None) -> Tensor:
    """Computes the weighted cross entropy of sequences of logits.

    Args:
      logits: (batch, steps, classes).
      targets: (batch, steps), integers.
      weights: (batch, steps), floats.
      average_across_timesteps, average_across_batch: over what to divide by the sum of the weights.
      sum_over_timesteps, sum_over_batch: over what to sum, and to divide by the number of weights that are not zero.
      softmax_loss_function: (labels, logits) -> losses, in place of cross entropy.
      name: a name for the operations.
    Returns: a scalar; (batch,) or (steps,) with one average, (batch, steps) with none.
    Raises: ValueError for other ranks, or a sum and an average over the same.
    Reference: `tf.contrib.seq2seq.sequence_loss` of TensorFlow 1.15.

    >>> from graphgrad.extras.contrib.seq2seq.sequence_loss import sequence_loss
    >>> sess.run(sequence_loss(tf.zeros([2, 3, 4]), tf.zeros([2, 3], tf.int32), tf.ones([2, 3])))
    np.float32(1.3862944)
    """
    logits, targets, weights = map(convert_to_tensor, (logits, targets, weights))
    for what, t, rank in (("Logits", logits, 3), ("Targets", targets, 2), ("Weights", weights, 2)):
        if len(t.shape) != rank:
            raise ValueError(f"{what} must be a {rank}-D tensor, not {t.shape}")
    if (average_across_timesteps and sum_over_timesteps) or (average_across_batch and sum_over_batch):
        raise ValueError("average and sum over the same cannot both be asked for. Fix: set one of them to False")
    with name_scope(name or "sequence_loss"):
        flat, labels = reshape(logits, [-1, shape(logits)[2]]), reshape(targets, [-1])
        if softmax_loss_function is None:
            loss = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=flat)
        else:
            loss = softmax_loss_function(labels=labels, logits=flat)
        loss = loss * reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return reduce_sum(loss) / (reduce_sum(weights) + 1e-12)
        if sum_over_timesteps and sum_over_batch:
            return reduce_sum(loss) / (_counted(weights, None) + 1e-12)
        loss = reshape(loss, shape(logits)[:2])
        if average_across_timesteps and not average_across_batch:
            return reduce_sum(loss, [1]) / (reduce_sum(weights, [1]) + 1e-12)
        if not average_across_timesteps and average_across_batch:
            return reduce_sum(loss, [0]) / (reduce_sum(weights, [0]) + 1e-12)
        if sum_over_timesteps:
            return reduce_sum(loss, [1]) / (_counted(weights, [1]) + 1e-12)
        if sum_over_batch:
            return reduce_sum(loss, [0]) / (_counted(weights, [0]) + 1e-12)
        return loss


def _counted(weights: Any, axis: Any) -> Any:
    positive = raw.Cast(raw.Greater(weights, convert_to_tensor(0, weights.dtype)), DstT=weights.dtype)
    return reduce_sum(positive, axis)


def tile_batch(t: TensorsT, multiplier: int, name: str | None = None) -> TensorsT:
    """Repeats each row of tensors, for beam search.

    Args:
      t: tensors, in any nesting.
      multiplier: the number of repetitions.
      name: a name for the operations.
    Returns: the nesting, of (batch * multiplier, ...).
    Reference: `tf.contrib.seq2seq.tile_batch` of TensorFlow 1.15.
    """
    with name_scope(name or "tile_batch"):
        return nest.map_structure(_Tiler(multiplier), t)


class _Tiler:
    def __init__(self, multiplier: int):
        self.multiplier = multiplier

    def __call__(self, t: Any) -> Any:
        t = convert_to_tensor(t)
        rank = len(t.shape)
        copies = tile(raw.ExpandDims(t, 1), [1, self.multiplier] + [1] * (rank - 1))
        n = t.shape.as_list()
        out = reshape(copies, raw.ConcatV2([[-1], shape(t)[1:]], 0)) if rank > 1 else reshape(copies, [-1])
        out.set_shape([None if n[0] is None else n[0] * self.multiplier, *n[1:]])
        return out
