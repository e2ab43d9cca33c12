"""The public functions on sparse tensors."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.constant_value import constant_value, static_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import as_dtype, float32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import as_shape
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.common.sparse_tensor import SparseTensor


def _sparse(value: Any) -> SparseTensor:
    if isinstance(value, SparseTensor):
        return value
    if isinstance(value, tuple) and len(value) == 3:
        return SparseTensor(*value)
    raise TypeError(f"Input must be a SparseTensor, not {type(value).__name__}. Fix: tf.sparse.from_dense(x)")


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """Makes a sparse tensor that is fed with a `SparseTensorValue`.

    Args:
      dtype: the dtype of its values.
      shape: its shape, with None for sizes that are not known; None alone for an unknown rank; or an int64 vector.
      name: a name for the placeholders.
    Returns: a `SparseTensor`.
    Raises: ValueError for a vector of another dtype.
    Gradient: for its values.
    Reference: TensorFlow 2.21 `tf.compat.v1.sparse_placeholder`.

    >>> x = tf.sparse_placeholder(tf.float32, [2, 3])
    >>> sess.run(tf.sparse.reduce_sum(x), {x: ([[0, 1]], [5.0], [2, 3])})
    np.float32(5.0)
    """
    default: Any = None
    known: Any = None
    prefix = f"{name}/" if name else ""
    if is_tensor_like(shape):
        default = convert_to_tensor(shape, int64)
        known = static_value(default)
        known = known if known is None else as_shape(known)
    elif shape is not None:
        known = as_shape(shape)
        sizes = np.array([-1 if n is None else n for n in known], np.int64)
        default = convert_to_tensor(sizes, name=f"{prefix}shape_default")
    rank = None if known is None else len(known)
    shape_name, indices_name, values_name = [
        f"{prefix}{part}" if name else None for part in ("shape", "indices", "values")]
    if default is None:
        size = raw.Placeholder(dtype=int64, shape=(None,), name=shape_name)
    else:
        size = raw.PlaceholderWithDefault(default, shape=default._spec.shape, name=shape_name)
    values = raw.Placeholder(dtype=as_dtype(dtype), shape=(None,), name=values_name)
    indices = raw.Placeholder(dtype=int64, shape=(None, rank), name=indices_name)
    result = SparseTensor(indices, values, size)
    result._static = known
    return result


def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False,
                               name: str | None = None) -> Tensor:
    """Multiplies a sparse matrix with a dense one.

    Args:
      sp_a: a `SparseTensor`, (m, n); or a dense matrix, if `b` is sparse.
      b: (n, p), dtype of `sp_a`.
      adjoint_a, adjoint_b: whether to transpose and conjugate first.
      name: a name for the operation.
    Returns: (m, p), dense.
    Raises: ValueError if the inner dimensions differ; TypeError if both are sparse.
    Gradient: for the values of the sparse matrix (at its positions) and for the dense one.
    Reference: TensorFlow 2.21 SparseTensorDenseMatMul.

    >>> a = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
    >>> sess.run(tf.sparse_tensor_dense_matmul(a, [[1.0], [3.0]]))
    array([[6.],
           [0.]], dtype=float32)
    """
    if isinstance(b, SparseTensor) and isinstance(sp_a, SparseTensor):
        raise TypeError("One of the matrices must be dense, and both are sparse. Fix: tf.sparse.to_dense one of them")
    if isinstance(b, SparseTensor):  # (A B) = (B' A')'
        flipped = sparse_tensor_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return raw.ConjugateTranspose(flipped, [1, 0]) if b.dtype.is_complex else raw.Transpose(flipped, [1, 0])
    sp_a = _sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul"):
        b = convert_to_tensor(b, dtype_hint=sp_a.dtype, name="b")
        return raw.SparseTensorDenseMatMul(sp_a.indices, sp_a.values, sp_a.dense_shape, b, adjoint_a=adjoint_a,
                                           adjoint_b=adjoint_b)


def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
                    validate_indices: bool = True, name: str | None = None) -> Tensor:
    """Makes a dense tensor with values at some positions.

    Args:
      sparse_indices: a scalar, (n,), or (n, rank).
      output_shape: (rank,).
      sparse_values: (n,), or a scalar for all positions.
      default_value: the value elsewhere, a scalar.
      validate_indices: whether indices must be sorted and distinct (checked where they are known
        before the program is compiled).
      name: a name for the operation.
    Returns: `output_shape`, dtype of the values.
    Raises: InvalidArgumentError for indices that are not valid.
    Gradient: for the values and the default.
    Reference: TensorFlow 2.21 SparseToDense.

    >>> sess.run(tf.sparse_to_dense([1, 3], [4], 1.0))
    array([0., 1., 0., 1.], dtype=float32)
    """
    values = convert_to_tensor(sparse_values, name="sparse_values")
    default_value = convert_to_tensor(default_value, dtype_hint=values.dtype, name="default_value")
    indices = convert_to_tensor(sparse_indices, name="sparse_indices")
    output_shape = convert_to_tensor(output_shape, dtype_hint=indices.dtype, name="output_shape")
    return raw.SparseToDense(indices, output_shape, values, default_value, validate_indices=validate_indices, name=name)


def to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True,
             name: str | None = None) -> Tensor:
    """Converts a sparse tensor to a dense one.

    Args:
      sp_input: a `SparseTensor`.
      default_value: the value of missing elements; 0 by default.
      validate_indices: whether indices must be sorted and distinct.
      name: a name for the operation.
    Returns: the shape and dtype of `sp_input`.
    Raises: TypeError if it is not sparse; InvalidArgumentError for indices that are not valid.
    Gradient: for the values.
    Reference: TensorFlow 2.21 SparseToDense.

    >>> sess.run(tf.sparse.to_dense(tf.SparseTensor([[1]], [5], [3])))
    array([0, 5, 0], dtype=int32)
    """
    sp_input = _sparse(sp_input)
    if default_value is None:
        default_value = b"" if sp_input.dtype.name == "string" else np.zeros((), sp_input.dtype.np_dtype)
    default_value = convert_to_tensor(default_value, sp_input.dtype)
    return raw.SparseToDense(sp_input.indices, sp_input.dense_shape, sp_input.values, default_value,
                             validate_indices=validate_indices, name=name)


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """Converts a dense tensor to a sparse one, of its nonzero elements.

    Args:
      tensor: a dense tensor.
      name: a name for the scope.
    Returns: a `SparseTensor`.
    Gradient: to the elements that were kept.
    Reference: TensorFlow 2.21 `tf.sparse.from_dense`.

    >>> sess.run(tf.sparse.from_dense([0, 3]).values)
    array([3], dtype=int32)
    """
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        zero = b"" if tensor.dtype.name == "string" else np.zeros((), tensor.dtype.np_dtype)
        indices = raw.Where(raw.NotEqual(tensor, zero))
        return SparseTensor(indices, raw.GatherNd(tensor, indices), raw.Shape(tensor, out_type=int64))


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Sorts the elements of a sparse tensor in row-major order.

    Args:
      sp_input: a `SparseTensor`.
      name: a name for the operation.
    Returns: a `SparseTensor`.
    Gradient: for the values.
    Reference: TensorFlow 2.21 SparseReorder.

    >>> sess.run(tf.sparse.reorder(tf.SparseTensor([[1], [0]], [5, 6], [2])).values)
    array([6, 5], dtype=int32)
    """
    sp_input = _sparse(sp_input)
    indices, values = raw.SparseReorder(sp_input.indices, sp_input.values, sp_input.dense_shape, name=name)
    return SparseTensor(indices, values, sp_input.dense_shape)


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """Reshapes a sparse tensor; one size may be -1.

    Args:
      sp_input: a `SparseTensor`.
      shape: the new shape.
      name: a name for the scope.
    Returns: a `SparseTensor` with the same values.
    Raises: ValueError if the number of elements differs.
    Gradient: for the values.
    Reference: TensorFlow 2.21 SparseReshape.

    >>> sess.run(tf.sparse.reshape(tf.SparseTensor([[0, 1]], [5], [2, 2]), [4]).indices)
    array([[1]])
    """
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseReshape"):
        shape = convert_to_tensor(shape, int64) if not hasattr(shape, "_spec") else raw.Cast(shape, DstT=int64)
        indices, target = raw.SparseReshape(sp_input.indices, sp_input.dense_shape, shape)
        old, new = constant_value(sp_input.dense_shape), constant_value(shape)
        if current_graph() is not None and old is not None and new is not None:
            rest = int(np.prod(old)) // max(int(np.prod(new[new != -1])), 1)
            target = convert_to_tensor(np.where(new == -1, rest, new).astype(np.int64))
        return SparseTensor(indices, sp_input.values, target)


