"""ScatterNd, the tensor_scatter family, one-hot vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import ANY, BOOL, INDEX, NUMERIC, REAL, as_dtype, float32, int8, uint8
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import compatible, normalize_axis, shape_str
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.op_traits import Dependence, Linear
from graphgrad.ops.common.attribute_values import as_int
from graphgrad.ops.common.dependence import added_to, numbers
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.row_sums import LARGE, sums_by_row

from .gather import check_policy, coordinates, outside, within


def _check_updates(indices, updates, shape, what):
    if indices == ():
        raise Complaint("indices must be at least a vector", "give one coordinate for each axis to index")
    if indices is None or updates is None or shape is None or indices[-1] is None:
        return
    if indices[-1] > len(shape):
        raise Complaint(f"indices.shape[-1] = {indices[-1]} must be at most the rank {len(shape)} of {what}",
                        "give fewer coordinates")
    wanted = indices[:-1] + tuple(shape[indices[-1] :])
    if not compatible(wanted, updates):
        raise Complaint(f"updates must have shape {shape_str(wanted)} = indices.shape[:-1] + {what}.shape"
                        f"[{indices[-1]}:] but has {shape_str(updates)}", "give one slice for each index")


def _apply(xp, tensor, indices, updates, method, bad_indices_policy="", zeros=False):
    """Combines `updates` into `tensor`, which may be known to be zeros, at the coordinates `indices`."""
    if method == "add" and tensor.dtype == bool:
        method = "max"  # the sum of bools is whether any of them is True
    if xp is np:
        result = np.array(tensor)
        if bad_indices_policy == "IGNORE":
            inside = within(indices, tensor.shape)
            indices, updates = indices[inside], updates[inside]
        at = coordinates(np, indices, tensor.shape)
        if not at:  # every update is of the whole tensor
            at = (Ellipsis,)
            for u in updates.reshape(-1, *tensor.shape):
                _UFUNCS[method](result, at, u)
            return result
        if zeros and len(at) == 1 and updates.size >= max(LARGE, 2 * at[0].size) and result.dtype.char in "fdFD":
            return sums_by_row(updates.reshape(-1, *tensor.shape[1:]), at[0].reshape(-1), len(tensor))
        _UFUNCS[method](result, at, updates)
        return result
    if not indices.shape[-1]:
        tensor = xp.asarray(tensor)
        flat = xp.reshape(updates, (-1, *tensor.shape))
        zero = xp.zeros(flat.shape[:1], np.int32)
        return getattr(tensor[None].at[zero], method)(flat)[0]
    if method in ("add", "set") and indices.shape[-1] == 1 == np.prod(indices.shape):
        return _apply_to_row(xp, xp.asarray(tensor), indices.reshape(()), updates, method == "add")
    at = tuple([indices[..., i] for i in range(indices.shape[-1])])
    # Indices out of range are skipped, and rejected, see below.
    return getattr(xp.asarray(tensor).at[at], method)(updates, mode="drop", wrap_negative_indices=False)


def _apply_to_row(xp, tensor, row, updates, adds):
    """Does the same for one row, without a scatter: XLA updates it in place."""
    n = tensor.shape[0]
    updates = xp.reshape(updates, (1, *tensor.shape[1:]))
    if not n:
        return tensor
    before = lax_of(xp).dynamic_slice_in_dim(tensor, row, 1)
    after = before + updates if adds else updates
    after = xp.where((row >= 0) & (row < n), after, before)  # out of range: omitted
    return lax_of(xp).dynamic_update_slice_in_dim(tensor, after, row, 0)


def _set(result, at, updates):
    result[at] = updates


_UFUNCS = {"set": _set, "add": np.add.at, "subtract": np.subtract.at, "max": np.maximum.at, "min": np.minimum.at}


@op("ScatterNd", "indices: Tindices, updates: T, shape: Tindices -> output: T", T=NUMERIC | BOOL, Tindices=INDEX,
    host=("shape",), eager_seconds=1e-9, linear=Linear.JOINTLY)
def scatter_nd_op(xp, indices, updates, shape, *, bad_indices_policy=""):
    """Adds `updates` into zeros of the given shape at the coordinates `indices`."""
    return _apply(xp, np.zeros(shape, updates.dtype), indices, updates, "add", bad_indices_policy, zeros=True)


def _rows_written(op, indices, updates, shape):
    """Returns for each element of the updates the number of the element of the result at which it arrives."""
    inside = within(indices, shape)
    depth = indices.shape[-1]
    numbered = numbers(shape).reshape(*shape[:depth], -1)
    at = numbered[tuple(np.where(inside, indices[..., i], 0) for i in range(depth))]
    return np.where(inside[..., None], at, -1)


@scatter_nd_op.dependences
def _scatter_elements(op, values, index):
    if values[0] is None or 0 in op.outputs[0]._spec.shape:
        return None
    shape = op.outputs[0]._spec.shape
    return [None, added_to(shape, _rows_written(op, values[0], op.inputs[1], shape)), None]


def _tensor_scatter_elements(op, values, index):
    if values[1] is None or 0 in op.outputs[0]._spec.shape:
        return None
    shape = op.outputs[0]._spec.shape
    rows = _rows_written(op, values[1], op.inputs[2], shape)
    kept = numbers(shape).ravel()
    if op.type == "TensorScatterUpdate":
        kept = np.where(np.isin(kept, rows), -1, kept)
    return [Dependence(kept), None, added_to(shape, rows)]


@scatter_nd_op.shape
def _scatter_nd_shape(indices, updates, shape, bad_indices_policy):
    check_policy(bad_indices_policy)
    _check_updates(indices, updates, shape, "shape")
    return shape


@scatter_nd_op.refuses("indices")
def _scatter_nd_refuses(xp, indices, updates, shape, bad_indices_policy=""):
    return outside(indices, shape.tolist(), bad_indices_policy)


@scatter_nd_op.grad
def _scatter_nd_grad(op, dy):
    return None, _picked(op, dy, op.inputs[0]), None


def _picked(op, dy, indices):
    """Gathers the gradient of each of the op's updates: zero for ignored ones."""
    return raw.GatherNd(dy, indices, bad_indices_policy=op.attrs.get("bad_indices_policy", ""))


