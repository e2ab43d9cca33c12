"""Reductions over the segments of axis 0."""

from __future__ import annotations

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import INDEX, NUMERIC
from ..ir.opdef import op, raw


def _unsorted_shape(data, segment_ids, num_segments):
    if data is None or segment_ids is None:
        return None
    return (num_segments, *data[len(segment_ids) :])


def _flat_ids(xp, data, segment_ids):
    """The data with the axes of the ids flattened, and the ids as a vector."""
    rest = data.shape[segment_ids.ndim :]
    return data.reshape((segment_ids.size, *rest)), segment_ids.reshape(-1)


def _scatter(xp, method, start, data, segment_ids, num_segments):
    """Reduces rows into `num_segments` rows that begin as `start`; negative ids are dropped."""
    data, ids = _flat_ids(xp, data, segment_ids)
    n = int(num_segments)
    out = xp.full((n, *data.shape[1:]), start, data.dtype)
    if xp is np:
        if ids.size and ids.max() >= n:
            raise Complaint(f"segment id {int(ids.max())} is out of range [0, {n})", "raise num_segments")
        keep = ids >= 0
        ufunc = {"add": np.add, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}[method]
        ufunc.at(out, ids[keep], data[keep])
        return out
    return getattr(out.at[xp.where(ids < 0, n, ids)], method)(data, mode="drop")


@op("UnsortedSegmentSum", "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
    T=NUMERIC, Tindices=INDEX, Tnumsegments=INDEX, host=("num_segments",), shape=_unsorted_shape)  # fmt: skip
def _unsorted_segment_sum(xp, data, segment_ids, num_segments):
    """Sums of the rows that share an id; a row with a negative id is left out."""
    return _scatter(xp, "add", 0, xp.asarray(data), xp.asarray(segment_ids), num_segments)


@_unsorted_segment_sum.grad
def _unsorted_segment_sum_grad(op, dy):
    return _gather_kept(dy, op.inputs[1])[0], None, None


def _gather_kept(t, ids):
    """Rows of `t` by id, zero where the id is negative; and where it is not, of the rows' rank."""
    rows = raw.GatherV2(t, raw.Maximum(ids, 0), 0)
    kept = raw.GreaterEqual(ids, 0)
    rank = rows._spec.shape and len(rows._spec.shape)
    id_rank = ids._spec.shape and len(ids._spec.shape)
    if rank is not None and id_rank is not None:
        for _ in range(rank - id_rank):
            kept = raw.ExpandDims(kept, -1)
    else:
        lead = raw.Shape(ids)
        ones = raw.Fill(raw.ExpandDims(raw.Sub(raw.Rank(rows), raw.Rank(ids)), 0), np.int32(1))
        kept = raw.Reshape(kept, raw.ConcatV2([lead, ones], 0))
    return raw.SelectV2(kept, rows, 0), kept