def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """Permutes the axes of a sparse tensor, in reverse by default; the result is in order.

    Args:
      sp_input: a `SparseTensor`.
      perm: an integer vector: axis i of the result is axis perm[i] of `sp_input`.
      name: a name for the scope.
    Returns: a `SparseTensor`.
    Gradient: for the values.
    Reference: TensorFlow 2.21 `tf.sparse.transpose`.

    >>> sess.run(tf.sparse.transpose(tf.SparseTensor([[0, 1]], [5], [2, 3])).dense_shape)
    array([3, 2])
    """
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseTranspose"):
        if perm is None:
            rank = sp_input.shape.rank
            last = raw.Sub(raw.Size(sp_input.dense_shape), 1) if rank is None else None
            perm = np.arange(rank)[::-1] if last is None else raw.Range(last, -1, -1)
        perm = perm if hasattr(perm, "_spec") else np.asarray(perm, np.int32)
        indices = raw.GatherV2(sp_input.indices, perm, 1)
        return sparse_reorder(SparseTensor(indices, sp_input.values, raw.GatherV2(sp_input.dense_shape, perm, 0)))


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Keeps the elements of a sparse tensor where a vector of bools is true.

    Args:
      sp_input: a `SparseTensor` of n elements.
      to_retain: (n,), bool.
    Returns: a `SparseTensor` of the same shape.
    Gradient: to the elements that are kept.
    Reference: TensorFlow 2.21 `tf.sparse.retain`.

    >>> x = tf.SparseTensor([[0], [1]], [5, 6], [2])
    >>> sess.run(tf.sparse.retain(x, [False, True]).values)
    array([6], dtype=int32)
    """
    sp_input = _sparse(sp_input)
    where = raw.Reshape(raw.Where(convert_to_tensor(to_retain)), [-1])
    return SparseTensor(raw.GatherV2(sp_input.indices, where, 0), raw.GatherV2(sp_input.values, where, 0),
                        sp_input.dense_shape)


# Silenced: the other overloads take what may be anything, and mypy counts a sparse tensor as such.
@overload
def sparse_add(a: SparseTensor, b: SparseTensor, threshold: Any = 0) -> SparseTensor: ...  # type: ignore[overload-overlap]
@overload
def sparse_add(a: object, b: object, threshold: Any = 0) -> Tensor: ...
def sparse_add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """Adds two tensors of which at least one is sparse.

    Args:
      a, b: `SparseTensor`s, or one of them a dense tensor; of equal shape.
      threshold: results of two sparse tensors whose magnitude is below it are dropped.
    Returns: a `SparseTensor` if both are sparse, else a dense tensor.
    Raises: TypeError if neither is sparse.
    Gradient: for the values and the dense operand.
    Reference: TensorFlow 2.21 SparseAdd, SparseTensorDenseAdd.

    >>> x = tf.SparseTensor([[1]], [5], [2])
    >>> sess.run(tf.sparse.add(x, [1, 1]))
    array([1, 6], dtype=int32)
    """
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        threshold = convert_to_tensor(threshold, a.dtype.real_dtype, name="threshold")
        return SparseTensor(*raw.SparseAdd(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape,
                                           threshold))
    if isinstance(b, SparseTensor):
        a, b = b, a
    return raw.SparseTensorDenseAdd(a.indices, a.values, a.dense_shape, b)


# Silenced as above.
@overload
def sparse_add_v1(a: SparseTensor, b: SparseTensor, threshold: Any = None, thresh: Any = None) -> SparseTensor: ...  # type: ignore[overload-overlap]
@overload
def sparse_add_v1(a: object, b: object, threshold: Any = None, thresh: Any = None) -> Tensor: ...
def sparse_add_v1(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """Adds two tensors of which at least one is sparse; see `sparse.add`.

    >>> sess.run(tf.sparse_add(tf.SparseTensor([[1]], [5], [2]), [1, 1]))
    array([1, 6], dtype=int32)
    """
    threshold = thresh if threshold is None else threshold
    return sparse_add(a, b, 0 if threshold is None else threshold)


def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Computes the softmax over the elements of each row of a sparse tensor.

    Args:
      sp_input: a `SparseTensor` of rank 2 or more, its indices in order.
      name: a name for the operation.
    Returns: a `SparseTensor` with the same positions.
    Gradient: for the values.
    Reference: TensorFlow 2.21 SparseSoftmax.

    >>> x = tf.SparseTensor([[0, 0], [0, 3]], [1.0, 1.0], [1, 4])
    >>> sess.run(tf.sparse.softmax(x).values)
    array([0.5, 0.5], dtype=float32)
    """
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseSoftmax"):
        return sp_input.with_values(raw.SparseSoftmax(sp_input.indices, sp_input.values, sp_input.dense_shape))


