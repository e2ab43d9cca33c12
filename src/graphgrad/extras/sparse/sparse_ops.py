"""Ops between sparse and dense tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import ANY, INDEX, NUMERIC, REAL, int32, int64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import shape_str, with_rank
from graphgrad.op_traits import Cost, Dependence, Linear, size_of
from graphgrad.ops.array.gather import outside
from graphgrad.ops.common.dependence import numbers
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.sparse_tensor import SparseTensor as SparseTensor

# -- shared by kernels -----------------------------------------------------------------------------


def scatter_add(xp: Any, shape: Any, places: tuple[Any, ...], values: Any) -> Any:
    """Adds `values` into zeros of `shape` at `places` (one index array per axis)."""
    if xp is np:
        out = np.zeros(shape, values.dtype)
        np.add.at(out, places, values)
        return out
    return xp.zeros(shape, values.dtype).at[places].add(values, mode="drop")


def columns(indices: Any) -> tuple[Any, ...]:
    """Returns the index matrix as one array per axis."""
    return tuple(indices[:, i] for i in range(indices.shape[1]))


def linear(xp: Any, indices: Any, shape: Any) -> Any:
    """Returns the position of each row of indices in row-major order, int64."""
    strides = np.cumprod([1, *[int(d) for d in shape][:0:-1]])[::-1].astype(np.int64)
    return (indices.astype(xp.int64) * strides).sum(axis=1) if len(strides) else xp.zeros(indices.shape[0], xp.int64)


def checked(indices: Any, shape: Any) -> None:
    """Raises a Complaint if the indices are known and one is outside of the shape."""
    if isinstance(indices, np.ndarray) and indices.size:
        bad = np.flatnonzero(((indices < 0) | (indices >= np.asarray(shape))).any(axis=1))
        if len(bad):
            place = "[" + ",".join(map(str, indices[bad[0]].tolist())) + "]"
            raise Complaint(f"indices[{bad[0]}] = {place} is out of bounds: need 0 <= index < "
                            f"[{','.join(map(str, np.asarray(shape).tolist()))}]", "correct the indices or the shape")


def sparse_shape(indices: Any, values: Any, shape: Any) -> None:
    """Checks the static shapes of a sparse operand; `shape` is the known part of its value. For shape rules."""
    indices = with_rank(indices, 2, "indices")
    values = with_rank(values, 1, "values")
    if None not in (indices[0], values[0]) and indices[0] != values[0]:
        raise Complaint(f"{indices[0]} indices but {values[0]} values", "give one row of indices for each value")
    if shape is not None and indices[1] is not None:
        check_columns(indices[1], shape)


def check_columns(count: int, shape: Any) -> None:
    """Raises a Complaint unless there are as many columns of indices as dimensions."""
    if len(shape) != count:
        raise Complaint(f"indices have {count} columns but the shape has {len(shape)} dimensions",
                        "give one column for each dimension")


# -- sparse times dense ------------------------------------------------------------------------------


@op("SparseTensorDenseMatMul", "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T",
    prefers={"Tindices": "int64"}, T=NUMERIC,
    Tindices=INDEX, host=("a_shape",), cost=Cost.PRODUCT, linear=Linear.SEPARATELY)
def sparse_tensor_dense_matmul_op(xp, a_indices, a_values, a_shape, b, *, adjoint_a=False, adjoint_b=False):
    """Multiplies a sparse matrix with a dense one."""
    row, column = (1, 0) if adjoint_a else (0, 1)
    values = xp.conj(a_values) if adjoint_a else a_values
    b = xp.conj(b).T if adjoint_b else xp.asarray(b)
    if int(a_shape[column]) != b.shape[0]:
        raise Complaint(f"cannot multiply: A has {int(a_shape[column])} columns, B {b.shape[0]} rows",
                        "transpose one of them with adjoint_a or adjoint_b")
    if isinstance(a_indices, np.ndarray):
        checked(a_indices, a_shape)
    terms = values[:, None] * b[a_indices[:, column]]
    return scatter_add(xp, (int(a_shape[row]), b.shape[1]), (a_indices[:, row],), terms.astype(b.dtype))


@sparse_tensor_dense_matmul_op.dependences
def _sparse_product_elements(op, values, index):
    if values[0] is None:
        return None
    adjoint_a, adjoint_b = op._attr("adjoint_a"), op._attr("adjoint_b")
    result, b = op.outputs[0]._spec.shape, numbers(op.inputs[3]._spec.shape)
    row, column = (1, 0) if adjoint_a else (0, 1)
    rows, columns = values[0][:, row], values[0][:, column]
    members = (b.T if adjoint_b else b)[columns]
    groups = numbers(result)[rows]
    of_b = Dependence(numbers(result).ravel(), groups.ravel(), members.ravel())
    of_a = Dependence(np.repeat(np.arange(result[0]), result[1]), rows, np.arange(len(rows)))
    return [None, of_a, None, of_b]


@sparse_tensor_dense_matmul_op.multiply_adds
def _sparse_tensor_dense_matmul_work(op, unknown):
    columns = (op.outputs[0]._spec.shape or (None,))[-1]
    return size_of(op.inputs[1]._spec.shape, unknown) * (unknown if columns is None else columns)


@sparse_tensor_dense_matmul_op.refuses("a_indices")
def _sparse_tensor_dense_matmul_refuses(xp, a_indices, a_values, a_shape, b):
    return outside(a_indices, a_shape.tolist())


@sparse_tensor_dense_matmul_op.shape
def _sparse_tensor_dense_matmul_shape(indices, values, shape, b, adjoint_a, adjoint_b):
    sparse_shape(indices, values, shape)
    b = with_rank(b, 2, "b")
    if shape is not None and len(shape) != 2:
        raise Complaint(f"a must be a matrix, but has rank {len(shape)}", "tf.sparse.reshape it to two dimensions")
    rows, inner = (None, None) if shape is None else reversed(shape) if adjoint_a else shape
    if None not in (inner, b[adjoint_b]) and inner != b[adjoint_b]:
        raise Complaint(f"cannot multiply: A has {inner} columns, B {b[adjoint_b]} rows",
                        "transpose one of them with adjoint_a or adjoint_b")
    return rows, b[not adjoint_b]


@sparse_tensor_dense_matmul_op.grad
def _sparse_tensor_dense_matmul_grad(op, dy):
    indices, values, shape, b = op.inputs
    adjoint_a, adjoint_b = op._attr("adjoint_a"), op._attr("adjoint_b")
    db = raw.SparseTensorDenseMatMul(indices, values, shape, dy, adjoint_a=not adjoint_a)
    if adjoint_b:
        db = _adjoint(db)
    rows, cols = (_column(indices, i) for i in (0, 1))
    picked_dy = raw.GatherV2(dy, cols if adjoint_a else rows, 0)
    picked_b = raw.GatherV2(_adjoint(b) if adjoint_b else b, rows if adjoint_a else cols, 0)
    if values.dtype.is_complex:
        if adjoint_a:
            picked_dy = raw.Conj(picked_dy)
        else:
            picked_b = raw.Conj(picked_b)
    return None, raw.Sum(raw.Mul(picked_dy, picked_b), [1]), None, db


def _adjoint(x: Any) -> Any:
    return raw.ConjugateTranspose(x, [1, 0]) if x.dtype.is_complex else raw.Transpose(x, [1, 0])


def _column(indices: Any, i: int) -> Any:
    return raw.StridedSlice(indices, [0, i], [0, i + 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2)


# -- to dense ------------------------------------------------------------------------------------------


@op("SparseToDense", "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> dense: T",
    T=ANY, Tindices=INDEX, host=("output_shape",))
def sparse_to_dense_op(xp, indices, output_shape, values, default_value, *, validate_indices=True):
    """Makes a dense tensor with values at some positions and a default elsewhere."""
    shape = tuple(int(d) for d in np.asarray(output_shape).reshape(-1))
    rows = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    checked(rows, shape)
    if validate_indices and isinstance(rows, np.ndarray) and len(rows) > 1:
        order = linear(np, rows, shape)
        bad = np.flatnonzero(np.diff(order) <= 0)
        if len(bad):
            place = "[" + ",".join(map(str, rows[bad[0] + 1].tolist())) + "]"
            what = "repeated" if (np.diff(order) == 0)[bad[0]] else "out of order"
            raise Complaint(f"indices[{bad[0] + 1}] = {place} is {what}",
                            "sort the indices, e.g. with tf.sparse.reorder, or set validate_indices=False")
    if xp is np:
        out = np.full(shape, np.asarray(default_value)[()], np.asarray(default_value).dtype)
        out[columns(rows)] = values
        return out
    return xp.full(shape, default_value).at[columns(rows)].set(values, mode="drop")


@sparse_to_dense_op.refuses("sparse_indices")
def _sparse_to_dense_refuses(xp, indices, output_shape, values, default_value, validate_indices=True):
    shape = np.asarray(output_shape).reshape(-1).tolist()
    rows = indices.reshape(-1, 1) if len(indices.shape) < 2 else indices
    place = linear(xp, rows, shape)
    return [*outside(rows, shape), *([place[1:] <= place[:-1]] if validate_indices else [])]


@sparse_to_dense_op.shape
def _sparse_to_dense_shape(indices, output_shape, values, default_value):
    if values is not None and len(values) > 1:
        raise Complaint(f"sparse_values must be a scalar or a vector, but has shape {shape_str(values)}",
                        "tf.reshape(values, [-1])")
    with_rank(default_value, 0, "default_value")
    return (output_shape,) if isinstance(output_shape, int) else output_shape


@sparse_to_dense_op.grad
def _sparse_to_dense_grad(op, dy):
    indices, _, values, _ = op.inputs
    if indices._spec.shape is not None and len(indices._spec.shape) < 2:
        indices = raw.Reshape(indices, [-1, 1])
    at_places = raw.GatherNd(dy, indices)
    d_values = raw.Sum(at_places, [0]) if values._spec.shape == () else at_places
    return None, None, d_values, raw.Sub(_sum_all(dy), _sum_all(at_places))


def _sum_all(x: Any) -> Any:
    return raw.Sum(raw.Reshape(x, [-1]), [0])


@op("SparseTensorDenseAdd", "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T", T=NUMERIC,
    Tindices=INDEX, peek=("a_shape",))
def sparse_tensor_dense_add_op(xp, a_indices, a_values, a_shape, b):
    """Adds a sparse tensor to a dense one."""
    if xp is np and tuple(a_shape) != b.shape:
        raise _differing(a_shape.tolist(), b.shape)
    checked(a_indices, b.shape)
    if xp is np:
        out = np.array(b)
        np.add.at(out, columns(a_indices), a_values)
        return out
    return xp.asarray(b).at[columns(a_indices)].add(a_values, mode="drop")


def _differing(a_shape, b_shape):
    return Complaint(f"shapes {shape_str(tuple(a_shape))} and {shape_str(b_shape)} differ", "give equal shapes")


@sparse_tensor_dense_add_op.refuses("a_indices", "a_shape")
def _sparse_tensor_dense_add_refuses(xp, a_indices, a_values, a_shape, b):
    return [*outside(a_indices, b.shape), a_shape != np.asarray(b.shape, a_shape.dtype)]


@sparse_tensor_dense_add_op.shape
def _sparse_tensor_dense_add_shape(indices, values, shape, b):
    sparse_shape(indices, values, shape)
    if shape is not None and b is not None and (len(shape) != len(b) or any(
            None not in (x, y) and x != y for x, y in zip(shape, b, strict=True))):
        raise _differing(shape, b)
    return b


@sparse_tensor_dense_add_op.grad
def _sparse_tensor_dense_add_grad(op, dy):
    return None, raw.GatherNd(dy, op.inputs[0]), None, dy


# -- reductions ------------------------------------------------------------------------------------------


def _reduced(shape: Any, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the shape with reduced axes of size 1, and these axes."""
    sizes = tuple(int(d) for d in shape)
    for a in np.asarray(axes).reshape(-1).tolist():
        if not -len(sizes) <= a < len(sizes):
            raise Complaint(f"Invalid reduction dimension {a} for input with {len(sizes)} dimension(s)",
                            f"use an axis in [{-len(sizes)}, {len(sizes)})")
    chosen = {a % len(sizes) for a in np.asarray(axes).reshape(-1).tolist()}
    return tuple(1 if i in chosen else d for i, d in enumerate(sizes)), tuple(sorted(chosen))


