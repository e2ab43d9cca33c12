"""Sorting, searching, and bitcasts."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import INDEX, as_dtype, float32, float64, int32, int64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import normalize_axis, with_rank
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import join, moved_to_last, part, reshape_like, shape_of


def _bound(xp, rows, values, side, out_type):
    if xp is np:
        found = [np.searchsorted(r, v, side) for r, v in zip(rows, values, strict=True)]
        return np.array(found, out_type.np_dtype).reshape(values.shape)
    if hasattr(xp, "written_lax"):
        return xp.searchsorted(rows, values, side).astype(out_type.np_dtype)
    import jax

    def one(row, value):
        return xp.searchsorted(row, value, side)

    return jax.vmap(one)(xp.asarray(rows), xp.asarray(values)).astype(out_type.np_dtype)


def _bound_shape(rows, values):
    n, _ = with_rank(rows, 2, "sorted_inputs")
    m, k = with_rank(values, 2, "values")
    if None not in (n, m) and n != m:
        raise Complaint(f"sorted_inputs has {n} rows but values has {m}", "give one row of values for each")
    return (n if m is None else m, k)


@op("LowerBound", "sorted_inputs: T, values: T -> output: out_type", out_type=INDEX, shape=_bound_shape)
def lower_bound(xp, rows, values, *, out_type=int32):
    """Returns, for each value, the first index where it could be inserted in its sorted row."""
    return _bound(xp, rows, values, "left", out_type)


lower_bound.grad(NOT_DIFFERENTIABLE)


@op("UpperBound", "sorted_inputs: T, values: T -> output: out_type", out_type=INDEX, shape=_bound_shape)
def upper_bound(xp, rows, values, *, out_type=int32):
    """Returns, for each value, the last index where it could be inserted in its sorted row."""
    return _bound(xp, rows, values, "right", out_type)


upper_bound.grad(NOT_DIFFERENTIABLE)


@op("Bucketize", "input: T -> output: int32", T=frozenset({int32, int64, float32, float64}))
def bucketize(xp, x, *, boundaries):
    """Returns, for each value, how many of the sorted boundaries are not above it."""
    limits = np.asarray(boundaries, np.float32).astype(np.float64 if x.dtype == np.float64 else np.float32)
    if np.any(limits[1:] < limits[:-1]):
        raise Complaint("Expected sorted boundaries", "give boundaries in ascending order")
    return xp.searchsorted(xp.asarray(limits), x.astype(limits.dtype), "right").astype(np.int32)


@bucketize.shape
def _bucketize_shape(x):
    return x


bucketize.grad(NOT_DIFFERENTIABLE)


@op("Bitcast", "input: T -> output: type")
def bitcast_op(xp, x, *, T, type):
    """Reinterprets the bits of the input as another type; a smaller type adds an axis."""
    shape = _bitcast_shape(x.shape, T, type)
    return np.ascontiguousarray(x).reshape(-1).view(type.np_dtype).reshape(shape)


@bitcast_op.on_device
def _bitcast_device(xp, x, *, T, type):
    return lax_of(xp).bitcast_convert_type(x, type.np_dtype)


@bitcast_op.shape
def _bitcast_shape(x, T, type):
    if x is None or T.size == type.size:
        return x
    if T.size > type.size:
        return x + (T.size // type.size,)
    if not x or x[-1] not in (None, type.size // T.size):
        raise Complaint(f"the last dimension must be {type.size // T.size} to read {T.name} as {type.name}",
                        "reshape the input")
    return x[:-1]


@op("UnravelIndex", "indices: Tidx, dims: Tidx -> output: Tidx", Tidx=INDEX, host=("dims",))
def unravel_index_op(xp, indices, dims):
    """Converts indices into the elements of a shape, in row-major order, to coordinates."""
    if isinstance(indices, np.ndarray) and indices.size and not 0 <= indices.min() <= indices.max() < np.prod(dims):
        raise Complaint(f"index is out of bound as with dims {dims.tolist()}", f"give indices in [0, {np.prod(dims)})")
    rest, found = indices, []
    for n in dims[::-1].tolist():
        found.append(rest % n)
        rest = rest // n
    return xp.stack(found[::-1]).astype(indices.dtype)


@unravel_index_op.shape
def _unravel_index_shape(indices, dims):
    if indices is not None and len(indices) > 1:
        raise Complaint("indices must be a scalar or a vector", "flatten them, e.g. tf.reshape(indices, [-1])")
    return None if indices is None else (None if dims is None else len(dims), *indices)


@unravel_index_op.refuses("indices")
def _unravel_index_refuses(xp, indices, dims):
    return [(indices, int(np.prod(dims)))]


unravel_index_op.grad(NOT_DIFFERENTIABLE)


def unravel_index(indices: TensorLike, dims: Any, name: str | None = None) -> Tensor:
    """Converts indices into the elements of a shape, in row-major order, to coordinates.

    Args:
      indices: (n,) or scalar, int32 or int64, each in [0, product of dims).
      dims: (k,), the same dtype: the shape.
      name: a name for the operation.
    Returns: (k, n), or (k,) for a scalar, the same dtype.
    Raises: InvalidArgumentError at run time if an index is out of range.
    Gradient: None.
    Reference: TensorFlow 2.21 UnravelIndex.

    >>> sess.run(tf.unravel_index([2, 5], [3, 2]))
    array([[1, 2],
           [0, 1]], dtype=int32)
    """
    return raw.UnravelIndex(indices, dims, name=name)


def searchsorted(sorted_sequence: Any, values: TensorLike, side: str = "left", out_type: DTypeLike = int32,
                 name: str | None = None) -> Tensor:
    """Finds the index at which each value could be inserted in a sorted sequence.

    Args:
      sorted_sequence: (*B, n), ascending along the last axis.
      values: (*B, m), the same dtype.
      side: 'left' (before equal elements) or 'right' (after them).
      out_type: int32 or int64.
      name: a name for the operations.
    Returns: (*B, m), `out_type`, each in [0, n].
    Raises: ValueError for another side or incompatible sizes.
    Gradient: None.
    Reference: TensorFlow 2.21 LowerBound and UpperBound.

    >>> sess.run(tf.searchsorted([1, 3, 5], [3, 4]))
    array([1, 2], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'")
    with name_scope(name, "searchsorted"):
        rows, values = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
        kind = raw.LowerBound if side == "left" else raw.UpperBound
        found = kind(_as_rows(rows), _as_rows(values), out_type=as_dtype(int32 if out_type is None else out_type))
        return reshape_like(found, values)


def _as_rows(tensor):
    """Returns the tensor with all axes but the last made one."""
    shape = tensor._spec.shape
    if shape is not None and len(shape) == 2:
        return tensor
    if shape is not None and shape[-1] is not None and 0 not in shape:
        return raw.Reshape(tensor, np.array([-1, shape[-1]], np.int32))
    sizes = shape_of(tensor)
    last = raw.StridedSlice(sizes, [-1], [0], [1], end_mask=1)
    return raw.Reshape(tensor, join([-1], last))


def bitcast(input: TensorLike, type: Any, name: str | None = None) -> Tensor:
    """Reinterprets the bits of a tensor as another type.

    Args:
      input: (*D), a number type.
      type: the dtype to read; a smaller one adds an axis, a larger one consumes the
        last axis.
      name: a name for the operation.
    Returns: a tensor of dtype `type`.
    Raises: ValueError if the last axis does not fit.
    Gradient: none is declared: LookupError.
    Reference: TensorFlow 2.21 Bitcast.

    >>> sess.run(tf.bitcast([1.0], tf.int32))
    array([1065353216], dtype=int32)
    """
    return raw.Bitcast(input, type=as_dtype(type), name=name)


def sort(values: TensorLike, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """Sorts along an axis.

    Args:
      values: (*P, n, *Q), real, P having `axis` dimensions.
      axis: int that is known while building.
      direction: 'ASCENDING' or 'DESCENDING'.
      name: a name for the operations.
    Returns: a tensor of the same shape and dtype.
    Raises: ValueError for another direction or axis.
    Gradient: dy in the original order.
    Reference: TensorFlow 2.21 `tf.sort`.

    >>> sess.run(tf.sort([3, 1, 2]))
    array([1, 2, 3], dtype=int32)
    """
    with name_scope(name, "sort"):
        return _sort(values, axis, direction, 0)


def argsort(values: TensorLike, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False,
            name: str | None = None) -> Tensor:
    """Returns the indices that would sort along an axis.

    Args:
      values: (*P, n, *Q), real, P having `axis` dimensions.
      axis: int that is known while building.
      direction: 'ASCENDING' or 'DESCENDING'.
      stable: whether equal elements keep their order; they always do.
      name: a name for the operations.
    Returns: a tensor of the same shape, int32.
    Raises: ValueError for another direction or axis.
    Gradient: None.
    Reference: TensorFlow 2.21 `tf.argsort`.

    >>> sess.run(tf.argsort([3, 1, 2]))
    array([1, 2, 0], dtype=int32)
    """
    with name_scope(name, "argsort"):
        return _sort(values, axis, direction, 1)


def _sort(values, axis, direction, which):
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Argument `direction` should be one of 'ASCENDING' or 'DESCENDING'. Received: {direction}")
    values = convert_to_tensor(values, name="values")
    at = constant_value(convert_to_tensor(axis)) if is_tensor_like(axis) else axis
    if at is None:
        raise ValueError("axis must be known while the graph is built. Fix: give an int")
    shape = values._spec.shape
    perm = back = None
    if shape is None and at != -1:
        perm = moved_to_last(values, int(at))
        back = raw.InvertPermutation(perm)
        values = raw.Transpose(values, perm)
    if shape is not None:
        at = normalize_axis(int(at), len(shape))
        if at != len(shape) - 1:
            perm = np.arange(len(shape), dtype=np.int32)
            perm[[at, -1]] = perm[[-1, at]]
            back = perm
            values = raw.Transpose(values, perm)
    # TopKV2 sorts in descending order: reverse it by -x, for integers by -1 - x, which cannot overflow.
    ascending = direction == "ASCENDING"
    turned = _turn(values) if ascending else values
    sizes = shape_of(turned)
    k = part(sizes, len(shape) - 1, len(shape)) if shape is not None else raw.StridedSlice(sizes, [-1], [0], [1],
                                                                                         end_mask=1)
    k = k.reshape(()) if isinstance(k, np.ndarray) else raw.Reshape(k, [])
    result = raw.TopKV2(turned, k)[which]
    if ascending and which == 0:
        result = _turn(result)
    return result if back is None else raw.Transpose(result, back)


def _turn(x):
    if x.dtype.is_unsigned:
        return raw.Sub(np.asarray(x.dtype.max, x.dtype.np_dtype), x)
    if x.dtype.is_integer:
        return raw.Sub(np.asarray(-1, x.dtype.np_dtype), x)
    return raw.Neg(x)


limit_ranks(vectors="UnravelIndex.dims")