def sparse_concat(axis: int, sp_inputs: Any, expand_nonconcat_dims: bool = False,
                  name: str | None = None) -> SparseTensor:
    """Concatenates sparse tensors along an axis.

    Args:
      axis: the axis.
      sp_inputs: a list of `SparseTensor`s whose other sizes agree.
      expand_nonconcat_dims: whether to enlarge other sizes to the largest instead.
      name: a name for the operation.
    Returns: a `SparseTensor`, its elements in order.
    Raises: InvalidArgumentError if other sizes differ.
    Gradient: for the values.
    Reference: TensorFlow 2.21 SparseConcat.

    >>> x = tf.SparseTensor([[0]], [5], [2])
    >>> sess.run(tf.sparse.concat(0, [x, x]).indices)
    array([[0],
           [2]])
    """
    inputs = [_sparse(x) for x in sp_inputs]
    shapes = [x.dense_shape for x in inputs]
    if expand_nonconcat_dims:
        largest = raw.Max(raw.Pack(shapes, axis=0), [0])
        rank = inputs[0].shape.rank
        if rank is None:
            raise ValueError("expand_nonconcat_dims needs a known rank. Fix: give the SparseTensor a static shape")
        here = np.arange(rank) == axis % rank
        shapes = [raw.SelectV2(here, s, largest) for s in shapes]
    if len(inputs) == 1:
        return inputs[0]
    return SparseTensor(*raw.SparseConcat([x.indices for x in inputs], [x.values for x in inputs], shapes,
                                          concat_dim=axis, name=name))