def _reduction_shape(indices, values, shape, axes, keep_dims):
    sparse_shape(indices, values, shape)
    if shape is None or axes is None:
        return None
    axes = (axes,) if isinstance(axes, int) else axes
    if None in axes:
        return None
    for a in axes:
        if not -len(shape) <= a < len(shape):
            raise Complaint(f"Invalid reduction dimension {a} for input with {len(shape)} dimension(s)",
                            f"use an axis in [{-len(shape)}, {len(shape)})")
    chosen = {a % len(shape) for a in axes}
    return tuple(1 if i in chosen else d for i, d in enumerate(shape) if keep_dims or i not in chosen)


def _check_places(indices, shape):
    """Raises a Complaint if an index is known to be outside of the shape."""
    if isinstance(indices, np.ndarray):
        wrong = np.any((indices < 0) | (indices >= shape), axis=-1)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise Complaint(f"indices[{at}] = {indices[at].tolist()} is out of bounds of the shape {shape.tolist()}",
                            "give indices inside of the shape")


def _outside_of_shape(xp, indices, values, shape, axes):
    return [(indices, shape)]


@op("SparseReduceSum", "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output: T",
    T=NUMERIC, host=("input_shape", "reduction_axes"), shape=_reduction_shape)
def sparse_reduce_sum_op(xp, indices, values, shape, axes, *, keep_dims=False):
    """Sums a sparse tensor along axes; dense."""
    kept, chosen = _reduced(shape, axes)
    _check_places(indices, shape)
    places = tuple(xp.zeros_like(c) if i in chosen else c for i, c in enumerate(columns(indices)))
    out = scatter_add(xp, kept, places, values)
    return out if keep_dims else out.reshape([d for i, d in enumerate(kept) if i not in chosen])


