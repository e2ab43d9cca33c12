"""Arithmetic on sparse tensors. Ops that determine the number of elements run on the host."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import ANY, FLOATING, NUMERIC, REAL
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import is_fully_defined, merged, with_rank
from graphgrad.ops.array.gather import check_range
from graphgrad.ops.common.broadcast import reduced_axes
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.rank_limits import limit_ranks

from .empty_rows import filling_gradient
from .sparse_ops import check_columns, linear, sparse_shape

_HOST = ("host",)

# -- sums --------------------------------------------------------------------------------------------


@op("SparseAdd",
    "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, thresh: Treal"
    " -> sum_indices: int64, sum_values: T, sum_shape: int64",
    prefers={"Treal": None}, T=NUMERIC, Treal=REAL, flags=_HOST,
    peek=("a_shape",))
def sparse_add_op(xp, a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    """Adds two sparse tensors, and drops results whose magnitude is below `thresh`."""
    if tuple(a_shape) != tuple(b_shape):
        raise Complaint(f"shapes {tuple(a_shape.tolist())} and {tuple(b_shape.tolist())} differ", "give equal shapes")
    both = np.concatenate([a_indices, b_indices])
    keys, inverse = np.unique(linear(np, both, a_shape), return_inverse=True)
    values = np.zeros(len(keys), a_values.dtype)
    np.add.at(values, inverse, np.concatenate([a_values, b_values]))
    indices = np.empty((len(keys), both.shape[1]), np.int64)
    indices[inverse] = both
    keep = np.abs(values) >= thresh
    return indices[keep], values[keep], a_shape


@sparse_add_op.shape
def _sparse_add_shape(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    sparse_shape(a_indices, a_values, None)
    sparse_shape(b_indices, b_values, None)
    rank = len(a_shape) if a_shape is not None else with_rank(a_indices, 2)[1]
    return [(None, rank), (None,), (rank,)]


@sparse_add_op.grad
def _sparse_add_grad(op, d_indices, d_values, d_shape):
    a_grad, b_grad = raw.SparseAddGrad(d_values, op.inputs[0], op.inputs[3], op.outputs[0])
    return None, a_grad, None, None, b_grad, None, None


@op("SparseAddGrad", "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64"
    " -> a_val_grad: T, b_val_grad: T", T=NUMERIC, flags=_HOST)
def sparse_add_grad_op(xp, grad, a_indices, b_indices, sum_indices):
    """Computes the gradients of the elements of two sparse tensors from that of their sum."""
    place = {tuple(row): i for i, row in enumerate(sum_indices.tolist())}
    padded = np.append(grad, np.zeros(1, grad.dtype))
    return tuple(padded[[place.get(tuple(row), -1) for row in i.tolist()]] for i in (a_indices, b_indices))


@sparse_add_grad_op.shape
def _sparse_add_grad_shape(grad, a_indices, b_indices, sum_indices):
    return [with_rank(i, 2, "indices")[:1] for i in (a_indices, b_indices)]


@sparse_add_grad_op.grad
def _sparse_add_grad_grad(op, da, db):
    grad, a_indices, b_indices, sum_indices = op.inputs
    of_a = _sum_at(grad, da, raw.SparsePlaces(a_indices, sum_indices))
    of_b = _sum_at(grad, db, raw.SparsePlaces(b_indices, sum_indices))
    return raw.AddV2(of_a, of_b), None, None, None


def _sum_at(like, values, places):
    """Sums values by position to a vector as long as `like`; `SparsePlaces` numbers unknown positions after its end."""
    n = raw.Size(like)
    return raw.Slice(raw.UnsortedSegmentSum(values, places, raw.AddV2(n, 1)), [0], raw.Reshape(n, [1]))


@op("SparsePlaces", "indices: int64, within: int64 -> places: int64", flags=_HOST)
def sparse_places_op(xp, indices, within):
    """Returns, for each row of indices, the number of the equal row of `within`; their count if there is none."""
    place = {tuple(row): i for i, row in enumerate(within.tolist())}
    return np.asarray([place.get(tuple(row), len(within)) for row in indices.tolist()], np.int64)


@sparse_places_op.shape
def _sparse_places_shape(indices, within):
    return with_rank(indices, 2, "indices")[:1]


sparse_places_op.grad(NOT_DIFFERENTIABLE)


# -- element by element with a dense tensor ------------------------------------------------------------


def _elementwise(name, combine, doc):
    def refuses(xp, sp_indices, sp_values, sp_shape, dense):
        lead = sp_indices.shape[1] - len(dense.shape)
        return [(sp_indices[:, lead + i], d) for i, d in enumerate(dense.shape) if d != 1]

    def kernel(xp, sp_indices, sp_values, sp_shape, dense):
        rank = sp_indices.shape[1]
        check_columns(rank, sp_shape)
        if dense.ndim > rank:
            raise Complaint(f"the dense operand has rank {dense.ndim}, more than the sparse one's {rank}",
                            "only the dense operand is broadcast; reduce its rank")
        lead = rank - dense.ndim
        if isinstance(sp_indices, np.ndarray):
            for integers, size in refuses(xp, sp_indices, sp_values, sp_shape, dense):
                check_range(integers, size)
        places = tuple(sp_indices[:, lead + i] if d != 1 else 0 for i, d in enumerate(dense.shape))
        picked = xp.asarray(dense)[places] if places else dense
        return combine(xp, sp_values, picked).astype(sp_values.dtype)

    kernel.__doc__ = doc
    declared = op(name, "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T", T=NUMERIC,
                  peek=("sp_shape",))(kernel)
    declared.shape(_elementwise_shape)
    declared.refuses("sp_indices")(refuses)
    return declared


def _elementwise_shape(indices, values, shape, dense):
    sparse_shape(indices, values, shape)
    rank = None if indices is None else indices[1]
    if None not in (rank, dense) and len(dense) > rank:
        raise Complaint(f"the dense operand has rank {len(dense)}, more than the sparse one's {rank}",
                        "only the dense operand is broadcast; reduce its rank")
    return merged(with_rank(values, 1), with_rank(indices, 2)[:1])


def _multiply(xp, values, dense):
    return values * dense


def _divide(xp, values, dense):
    return values // dense if values.dtype.kind in "iu" else values / dense


def _add(xp, values, dense):
    return values + dense


sparse_dense_cwise_mul_op = _elementwise("SparseDenseCwiseMul", _multiply, "Multiplies a sparse tensor by a dense one.")
sparse_dense_cwise_div_op = _elementwise("SparseDenseCwiseDiv", _divide, "Divides a sparse tensor by a dense one.")
sparse_dense_cwise_add_op = _elementwise("SparseDenseCwiseAdd", _add, "Adds a dense tensor's values to a sparse one's.")


def _to_dense_operand(op, values):
    """Returns the gradient for the dense operand, given the contribution of each element of the sparse one."""
    indices, _, shape, dense = op.inputs
    full = raw.SparseTensorDenseAdd(indices, values, shape, raw.Fill(shape, np.zeros((), values.dtype.np_dtype)))
    known, own = full._spec.shape, dense._spec.shape
    if is_fully_defined(known) and is_fully_defined(own):
        axes = reduced_axes(known, own)
        full = raw.Sum(full, np.asarray(axes, np.int32)) if axes else full
        return raw.Reshape(full, np.asarray(own, np.int32))
    dense_shape = raw.Shape(dense)
    _, axes = raw.BroadcastGradientArgs(raw.Shape(full), dense_shape)
    return raw.Reshape(raw.Sum(full, axes), dense_shape)


@sparse_dense_cwise_mul_op.grad
def _cwise_mul_grad(op, dy):
    indices, values, shape, dense = op.inputs
    return (None, raw.SparseDenseCwiseMul(indices, dy, shape, conj(dense)), None,
            _to_dense_operand(op, raw.Mul(dy, conj(values))))


@sparse_dense_cwise_div_op.grad
def _cwise_div_grad(op, dy):
    indices, values, shape, dense = op.inputs
    by_dense = raw.SparseDenseCwiseDiv(indices, dy, shape, conj(dense))
    quotient = raw.SparseDenseCwiseDiv(indices, values, shape, dense)
    return None, by_dense, None, _to_dense_operand(op, raw.Neg(raw.Mul(by_dense, conj(quotient))))


@sparse_dense_cwise_add_op.grad
def _cwise_add_grad(op, dy):
    return None, dy, None, _to_dense_operand(op, dy)


# -- softmax ---------------------------------------------------------------------------------------------


@op("SparseSoftmax", "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T", T=FLOATING, host=("sp_shape",))
def sparse_softmax_op(xp, indices, values, shape):
    """Computes the softmax over the elements of each row (all indices but the last); indices in order."""
    check_columns(indices.shape[1], shape)
    n = values.shape[0]
    if not n:
        return values
    rows = linear(xp, indices[:, :-1], shape[:-1])
    group = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum((rows[1:] != rows[:-1]).astype(np.int64))])
    if xp is np:
        top = np.full(n, -np.inf, values.dtype)
        np.maximum.at(top, group, values)
    else:
        top = xp.full(n, -np.inf, values.dtype).at[group].max(values)
    e = xp.exp(values - top[group])
    if xp is np:
        total = np.zeros(n, e.dtype)
        np.add.at(total, group, e)
    else:
        total = xp.zeros(n, e.dtype).at[group].add(e)
    return (e / total[group]).astype(values.dtype)


@sparse_softmax_op.shape
def _sparse_softmax_shape(indices, values, shape):
    sparse_shape(indices, values, shape)
    if shape is not None and len(shape) < 2:
        raise Complaint(f"Input should have rank >= 2, but has {len(shape)}", "tf.sparse.expand_dims(x, 0)")
    return with_rank(values, 1)


@sparse_softmax_op.grad
def _sparse_softmax_grad(op, dy):
    indices, _, shape = op.inputs
    y = op.outputs[0]
    sums = raw.SparseReduceSum(indices, raw.Mul(y, dy), shape, [-1], keep_dims=True)
    return None, raw.Mul(raw.SparseDenseCwiseAdd(indices, dy, shape, raw.Neg(sums)), y), None


# -- parts -----------------------------------------------------------------------------------------------


@op("SparseConcat", "indices: N*int64, values: N*T, shapes: N*int64"
    " -> output_indices: int64, output_values: T, output_shape: int64", T=ANY, host=("shapes",))
def sparse_concat_op(xp, indices, values, shapes, *, concat_dim):
    """Concatenates sparse tensors along an axis, in order."""
    shapes = [np.asarray(s) for s in shapes]
    rank = len(shapes[0])
    axis = concat_dim % rank
    for s in shapes[1:]:
        if len(s) != rank or any(s[i] != shapes[0][i] for i in range(rank) if i != axis):
            raise Complaint(f"shapes {shapes[0].tolist()} and {s.tolist()} differ in other axes than {axis}",
                            "make them equal there")
    shape = shapes[0].copy()
    shape[axis] = sum(s[axis] for s in shapes)
    moved = []
    offset = 0
    for i, s in zip(indices, shapes, strict=True):
        moved.append(i + np.eye(1, rank, axis, dtype=np.int64) * offset)
        offset += int(s[axis])
    rows, entries = xp.concatenate(moved), xp.concatenate(values)
    order = xp.argsort(linear(xp, rows, shape), **({"kind": "stable"} if xp is np else {"stable": True}))
    return rows[order], entries[order], shape


@sparse_concat_op.shape
def _sparse_concat_shape(indices, values, shapes):
    rank = next((len(s) for s in shapes if s is not None), None)
    counts = [None if i is None else i[0] for i in indices]
    n = None if None in counts else sum(counts)
    return [(n, rank), (n,), (rank,)]


@sparse_concat_op.grad
def _sparse_concat_grad(op, d_indices, d_values, d_shape):
    n = op._attr("N")
    indices, values, shapes = op.inputs[:n], op.inputs[n : 2 * n], op.inputs[2 * n :]
    sizes = [raw.Size(v) for v in values]
    ends = raw.Cumsum(raw.Pack(sizes), 0)
    ends = [raw.StridedSlice(ends, [i], [i + 1], [1], shrink_axis_mask=1) for i in range(n)]
    # Concatenating running numbers in the same way shows where each element went.
    numbers = [raw.Range(raw.Sub(end, size), end, 1) for end, size in zip(ends, sizes, strict=True)]
    _, order, _ = raw.SparseConcat(indices, numbers, shapes, concat_dim=op._attr("concat_dim"))
    by_input = raw.GatherV2(d_values, raw.InvertPermutation(order), 0)
    parts = [by_input] if n == 1 else raw.SplitV(by_input, raw.Pack(sizes), 0, num_split=n)
    return [*[None] * n, *parts, *[None] * n]


@op("SparseSplit", "split_dim: int64, indices: int64, values: T, shape: int64"
    " -> output_indices: num_split*int64, output_values: num_split*T, output_shape: num_split*int64", T=ANY,
    flags=_HOST)
def sparse_split_op(xp, split_dim, indices, values, shape, *, num_split):
    """Splits a sparse tensor along an axis; the first pieces are one longer where they cannot be equal."""
    rank, axis = len(shape), int(split_dim)
    if not -rank <= axis < rank:
        raise Complaint(f"Input split_dim should be between {-rank} and {rank} (exclusive), but is {axis}",
                        "give an axis of the tensor")
    axis %= rank
    size = int(shape[axis])
    if not 1 <= num_split <= size:
        raise Complaint(f"Input num_split should be between 1 and the splitting dimension size ({size}), got "
                        f"{num_split}", "give a number of pieces in that range")
    ends = np.cumsum([size // num_split + (i < size % num_split) for i in range(num_split)])
    pieces = []
    for start, end in zip(np.r_[0, ends[:-1]], ends, strict=True):
        inside = (indices[:, axis] >= start) & (indices[:, axis] < end)
        moved, part = indices[inside], shape.copy()
        moved[:, axis] -= start
        part[axis] = end - start
        pieces.append((moved, values[inside], part))
    return tuple(map(list, zip(*pieces, strict=True)))


@sparse_split_op.shape
def _sparse_split_shape(split_dim, indices, values, shape, num_split):
    with_rank(split_dim, 0, "split_dim")
    sparse_shape(indices, values, None)
    rank = merged(with_rank(shape, 1, "shape"), with_rank(indices, 2)[1:])[0]
    return [*[(None, rank)] * num_split, *[(None,)] * num_split, *[(rank,)] * num_split]


@sparse_split_op.grad
def _sparse_split_grad(op, *grads):
    n = op._attr("num_split")
    split_dim, indices, values, shape = op.inputs
    # Splitting running numbers in the same way shows where each element came from.
    numbers = raw.Range(0, raw.Size(values), 1)
    _, origins, _ = raw.SparseSplit(split_dim, indices, numbers, shape, num_split=n)
    back = raw.ConcatV2(list(grads[n : 2 * n]), 0) if n > 1 else grads[n]
    origins = raw.ConcatV2(origins, 0) if n > 1 else origins[0]
    return None, None, raw.UnsortedSegmentSum(back, origins, raw.Size(values)), None


@op("SparseSlice", "indices: int64, values: T, shape: int64, start: int64, size: int64"
    " -> output_indices: int64, output_values: T, output_shape: int64", T=ANY, flags=_HOST)
def sparse_slice_op(xp, indices, values, shape, start, size):
    """Returns the elements inside a box."""
    size = np.maximum(np.minimum(size, shape - start), 0)
    inside = ((indices >= start) & (indices < start + size)).all(axis=1)
    return indices[inside] - start, values[inside], size


@sparse_slice_op.shape
def _sparse_slice_shape(indices, values, shape, start, size):
    sparse_shape(indices, values, None)
    rank = with_rank(indices, 2)[1]
    for s in (shape, start, size):
        rank = merged((rank,), with_rank(s, 1, "shape, start and size"))[0]
    return [(None, rank), (None,), (rank,)]


@sparse_slice_op.grad
def _sparse_slice_grad(op, d_indices, d_values, d_shape):
    indices, _, _, start, _ = op.inputs
    return None, raw.SparseSliceGrad(d_values, indices, start, op.outputs[0]), None, None, None


@op("SparseSliceGrad", "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64"
    " -> val_grad: T", T=NUMERIC, flags=_HOST)
def sparse_slice_grad_op(xp, grad, indices, start, output_indices):
    """Computes the gradient of a slice's values, zero for elements outside."""
    place = {tuple(row): i for i, row in enumerate((output_indices + start).tolist())}
    padded = np.append(grad, np.zeros(1, grad.dtype))
    return padded[[place.get(tuple(row), -1) for row in indices.tolist()]]


