"""Ops on ragged rows, given by flat values and row splits.

They run on the host: sizes of results depend on values.
"""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.extras.sparse.empty_rows import filling_gradient
from graphgrad.ir.dtypes import ANY, FLOATING, INDEX, int32, int64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.rank_limits import limit_ranks

_HOST = ("host",)


def _checked(splits, what="row_splits"):
    if not len(splits) or splits[0] != 0 or (np.diff(splits) < 0).any():
        raise Complaint(f"{what} must begin with 0 and not decrease, not {splits[:9].tolist()}", "give where rows end")
    return splits


def _down(coordinates, splits):
    """Computes the coordinates of elements from those of their rows: one more axis."""
    lengths = np.diff(splits)
    parent = np.repeat(np.arange(len(lengths)), lengths)
    within = np.arange(len(parent)) - splits[:-1][parent]
    return [*(c[parent] for c in coordinates), within]


def _as_splits(tensors, kinds):
    """Converts all partitions to row splits, the outermost first."""
    rows, found = None, []
    for tensor, kind in zip(tensors, kinds, strict=True):
        kind = kind.decode() if isinstance(kind, bytes) else kind
        if kind == "FIRST_DIM_SIZE":
            rows = int(tensor)
        elif kind == "ROW_SPLITS":
            found.append(_checked(np.asarray(tensor, np.int64)))
            rows = int(tensor[-1])
        elif kind == "VALUE_ROWIDS":
            if rows is None:
                raise Complaint("VALUE_ROWIDS needs a FIRST_DIM_SIZE before it", "give the number of rows first")
            found.append(np.concatenate([[0], np.cumsum(np.bincount(tensor, minlength=rows))]).astype(np.int64))
            rows = len(tensor)
        else:
            raise Complaint(f"unknown kind of row partition {kind!r}",
                            "use FIRST_DIM_SIZE, VALUE_ROWIDS or ROW_SPLITS")
    return found


@op("RaggedTensorToTensor", "shape: Tshape, values: T, default_value: T, row_partition_tensors: "
    "num_row_partition_tensors*Tindex -> result: T", T=ANY, Tindex=INDEX, Tshape=INDEX, flags=_HOST,
    peek=("shape",))
def to_tensor_op(xp, shape, values, default_value, partitions, *, row_partition_types):
    """Converts to a dense tensor, padded with a default."""
    splits = _as_splits(partitions, row_partition_types)
    coordinates = [np.arange(len(splits[0]) - 1)]
    sizes = [len(splits[0]) - 1]
    for s in splits:
        coordinates = _down(coordinates, s)
        sizes.append(int(np.diff(s).max(initial=0)))
    if len(coordinates[0]) != len(values):
        raise Complaint(f"the partitions are for {len(coordinates[0])} values, but there are {len(values)}",
                        "give the partitions of these values")
    given = np.asarray(shape)
    wanted = [-1] * (len(sizes) + values.ndim - 1) if given.ndim == 0 else given.tolist()
    if len(wanted) != len(sizes) + values.ndim - 1:
        raise Complaint(f"shape has {len(wanted)} sizes for a tensor of rank {len(sizes) + values.ndim - 1}",
                        "give one size an axis")
    sizes = [n if w < 0 else w for n, w in zip(sizes, wanted, strict=False)]
    inside = np.logical_and.reduce([c < n for c, n in zip(coordinates, sizes, strict=True)])
    out = np.empty((*sizes, *values.shape[1:]), values.dtype)
    out[...] = default_value
    out[tuple(c[inside] for c in coordinates)] = values[inside]
    return out


@to_tensor_op.shape
def _to_tensor_shape(shape, values, default_value, partitions, row_partition_types):
    ragged = sum(k not in ("FIRST_DIM_SIZE", b"FIRST_DIM_SIZE") for k in row_partition_types)
    inner = None if values is None else values[1:]
    if isinstance(shape, tuple):
        known = tuple([None if n is None or n < 0 else n for n in shape])
        return known if inner is None else (*known[: ragged + 1], *inner)
    return None if inner is None else ((None,) * (ragged + 1) + inner)


@to_tensor_op.grad
def _to_tensor_grad(op, dy):
    _, values, default, *partitions = op.inputs
    kinds = op._attr("row_partition_types")
    n = raw.Reshape(raw.Slice(raw.Shape(values), [0], [1]), np.zeros(0, np.int32))
    # The same with running numbers as values shows where each value went; 0 marks the default.
    numbers = raw.Range(1, raw.AddV2(n, 1), 1)
    lead = raw.Slice(raw.Shape(dy), [0], [sum(k not in ("FIRST_DIM_SIZE", b"FIRST_DIM_SIZE") for k in kinds) + 1])
    at = raw.RaggedTensorToTensor(lead, numbers, 0, partitions, row_partition_types=kinds)
    inner = raw.Slice(raw.Shape(values), [1], [-1])
    rows = raw.Reshape(dy, raw.ConcatV2([[-1], inner], 0))
    sums = raw.UnsortedSegmentSum(rows, raw.Reshape(at, [-1]), raw.AddV2(n, 1))
    d_values = raw.Reshape(raw.GatherV2(sums, numbers, 0), raw.Shape(values))
    left = raw.GatherV2(sums, 0, 0)
    d_default = unbroadcast(left, left, default, left)[0]
    return [None, d_values, d_default, *[None] * len(partitions)]


