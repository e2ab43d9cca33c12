"""Sparse tensors, `SparseTensor`, and the operations that lead between them and dense ones."""

from __future__ import annotations

import collections
import math
from typing import Any

import numpy as np

from ..errors import Complaint
from ..ir.convert import convert_to_tensor
from ..ir.dtypes import ANY, INDEX, NUMERIC, REAL, DType, as_dtype, int32, int64
from ..ir.opdef import NOT_DIFFERENTIABLE, op, raw
from ..ir.scopes import name_scope
from ..ir.shape import TensorShape, as_shape, shape_str, with_rank
from ..ir.static import static_value
from .gather import outside

SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensor:
    """A tensor given by the places and values of the elements that are not zero.

    Args:
      indices: (n, rank), int64.
      values: (n,), any dtype.
      dense_shape: (rank,), int64.

    Reference: TensorFlow 2.21 `tf.SparseTensor`.

    >>> x = tf.SparseTensor([[0, 1]], [5.0], [2, 3])
    >>> sess.run(tf.sparse.to_dense(x))
    array([[0., 5., 0.],
           [0., 0., 0.]], dtype=float32)
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any):
        with name_scope(None, "SparseTensor"):
            self._indices = convert_to_tensor(indices, int64, name="indices")
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, int64, name="dense_shape")
        self._static: Any = None  # what is known of the shape beside what the tensor tells
        i, v, d = (t._spec.shape for t in (self._indices, self._values, self._dense_shape))
        _agree(i, 0, v, "values")
        _agree(i, 1, d, "dense_shape")

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A sparse tensor of the three arrays in a `SparseTensorValue`; TypeError for anything else."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not isinstance(sparse_tensor_value, tuple) or len(sparse_tensor_value) != 3:
            raise TypeError("Argument sparse_tensor_value must be a SparseTensor or SparseTensorValue, "
                            f"got {type(sparse_tensor_value)}")
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Any:
        """The places, (n, rank), int64."""
        return self._indices

    @property
    def values(self) -> Any:
        """The values at those places, (n,)."""
        return self._values

    @property
    def dense_shape(self) -> Any:
        """The shape as a tensor, (rank,), int64."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self._values.dtype)

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape(static_value(self._dense_shape)).merge_with(self._static)

    def get_shape(self) -> TensorShape:
        """The static shape; the same as `shape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Merges what the caller knows into the static shape; ValueError if it contradicts."""
        self._static = as_shape(self.shape.merge_with(shape))

    @property
    def op(self) -> Any:
        """The operation of `values`."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph of `values`."""
        return self._values.graph

    @property
    def device(self) -> str:
        """The device of `values`."""
        return str(self._values.device)

    def consumers(self) -> Any:
        """The operations that use `values`."""
        return self._values.consumers()

    def with_values(self, new_values: Any) -> SparseTensor:
        """The same places with other values, (n,)."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value as a `SparseTensorValue`, run in `session` or the default one."""
        if session is not None:
            return session.run(self, feed_dict)
        return SparseTensorValue(*[t.eval(feed_dict) for t in (self._indices, self._values, self._dense_shape)])

    def __mul__(self, dense: Any) -> SparseTensor:
        return _with_dense("SparseDenseCwiseMul", self, dense, "mul")

    def __truediv__(self, dense: Any) -> SparseTensor:
        return _with_dense("SparseDenseCwiseDiv", self, dense, "truediv")

    __div__ = __truediv__

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"


def _agree(indices: Any, axis: int, other: Any, what: str) -> None:
    if indices is not None and len(indices) != 2:
        raise ValueError(f"Shape {shape_str(indices)} must have rank 2: indices of a SparseTensor are a matrix. "
                         "Fix: give one row [i, j, ...] for each value")
    if other is not None and len(other) != 1:
        raise ValueError(f"Shape {shape_str(other)} must have rank 1: {what} of a SparseTensor are a vector. "
                         "Fix: tf.reshape them to [-1]")
    if indices is None or other is None or None in (indices[axis], other[0]) or indices[axis] == other[0]:
        return
    raise ValueError(f"Dimensions {indices[axis]} and {other[0]} are not compatible: indices are {shape_str(indices)}, "
                     f"{what} {shape_str(other)}. Fix: give as many rows of indices as values, and as many columns as "
                     "dimensions")


def _with_dense(op_type: str, sp: SparseTensor, dense: Any, name: str) -> SparseTensor:
    values = getattr(raw, op_type)(sp.indices, sp.values, sp.dense_shape, dense, name=name)
    return sp.with_values(values)


# -- shared by kernels -----------------------------------------------------------------------------


def scatter_add(xp: Any, shape: Any, places: tuple[Any, ...], values: Any) -> Any:
    """Zeros of `shape` with `values` added at `places` (one index array an axis)."""
    if xp is np:
        out = np.zeros(shape, values.dtype)
        np.add.at(out, places, values)
        return out
    return xp.zeros(shape, values.dtype).at[places].add(values, mode="drop")


def columns(indices: Any) -> tuple[Any, ...]:
    """The index matrix as one array an axis."""
    return tuple(indices[:, i] for i in range(indices.shape[1]))


def linear(xp: Any, indices: Any, shape: Any) -> Any:
    """The place of each row of indices in row-major order, int64."""
    strides = np.cumprod([1, *[int(d) for d in shape][:0:-1]])[::-1].astype(np.int64)
    return (indices.astype(xp.int64) * strides).sum(axis=1) if len(strides) else xp.zeros(indices.shape[0], xp.int64)