@sparse_slice_grad_op.shape
def _sparse_slice_grad_shape(grad, indices, start, output_indices):
    return with_rank(indices, 2, "input_indices")[:1]


@sparse_slice_grad_op.grad
def _sparse_slice_grad_grad(op, d_grad):
    grad, indices, start, output_indices = op.inputs
    places = raw.SparsePlaces(indices, raw.AddV2(output_indices, start))
    return _sum_at(grad, d_grad, places), None, None, None


@op("SparseFillEmptyRows", "indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64,"
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64", T=ANY, flags=_HOST)
def sparse_fill_empty_rows_op(xp, indices, values, shape, default_value):
    """Puts a default into the first column of each empty row of a matrix."""
    n = int(shape[0])
    empty = np.bincount(indices[:, 0], minlength=n)[:n] == 0
    added = np.zeros((int(empty.sum()), indices.shape[1]), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    rows = np.concatenate([indices, added])
    entries = np.concatenate([values, np.full(len(added), np.asarray(default_value)[()], values.dtype)])
    order = np.argsort(rows[:, 0], kind="stable")
    back = np.empty(len(rows), np.int64)
    back[order] = np.arange(len(rows))
    return rows[order], entries[order], empty, back[: len(values)]


@sparse_fill_empty_rows_op.shape
def _sparse_fill_empty_rows_shape(indices, values, shape, default_value):
    sparse_shape(indices, values, None)
    with_rank(default_value, 0, "default_value")
    n = merged(with_rank(values, 1), with_rank(indices, 2)[:1])
    rank = merged(with_rank(indices, 2)[1:], with_rank(shape, 1, "dense_shape"))
    return [(None, *rank), (None,), (None,), n]


@sparse_fill_empty_rows_op.grad
def _sparse_fill_empty_rows_grad(op, d_indices, d_values, d_empty, d_map):
    d_in, d_default = raw.SparseFillEmptyRowsGrad(op.outputs[3], d_values)
    return None, d_in, None, d_default


filling_gradient("SparseFillEmptyRowsGrad")


limit_ranks(
    vectors="""
        SparseAdd.a_shape SparseConcat.shapes SparseDenseCwiseAdd.sp_shape SparseDenseCwiseDiv.sp_shape
        SparseDenseCwiseMul.sp_shape SparseSoftmax.sp_shape""",
)