sparse_reduce_sum_op.refuses("input_indices")(_outside_of_shape)


@sparse_reduce_sum_op.grad
def _sparse_reduce_sum_grad(op, dy):
    indices, _, shape, axes = op.inputs
    kept = kept_dims(shape, axes)
    scale = raw.FloorDiv(shape, raw.Cast(kept, DstT=int64))
    return None, raw.GatherNd(raw.Reshape(dy, kept), raw.FloorDiv(indices, scale)), None, None


def kept_dims(shape: Any, axes: Any) -> Any:
    """Returns the shape with reduced axes of size 1, as an int32 tensor."""
    shape = raw.Cast(shape, DstT=int32)
    rank = raw.Size(shape)
    axes = raw.FloorMod(raw.Reshape(axes, [-1]), rank)
    return raw.DynamicStitch([raw.Range(0, rank, 1), axes], [shape, raw.OnesLike(axes)])


@op("SparseReduceMax", "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output: T",
    T=REAL, host=("input_shape", "reduction_axes"), shape=_reduction_shape)
def sparse_reduce_max_op(xp, indices, values, shape, axes, *, keep_dims=False):
    """Computes the maximum of the elements of a sparse tensor along axes; 0 where there are none."""
    kept, chosen = _reduced(shape, axes)
    _check_places(indices, shape)
    places = [xp.zeros_like(c) if i in chosen else c for i, c in enumerate(columns(indices))]
    groups = linear(xp, xp.stack(places, 1), kept)
    n = math.prod(kept)
    lowest = np.iinfo(values.dtype).min if values.dtype.kind in "iu" else -np.inf
    if xp is np:
        out = np.full(n, lowest, values.dtype)
        np.maximum.at(out, groups, values)
        held = np.bincount(groups, minlength=n) > 0
    else:
        out = xp.full(n, lowest, values.dtype).at[groups].max(values)
        held = xp.zeros(n, bool).at[groups].set(True)
    out = xp.where(held, out, xp.zeros((), values.dtype))
    return out.reshape(kept if keep_dims else [d for i, d in enumerate(kept) if i not in chosen])