def _tensor_scatter_shape(tensor, indices, updates, bad_indices_policy):
    check_policy(bad_indices_policy)
    _check_updates(indices, updates, tensor, "tensor")
    return tensor


def _tensor_scatter(name, method, allowed, doc):
    @op(name, "tensor: T, indices: Tindices, updates: T -> output: T", T=allowed, Tindices=INDEX,
        shape=_tensor_scatter_shape, dependence=_tensor_scatter_elements,
        linear=None if method in ("max", "min") else Linear.JOINTLY)
    def kernel(xp, tensor, indices, updates, *, bad_indices_policy=""):
        return _apply(xp, tensor, indices, updates, method, bad_indices_policy)

    kernel.__doc__ = doc
    kernel.refuses("indices")(_tensor_scatter_refuses)
    return kernel


def _tensor_scatter_refuses(xp, tensor, indices, updates, bad_indices_policy=""):
    return outside(indices, tensor.shape, bad_indices_policy)


tensor_scatter_update_op = _tensor_scatter(
    "TensorScatterUpdate", "set", ANY, "`tensor` with the slices at `indices` replaced.")
tensor_scatter_add_op = _tensor_scatter(
    "TensorScatterAdd", "add", NUMERIC, "`tensor` with `updates` added to the slices at `indices`.")
tensor_scatter_sub_op = _tensor_scatter(
    "TensorScatterSub", "subtract", NUMERIC, "`tensor` less `updates` in the slices at `indices`.")
tensor_scatter_max_op = _tensor_scatter(
    "TensorScatterMax", "max", REAL, "The larger of `updates` and the slices of `tensor` at `indices`.")
tensor_scatter_min_op = _tensor_scatter(
    "TensorScatterMin", "min", REAL, "The smaller of `updates` and the slices of `tensor` at `indices`.")


@tensor_scatter_update_op.grad
def _tensor_scatter_update_grad(op, dy):
    _, indices, updates = op.inputs
    policy = {"bad_indices_policy": op._attr("bad_indices_policy")}
    return raw.TensorScatterUpdate(dy, indices, raw.ZerosLike(updates), **policy), None, _picked(op, dy, indices)


@tensor_scatter_add_op.grad
def _tensor_scatter_add_grad(op, dy):
    return dy, None, _picked(op, dy, op.inputs[1])


scatter_nd_non_aliasing_op = op(
    "ScatterNdNonAliasingAdd", "input: T, indices: Tindices, updates: T -> output: T", T=NUMERIC, Tindices=INDEX,
    shape=_tensor_scatter_shape, linear=Linear.JOINTLY)(tensor_scatter_add_op.kernel)
scatter_nd_non_aliasing_op.refuses("indices")(_tensor_scatter_refuses)
scatter_nd_non_aliasing_op.grad(_tensor_scatter_add_grad)


@tensor_scatter_sub_op.grad
def _tensor_scatter_sub_grad(op, dy):
    return dy, None, raw.Neg(_picked(op, dy, op.inputs[1]))


@tensor_scatter_max_op.grad
@tensor_scatter_min_op.grad
def _tensor_scatter_extremum_grad(op, dy):
    # Where several values tie, each gets the same share.
    tensor, indices, updates = op.inputs
    out = op.outputs[0]
    own = raw.Cast(raw.Equal(tensor, out), DstT=dy.dtype)
    theirs = raw.Cast(raw.Equal(updates, _picked(op, out, indices)), DstT=dy.dtype)
    policy = {"bad_indices_policy": op._attr("bad_indices_policy")}
    share = raw.RealDiv(dy, raw.TensorScatterAdd(own, indices, theirs, **policy))
    return raw.Mul(share, own), None, raw.Mul(_picked(op, share, indices), theirs)


