"""The gradient of what puts a default into empty rows, of sparse and of ragged tensors."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.dtypes import NUMERIC
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ops.array.gather import check_range


def filling_gradient(op_type):
    """Declares the op that computes the gradients for the values and, summed, for the default."""

    @op(op_type, "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T", T=NUMERIC)
    def filling_grad(xp, back, grad):
        """Computes the gradients for the values and, summed, for the default."""
        if isinstance(back, np.ndarray):
            check_range(back, grad.shape[0])
        kept = xp.asarray(grad)[back]
        return kept, (grad.sum() - kept.sum()).astype(grad.dtype)

    @filling_grad.refuses("reverse_index_map")
    def _filling_grad_refuses(xp, back, grad):
        return [(back, grad.shape[0])]

    @filling_grad.shape
    def _filling_grad_shape(back, grad):
        return [with_rank(back, 1, "reverse_index_map"), ()]

    @filling_grad.grad
    def _filling_grad_grad(op, d_kept, d_default):
        back, grad = op.inputs
        n = raw.Size(grad)
        is_kept = raw.UnsortedSegmentSum(raw.OnesLike(raw.GatherV2(grad, back, 0)), back, n)
        spread = raw.UnsortedSegmentSum(d_kept, back, n)
        return None, raw.AddV2(spread, raw.Mul(d_default, raw.Sub(1, is_kept)))