sparse_reduce_max_op.refuses("input_indices")(_outside_of_shape)


@sparse_reduce_max_op.grad
def _sparse_reduce_max_grad(op, dy):
    indices, values, shape, axes = op.inputs
    kept = kept_dims(shape, axes)
    places = raw.FloorDiv(indices, raw.FloorDiv(shape, raw.Cast(kept, DstT=int64)))
    largest = raw.GatherNd(raw.Reshape(op.outputs[0], kept), places)
    is_largest = raw.Cast(raw.Equal(largest, values), DstT=values.dtype)
    # Elements that share the maximum share its gradient, as those of `reduce_max` do.
    sharing = raw.SparseReduceSum(indices, is_largest, shape, axes, keep_dims=True)
    share = raw.DivNoNan(is_largest, raw.GatherNd(sharing, places))
    return None, raw.Mul(share, raw.GatherNd(raw.Reshape(dy, kept), places)), None, None


# -- order -------------------------------------------------------------------------------------------------


@op("SparseReorder",
    "input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, output_values: T", T=ANY,
    host=("input_shape",))
def sparse_reorder_op(xp, indices, values, shape):
    """Sorts the elements in row-major order."""
    check_columns(indices.shape[1], shape)
    order = xp.argsort(linear(xp, indices, shape), **({"kind": "stable"} if xp is np else {"stable": True}))
    return xp.asarray(indices)[order], xp.asarray(values)[order]