# -- one-hot -----------------------------------------------------------------------


@op("OneHot", "indices: TI, depth: int32, on_value: T, off_value: T -> output: T", TI=INDEX | {uint8, int8},
    host=("depth",))
def one_hot_op(xp, indices, depth, on_value, off_value, *, axis=-1):
    """Returns `on_value` at the positions `indices` along a new axis, `off_value` elsewhere."""
    _check_depth(int(depth))
    at = normalize_axis(axis, len(indices.shape) + 1)
    shape = [1] * (len(indices.shape) + 1)
    shape[at] = int(depth)
    if xp is np and depth and (indices.size == 0 or (indices.min() >= 0 and indices.max() < depth)):
        result = np.full((*indices.shape[:at], int(depth), *indices.shape[at:]), off_value, on_value.dtype)
        np.put_along_axis(result, np.expand_dims(indices.astype(np.int64), at), on_value, at)
        return result
    places = np.arange(int(depth)).astype(np.int64).reshape(shape)
    return xp.where(xp.expand_dims(indices, at) == places, on_value, off_value)


def _check_depth(depth):
    if depth is not None and depth < 0:
        raise Complaint(f"depth must be non-negative, got: {depth}", "give the number of classes")


@one_hot_op.shape
def _one_hot_shape(indices, depth, on_value, off_value, axis):
    if isinstance(depth, tuple) or on_value not in (None, ()) or off_value not in (None, ()):
        raise Complaint("depth, on_value and off_value must be scalars", "give one number each")
    _check_depth(depth)
    if indices is None:
        return None
    at = normalize_axis(axis, len(indices) + 1)
    return indices[:at] + (depth,) + indices[at:]


one_hot_op.grad(NOT_DIFFERENTIABLE)


# -- functions ---------------------------------------------------------------------