@op("RaggedTensorToSparse", "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T -> sparse_indices: int64, "
    "sparse_values: T, sparse_dense_shape: int64", T=ANY, Tsplits=INDEX, flags=_HOST)
def to_sparse_op(xp, nested_splits, values):
    """Converts to a sparse tensor."""
    coordinates = [np.arange(len(nested_splits[0]) - 1)]
    sizes = [len(nested_splits[0]) - 1]
    for s in nested_splits:
        coordinates = _down(coordinates, _checked(np.asarray(s, np.int64)))
        sizes.append(int(np.diff(s).max(initial=0)))
    inner = np.indices(values.shape[1:]).reshape(values.ndim - 1, int(np.prod(values.shape[1:])))
    lead = [np.repeat(c, inner.shape[1]) for c in coordinates]
    rest = [np.tile(c, len(values)) for c in inner]
    return (np.stack([*lead, *rest], axis=1).astype(np.int64), values.reshape(-1),
            np.asarray([*sizes, *values.shape[1:]], np.int64))


@to_sparse_op.shape
def _to_sparse_shape(nested_splits, values):
    rank = None if values is None else len(nested_splits) + len(values)
    n = None
    if values is not None and None not in values:
        n = int(np.prod(values))
    return [(n, rank), (n,), (rank,)]


@to_sparse_op.grad
def _to_sparse_grad(op, d_indices, d_values, d_shape):
    n = op._attr("RAGGED_RANK")
    return [*[None] * n, raw.Reshape(d_values, raw.Shape(op.inputs[n]))]


def _steps(start, limit, delta):
    """Returns the numbers from start to limit; the rounding of their own type decides how many there are."""
    if start.dtype.kind in "iu":
        return np.arange(start, limit, delta, dtype=start.dtype)
    n = max(int(np.ceil((limit - start) / delta)), 0)
    return (start + np.arange(n).astype(start.dtype) * delta).astype(start.dtype)


@op("RaggedRange", "starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T",
    prefers={"T": "int32"},
    T=FLOATING | {int32, int64}, Tsplits=INDEX, flags=_HOST)
def range_op(xp, starts, limits, deltas, *, Tsplits=int64):
    """Makes a row of evenly spaced numbers for each start, limit and step."""
    rows = np.broadcast_arrays(np.atleast_1d(starts), np.atleast_1d(limits), np.atleast_1d(deltas))
    if any(a.ndim > 1 for a in rows):
        raise Complaint("starts, limits and deltas must be scalars or vectors", "tf.reshape them")
    if (rows[2] == 0).any():
        raise Complaint("Requires delta != 0", "give a step other than 0")
    parts = [_steps(*row) for row in zip(*rows, strict=True)]
    ends = np.cumsum([0, *map(len, parts)])
    return ends.astype(Tsplits.np_dtype), np.concatenate([np.zeros(0, starts.dtype), *parts])


@range_op.shape
def _range_shape(starts, limits, deltas):
    n = None
    if None not in (starts, limits, deltas):
        n = next((s[0] for s in (starts, limits, deltas) if s), 1)
    return [(None if n is None else n + 1,), (None,)]


range_op.grad(NOT_DIFFERENTIABLE)


@op("RaggedGather", "params_nested_splits: PARAMS_RAGGED_RANK*Tsplits, params_dense_values: Tvalues, indices: Tindices "
    "-> output_nested_splits: OUTPUT_RAGGED_RANK*Tsplits, output_dense_values: Tvalues", Tvalues=ANY, Tindices=INDEX,
    Tsplits=INDEX, flags=_HOST)
def gather_op(xp, nested_splits, values, indices):
    """Gathers rows of a ragged tensor; the splits of the indices' own axes come first."""
    n = len(nested_splits[0]) - 1
    picked = np.asarray(indices)
    if picked.size and (picked.min() < 0 or picked.max() >= n):
        at = np.unravel_index(np.argmax((picked < 0) | (picked >= n)), picked.shape)
        raise Complaint(f"indices{list(map(int, at))} = {picked[at]} is not in [0, {n})", f"give indices in [0, {n})")
    kind = nested_splits[0].dtype
    out = []
    for axis in range(1, picked.ndim):  # rows of one length each
        rows = int(np.prod(picked.shape[:axis]))
        out.append((np.arange(rows + 1) * picked.shape[axis]).astype(kind))
    rows = picked.reshape(-1)
    for splits in nested_splits:
        _checked(splits, "params_nested_splits")
        starts, lengths = splits[:-1][rows], np.diff(splits)[rows]
        out.append(np.concatenate([[0], np.cumsum(lengths)]).astype(kind))
        rows = np.repeat(starts - np.r_[0, np.cumsum(lengths)][:-1], lengths) + np.arange(lengths.sum())
    return out, values[rows.astype(np.int64)]