@sparse_reorder_op.shape
def _sparse_reorder_shape(indices, values, shape):
    sparse_shape(indices, values, shape)
    return [with_rank(indices, 2), with_rank(values, 1)]


@sparse_reorder_op.grad
def _sparse_reorder_grad(op, d_indices, d_values):
    indices, _, shape = op.inputs
    n = raw.StridedSlice(raw.Shape(indices), [0], [1], [1], shrink_axis_mask=1)
    _, order = raw.SparseReorder(indices, raw.Range(0, n, 1), shape)
    return None, raw.GatherV2(d_values, raw.InvertPermutation(order), 0), None


@op("SparseReshape",
    "input_indices: int64, input_shape: int64, new_shape: int64 -> output_indices: int64, output_shape: int64",
    host=("input_shape", "new_shape"))
def sparse_reshape_op(xp, indices, shape, new_shape):
    """Computes the positions of the elements in a tensor of another shape."""
    target = _target(tuple(int(d) for d in shape), tuple(int(d) for d in new_shape))
    places = linear(xp, indices, shape)
    parts = []
    for d in reversed(target):
        parts.append(places % max(d, 1))
        places = places // max(d, 1)
    rows = xp.stack(parts[::-1], 1) if parts else xp.zeros((indices.shape[0], 0), np.int64)
    return rows, np.asarray(target, np.int64)


def _target(shape: tuple[int, ...], new_shape: tuple[int, ...]) -> tuple[int, ...]:
    size = math.prod(shape)
    if new_shape.count(-1) > 1:
        raise Complaint("only one output dimension may be -1", "give the other sizes")
    known = math.prod(d for d in new_shape if d != -1)
    if -1 in new_shape and known and size % known == 0:
        return tuple(size // known if d == -1 else d for d in new_shape)
    if known != size or -1 in new_shape:
        raise Complaint(f"Input to reshape is a tensor with {size} dense values, but the requested shape has {known}",
                        "give a shape of as many elements")
    return new_shape


@sparse_reshape_op.shape
def _sparse_reshape_shape(indices, shape, new_shape):
    n = None if indices is None else with_rank(indices, 2, "input_indices")[0]
    if shape is not None and new_shape is not None and None not in shape and None not in new_shape:
        _target(shape, new_shape)
    rank = None if new_shape is None else len(new_shape)
    return [(n, rank), (rank,)]


sparse_reshape_op.grad(NOT_DIFFERENTIABLE)


limit_ranks(
    vectors="""
        SparseReduceMax.input_shape SparseReduceSum.input_shape SparseReorder.input_shape SparseReshape.input_shape
        SparseReshape.new_shape SparseTensorDenseAdd.a_shape SparseTensorDenseMatMul.a_shape
        SparseToDense.output_shape""",
    at_most_vectors="SparseReduceMax.reduction_axes SparseReduceSum.reduction_axes",
)

__all__ = ["SparseTensor", "checked", "columns", "kept_dims", "linear", "scatter_add",
           "sparse_shape"]