def checked(indices: Any, shape: Any) -> None:
    """A Complaint if the indices are known and one lies outside the shape."""
    if isinstance(indices, np.ndarray) and indices.size:
        bad = np.flatnonzero(((indices < 0) | (indices >= np.asarray(shape))).any(axis=1))
        if len(bad):
            place = "[" + ",".join(map(str, indices[bad[0]].tolist())) + "]"
            raise Complaint(f"indices[{bad[0]}] = {place} is out of bounds: need 0 <= index < "
                            f"[{','.join(map(str, np.asarray(shape).tolist()))}]", "correct the indices or the shape")


def sparse_shape(indices: Any, values: Any, shape: Any) -> None:
    """Checks the static shapes of a sparse operand; `shape` is what is known of its value. For shape rules."""
    indices = with_rank(indices, 2, "indices")
    values = with_rank(values, 1, "values")
    if None not in (indices[0], values[0]) and indices[0] != values[0]:
        raise Complaint(f"{indices[0]} indices but {values[0]} values", "give one row of indices for each value")
    if shape is not None and indices[1] is not None and len(shape) != indices[1]:
        raise Complaint(f"indices have {indices[1]} columns but the shape has {len(shape)} dimensions",
                        "give one column for each dimension")


# -- sparse times dense ------------------------------------------------------------------------------


@op("SparseTensorDenseMatMul", "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T", T=NUMERIC,
    Tindices=INDEX, host=("a_shape",))  # fmt: skip
def sparse_tensor_dense_matmul_op(xp, a_indices, a_values, a_shape, b, *, adjoint_a=False, adjoint_b=False):
    """The product of a sparse matrix with a dense one."""
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
    T=ANY, Tindices=INDEX, host=("output_shape",))  # fmt: skip
def sparse_to_dense_op(xp, indices, output_shape, values, default_value, *, validate_indices=True):
    """A dense tensor with values at some places and a default elsewhere."""
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
    Tindices=INDEX, peek=("a_shape",))  # fmt: skip
def sparse_tensor_dense_add_op(xp, a_indices, a_values, a_shape, b):
    """A dense tensor plus a sparse one."""
    checked(a_indices, b.shape)
    if xp is np:
        out = np.array(b)
        np.add.at(out, columns(a_indices), a_values)
        return out
    return xp.asarray(b).at[columns(a_indices)].add(a_values, mode="drop")


@sparse_tensor_dense_add_op.refuses("a_indices")
def _sparse_tensor_dense_add_refuses(xp, a_indices, a_values, a_shape, b):
    return outside(a_indices, b.shape)


@sparse_tensor_dense_add_op.shape
def _sparse_tensor_dense_add_shape(indices, values, shape, b):
    sparse_shape(indices, values, shape)
    if shape is not None and b is not None and (len(shape) != len(b) or any(
            None not in (x, y) and x != y for x, y in zip(shape, b, strict=True))):  # fmt: skip
        raise Complaint(f"shapes {shape_str(tuple(shape))} and {shape_str(b)} differ", "give equal shapes")
    return b


@sparse_tensor_dense_add_op.grad
def _sparse_tensor_dense_add_grad(op, dy):
    return None, raw.GatherNd(dy, op.inputs[0]), None, dy


# -- reductions ------------------------------------------------------------------------------------------


def _reduced(shape: Any, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape with reduced axes of size 1, and which axes those are."""
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


@op("SparseReduceSum", "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output: T",
    T=NUMERIC, host=("input_shape", "reduction_axes"), shape=_reduction_shape)  # fmt: skip
def sparse_reduce_sum_op(xp, indices, values, shape, axes, *, keep_dims=False):
    """The sum along axes of a sparse tensor, dense."""
    kept, chosen = _reduced(shape, axes)
    places = tuple(xp.zeros_like(c) if i in chosen else c for i, c in enumerate(columns(indices)))
    out = scatter_add(xp, kept, places, values)
    return out if keep_dims else out.reshape([d for i, d in enumerate(kept) if i not in chosen])


@sparse_reduce_sum_op.grad
def _sparse_reduce_sum_grad(op, dy):
    indices, _, shape, axes = op.inputs
    kept = kept_dims(shape, axes)
    scale = raw.FloorDiv(shape, raw.Cast(kept, DstT=int64))
    return None, raw.GatherNd(raw.Reshape(dy, kept), raw.FloorDiv(indices, scale)), None, None


def kept_dims(shape: Any, axes: Any) -> Any:
    """The shape with reduced axes of size 1, as an int32 tensor."""
    shape = raw.Cast(shape, DstT=int32)
    rank = raw.Size(shape)
    axes = raw.FloorMod(raw.Reshape(axes, [-1]), rank)
    return raw.DynamicStitch([raw.Range(0, rank, 1), axes], [shape, raw.OnesLike(axes)])


@op("SparseReduceMax", "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output: T",
    T=REAL, host=("input_shape", "reduction_axes"), shape=_reduction_shape)  # fmt: skip
def sparse_reduce_max_op(xp, indices, values, shape, axes, *, keep_dims=False):
    """The maximum along axes of the elements that a sparse tensor holds; 0 where it holds none."""
    kept, chosen = _reduced(shape, axes)
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
    host=("input_shape",))  # fmt: skip
def sparse_reorder_op(xp, indices, values, shape):
    """The elements in row-major order."""
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
    host=("input_shape", "new_shape"))  # fmt: skip
def sparse_reshape_op(xp, indices, shape, new_shape):
    """The places of the elements in a tensor of another shape."""
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


__all__ = ["SparseTensor", "SparseTensorValue", "checked", "columns", "kept_dims", "linear", "scatter_add",
           "sparse_shape"]  # fmt: skip