def sparse_concat_v1(axis: Any, sp_inputs: Any, name: str | None = None, expand_nonconcat_dim: bool = False,
                     concat_dim: Any = None, expand_nonconcat_dims: Any = None) -> SparseTensor:
    """Concatenates sparse tensors along an axis; see `sparse.concat`.

    >>> x = tf.SparseTensor([[0]], [5], [2])
    >>> sess.run(tf.sparse_concat(0, [x, x]).dense_shape)
    array([4])
    """
    expand = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    return sparse_concat(concat_dim if axis is None else axis, sp_inputs, expand, name)


def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """Cuts a box out of a sparse tensor.

    Args:
      sp_input: a `SparseTensor`.
      start, size: the beginning of the box, and its sizes; clipped at the ends of the tensor.
      name: a name for the operation.
    Returns: a `SparseTensor`.
    Gradient: for the values.
    Reference: TensorFlow 2.21 SparseSlice.

    >>> x = tf.SparseTensor([[0], [2]], [5, 6], [3])
    >>> sess.run(tf.sparse.slice(x, [1], [2]).indices)
    array([[1]])
    """
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseSlice"):
        start, size = convert_to_tensor(start, int64), convert_to_tensor(size, int64)
        return SparseTensor(*raw.SparseSlice(sp_input.indices, sp_input.values, sp_input.dense_shape, start, size))


def sparse_fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> tuple[SparseTensor, Any]:
    """Puts a default into the first column of each empty row of a sparse matrix.

    Args:
      sp_input: a `SparseTensor`, (n, m).
      default_value: the default, a scalar.
      name: a name for the scope.
    Returns: the pair of a `SparseTensor` and a bool vector that marks the empty rows.
    Gradient: for the values and the default.
    Reference: TensorFlow 2.21 SparseFillEmptyRows.

    >>> full, empty = tf.sparse.fill_empty_rows(tf.SparseTensor([[0, 1]], [5], [2, 2]), 9)
    >>> sess.run([full.values, empty])
    [array([5, 9], dtype=int32), array([False,  True])]
    """
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows"):
        default_value = convert_to_tensor(default_value, sp_input.dtype)
        indices, values, empty, _ = raw.SparseFillEmptyRows(sp_input.indices, sp_input.values, sp_input.dense_shape,
                                                            default_value)
        return SparseTensor(indices, values, sp_input.dense_shape), empty