def one_hot(indices: TensorLike, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None,
            dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Makes vectors that have one value at the position of an index and another one elsewhere.

    Args:
      indices: (*I), uint8, int8, int32 or int64; an index outside of [0, depth) gives only `off_value`.
      depth: scalar int, the length of the vectors.
      on_value, off_value: scalars of one dtype; 1 and 0 by default.
      axis: int, where the new axis goes; -1, the end, by default.
      dtype: the dtype; that of the values, else float32.
      name: a name for the operation.
    Returns: I with `depth` inserted at `axis`.
    Raises: TypeError if dtypes differ; ValueError for a negative depth.
    Gradient: None.
    Reference: TensorFlow 2.21 OneHot.

    >>> sess.run(tf.one_hot([1, 0], 2))
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    wanted = None if dtype is None else as_dtype(dtype)
    given = [_dtype_of(v, wanted) for v in (on_value, off_value) if v is not None]
    for found in given:
        if found is not (wanted or given[0]):
            raise TypeError(f"dtypes of on_value, off_value and dtype must agree: {found.name} is not "
                            f"{(wanted or given[0]).name}. Fix: tf.cast the values, or leave dtype out")
    final = wanted or (given[0] if given else float32)
    on, off = (final.np_dtype.type(d) if v is None else v if is_tensor_like(v) else convert_to_tensor(v, final)
               for v, d in ((on_value, 1), (off_value, 0)))
    return raw.OneHot(indices, depth, on, off, axis=-1 if axis is None else as_int(axis, "axis"),
                      name=name or "one_hot")


def _dtype_of(value, wanted):
    if is_tensor_like(value):
        return value.dtype
    return wanted if wanted is not None else convert_to_tensor(value).dtype


def scatter_nd(indices: TensorLike, updates: Any, shape: TensorLike, bad_indices_policy: str = "",
               name: str | None = None) -> Tensor:
    """Adds slices into zeros at coordinates.

    Args:
      indices: (*I, k), int32 or int64: coordinates into the first k axes of `shape`.
      updates: (*I, *shape[k:]), a number type; those of one position are added.
      shape: an integer vector, dtype of `indices`.
      bad_indices_policy: "IGNORE" ignores slices whose index is out of range; "ERROR" rejects them, as the default.
      name: a name for the operation.
    Returns: a tensor of that shape, dtype of `updates`.
    Raises: ValueError if shapes are incompatible; InvalidArgumentError at run time if an index is out of range (an
      accelerator ignores such a slice).
    Gradient: GatherNd for updates; None for the rest.
    Reference: TensorFlow 2.21 ScatterNd.

    >>> sess.run(tf.scatter_nd([[1], [3]], [9, 8], [4]))
    array([0, 9, 0, 8], dtype=int32)
    """
    if is_tensor_like(indices) and not is_tensor_like(shape):
        shape = convert_to_tensor(shape, indices.dtype)
    elif is_tensor_like(shape) and not is_tensor_like(indices):
        indices = convert_to_tensor(indices, shape.dtype)
    return raw.ScatterNd(indices, updates, shape, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_update(tensor: TensorLike, indices: TensorLike, updates: Any, name: str | None = None) -> Tensor:
    """Replaces slices of a tensor at coordinates.

    Args:
      tensor: (*P, *Q), any dtype.
      indices: (*I, k), int32 or int64: coordinates into P, which has k axes.
      updates: (*I, *Q), dtype of `tensor`. If several have one position, any may win.
      name: a name for the operation.
    Returns: a tensor of the same shape and dtype.
    Raises: ValueError if shapes are incompatible; InvalidArgumentError at run time if an index is out of range (an
      accelerator ignores such a slice).
    Gradient: dy with zeros at those positions for tensor, GatherNd for updates, None for indices.
    Reference: TensorFlow 2.21 TensorScatterUpdate.

    >>> sess.run(tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9]))
    array([1, 9, 3], dtype=int32)
    """
    return raw.TensorScatterUpdate(tensor, indices, updates, name=name)


def tensor_scatter_nd_add(tensor: TensorLike, indices: TensorLike, updates: Any, bad_indices_policy: str = "",
                          name: str | None = None) -> Tensor:
    """Adds to slices of a tensor at coordinates.

    Args:
      tensor: (*P, *Q), a number type.
      indices: (*I, k), int32 or int64: coordinates into P, which has k axes.
      updates: (*I, *Q), dtype of `tensor`; those of one position are all added.
      bad_indices_policy: "IGNORE" ignores slices whose index is out of range; "ERROR" rejects them, as the default.
      name: a name for the operation.
    Returns: a tensor of the same shape and dtype.
    Raises: as `tensor_scatter_nd_update`.
    Gradient: dy for tensor, GatherNd for updates, None for indices.
    Reference: TensorFlow 2.21 TensorScatterAdd.

    >>> sess.run(tf.tensor_scatter_nd_add([1, 2, 3], [[1], [1]], [5, 5]))
    array([ 1, 12,  3], dtype=int32)
    """
    return raw.TensorScatterAdd(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_sub(tensor: TensorLike, indices: TensorLike, updates: Any, bad_indices_policy: str = "",
                          name: str | None = None) -> Tensor:
    """Subtracts from slices of a tensor at coordinates.

    Args:
      tensor, indices, updates, bad_indices_policy, name: as for `tensor_scatter_nd_add`.
    Returns: a tensor of the same shape and dtype.
    Raises: as `tensor_scatter_nd_update`.
    Gradient: dy for tensor, -GatherNd for updates, None for indices.
    Reference: TensorFlow 2.21 TensorScatterSub.

    >>> sess.run(tf.tensor_scatter_nd_sub([1, 2, 3], [[1]], [5]))
    array([ 1, -3,  3], dtype=int32)
    """
    return raw.TensorScatterSub(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_max(tensor: TensorLike, indices: TensorLike, updates: Any, bad_indices_policy: str = "",
                          name: str | None = None) -> Tensor:
    """Raises slices of a tensor at coordinates to at least the updates.

    Args:
      tensor, indices, updates, bad_indices_policy, name: as for `tensor_scatter_nd_add`; real.
    Returns: a tensor of the same shape and dtype.
    Raises: as `tensor_scatter_nd_update`.
    Gradient: dy for the largest values, in equal shares for equal ones; None for indices.
    Reference: TensorFlow 2.21 TensorScatterMax.

    >>> sess.run(tf.tensor_scatter_nd_max([1, 2, 3], [[1], [2]], [5, 0]))
    array([1, 5, 3], dtype=int32)
    """
    return raw.TensorScatterMax(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_min(tensor: TensorLike, indices: TensorLike, updates: Any, bad_indices_policy: str = "",
                          name: str | None = None) -> Tensor:
    """Lowers slices of a tensor at coordinates to at most the updates.

    Args:
      tensor, indices, updates, bad_indices_policy, name: as for `tensor_scatter_nd_add`; real.
    Returns: a tensor of the same shape and dtype.
    Raises: as `tensor_scatter_nd_update`.
    Gradient: dy for the smallest values, in equal shares for equal ones; None for indices.
    Reference: TensorFlow 2.21 TensorScatterMin.

    >>> sess.run(tf.tensor_scatter_nd_min([1, 2, 3], [[1], [2]], [5, 0]))
    array([1, 2, 0], dtype=int32)
    """
    return raw.TensorScatterMin(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


limit_ranks(vectors="ScatterNd.shape")