@gather_op.shape
def _gather_shape(nested_splits, values, indices, OUTPUT_RAGGED_RANK):
    inner = None if values is None else (None, *values[1:])
    return [*[(None,)] * OUTPUT_RAGGED_RANK, inner]


@gather_op.grad
def _gather_grad(op, *grads):
    n = op._attr("PARAMS_RAGGED_RANK")
    splits, values, indices = op.inputs[:n], op.inputs[n], op.inputs[n + 1]
    count = raw.Reshape(raw.Slice(raw.Shape(values), [0], [1]), np.zeros(0, np.int32))
    *_, origins = _flat(raw.RaggedGather(splits, raw.Range(0, count, 1), indices,
                                         OUTPUT_RAGGED_RANK=op._attr("OUTPUT_RAGGED_RANK")))
    return [*[None] * n, raw.UnsortedSegmentSum(grads[-1], origins, count), None]


def _flat(outputs):
    return [*outputs[0], outputs[1]]


@op("RaggedFillEmptyRows", "value_rowids: int64, values: T, nrows: int64, default_value: T -> "
    "output_value_rowids: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    T=ANY, flags=_HOST)
def fill_empty_rows_op(xp, rowids, values, nrows, default_value):
    """Puts a default into each empty row."""
    empty = np.bincount(rowids, minlength=int(nrows))[: int(nrows)] == 0
    rows = np.concatenate([rowids, np.flatnonzero(empty)])
    order = np.argsort(rows, kind="stable")
    fill = np.full((int(empty.sum()), *values.shape[1:]), np.asarray(default_value)[()], values.dtype)
    back = np.empty(len(rows), np.int64)
    back[order] = np.arange(len(rows))
    return rows[order].astype(np.int64), np.concatenate([values, fill])[order], empty, back[: len(values)]


@fill_empty_rows_op.shape
def _fill_empty_rows_shape(rowids, values, nrows, default_value):
    with_rank(default_value, 0, "default_value")
    return [(None,), None if values is None else (None, *values[1:]), (None,), with_rank(rowids, 1, "value_rowids")]


@fill_empty_rows_op.grad
def _fill_empty_rows_grad(op, d_rowids, d_values, d_empty, d_map):
    d_in, d_default = raw.RaggedFillEmptyRowsGrad(op.outputs[3], d_values)
    return None, d_in, None, d_default


filling_gradient("RaggedFillEmptyRowsGrad")


def ragged_fill_empty_rows(value_rowids: TensorLike, values: TensorLike, nrows: TensorLike, default_value: TensorLike,
                           name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Puts a default into each empty row of a ragged tensor.

    Args:
      value_rowids: (n,), int64, in order: the row of each value.
      values: (n,).
      nrows: scalar, int64.
      default_value: a scalar of the values' dtype.
      name: a name for the operation.
    Returns: rows and values, which rows were empty, and the new index of each value.
    Gradient: for values and the default.
    Reference: TensorFlow 2.21 RaggedFillEmptyRows.

    >>> sess.run(tf.ragged_fill_empty_rows(tf.constant([0, 2], tf.int64), [1.0, 2.0], tf.constant(3, tf.int64), 9.0)[1])
    array([1., 9., 2.], dtype=float32)
    """
    return raw.RaggedFillEmptyRows(value_rowids, values, nrows, default_value, name=name)


def ragged_fill_empty_rows_grad(reverse_index_map: TensorLike, grad_values: TensorLike,
                                name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the gradient of `ragged_fill_empty_rows`.

    Args:
      reverse_index_map: (n,), int64: the new index of each value.
      grad_values: the gradient of the output's values.
      name: a name for the operation.
    Returns: the gradients of the values and of the default.
    Gradient: for `grad_values`.
    Reference: TensorFlow 2.21 RaggedFillEmptyRowsGrad.

    >>> sess.run(tf.ragged_fill_empty_rows_grad(tf.constant([0, 2], tf.int64), [1.0, 5.0, 2.0]))
    (array([1., 2.], dtype=float32), np.float32(5.0))
    """
    return raw.RaggedFillEmptyRowsGrad(reverse_index_map, grad_values, name=name)


limit_ranks(at_most_vectors="RaggedTensorToTensor.shape")