def eye(num_rows: int, num_columns: int | None = None, dtype: Any = float32, name: str | None = None) -> SparseTensor:
    """Makes a sparse matrix with ones on the diagonal.

    Args:
      num_rows, num_columns: the size, ints; `num_columns` is `num_rows` by default.
      dtype: the dtype.
      name: a name for the scope.
    Returns: a `SparseTensor`, (num_rows, num_columns).
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.sparse.eye`.

    >>> sess.run(tf.sparse.eye(2).values)
    array([1., 1.], dtype=float32)
    """
    columns = num_rows if num_columns is None else num_columns
    if isinstance(num_rows, (str, bytes)) or isinstance(columns, (str, bytes)):
        raise TypeError(f"num_rows and num_columns must be integers, not {num_rows!r} and {columns!r}. Fix: give ints")
    n = min(whole(num_rows), int(columns))
    with name_scope(name, "eye"):
        places = np.stack([np.arange(n, dtype=np.int64)] * 2, 1)
        return SparseTensor(places, np.ones(n, as_dtype(dtype).np_dtype), np.asarray([num_rows, columns], np.int64))


def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """Inserts an axis of size 1 before axis `axis` of a sparse tensor, at the end by default.

    Args:
      sp_input: a `SparseTensor` of known rank.
      axis: an int in [-rank - 1, rank]; -1 by default.
      name: a name for the scope.
    Returns: a `SparseTensor`, of one more dimension.
    Raises: ValueError for an axis out of range.
    Gradient: for the values.
    Reference: TensorFlow 2.21 `tf.sparse.expand_dims`.

    >>> sess.run(tf.sparse.expand_dims(tf.SparseTensor([[1]], [5], [2]), 0).indices)
    array([[0, 1]])
    """
    sp_input = _sparse(sp_input)
    rank = sp_input.shape.rank
    if rank is None:
        raise ValueError("expand_dims needs a sparse tensor of known rank. Fix: give its shape statically")
    axis = -1 if axis is None else whole(axis)
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis {axis} is out of range for a sparse tensor of rank {rank}. "
                         f"Fix: use an axis in [{-rank - 1}, {rank}]")
    at = axis if axis >= 0 else axis + rank + 1
    with name_scope(name, "expand_dims"):
        zeros = raw.ZerosLike(raw.StridedSlice(sp_input.indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1))
        before = raw.StridedSlice(sp_input.indices, [0, 0], [0, at], [1, 1], begin_mask=1, end_mask=1)
        after = raw.StridedSlice(sp_input.indices, [0, at], [0, rank], [1, 1], begin_mask=1, end_mask=1)
        shape = raw.ConcatV2([raw.StridedSlice(sp_input.dense_shape, [0], [at], [1]), np.ones(1, np.int64),
                              raw.StridedSlice(sp_input.dense_shape, [at], [rank], [1])], 0)
        return SparseTensor(raw.ConcatV2([before, zeros, after], 1), sp_input.values, shape)


def map_values(op: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """Applies a function to the values of sparse tensors with the same positions.

    Args:
      op: a function of dense tensors.
      *args, **kwargs: its arguments; for `SparseTensor`s it gets their values.
    Returns: a `SparseTensor` with the positions of the first one.
    Raises: ValueError if no argument is sparse.
    Gradient: that of `op`, for the values.
    Reference: TensorFlow 2.21 `tf.sparse.map_values`.

    >>> sess.run(map_values(tf.square, tf.SparseTensor([[1]], [5], [2])).values)
    array([25], dtype=int32)
    """
    first = next((x for x in (*args, *kwargs.values()) if isinstance(x, SparseTensor)), None)
    if first is None:
        raise ValueError("No SparseTensor in argument list of map_values. Fix: give at least one")

    def inner(x: Any) -> Any:
        return x.values if isinstance(x, SparseTensor) else x

    return first.with_values(op(*map(inner, args), **{k: inner(v) for k, v in kwargs.items()}))


__all__ = ["expand_dims", "eye", "from_dense", "map_values", "sparse_add", "sparse_add_v1", "sparse_concat",
           "sparse_concat_v1", "sparse_fill_empty_rows", "sparse_placeholder", "sparse_reorder",
           "sparse_reshape", "sparse_retain", "sparse_slice", "sparse_softmax", "sparse_tensor_dense_matmul",
           "sparse_to_dense", "sparse_transpose", "to_dense"]
