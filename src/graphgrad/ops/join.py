"""Joining and parting tensors: stack, concat, split, tile, and their reversals."""

from __future__ import annotations

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import INDEX, int32
from ..ir.opdef import NOT_DIFFERENTIABLE, op, raw
from ..ir.shape import is_fully_defined, merged, normalize_axis, shape_str, with_rank
from .known import host_array, rank_of, shape_of


@op("Pack", "values: N*T -> output: T")
def pack(xp, values, *, axis=0):
    """Tensors of one shape, joined along a new axis."""
    return xp.stack(values, _new_axis(axis, values[0].shape))


def _new_axis(axis, shape):
    return normalize_axis(axis, len(shape) + 1)


@pack.shape
def _pack_shape(values, axis, N):
    if not values:
        raise Complaint("needs at least one tensor", "give a list that is not empty")
    one = None
    for i, v in enumerate(values):
        try:
            one = merged(one, v)
        except Complaint:
            raise Complaint(f"Shapes must be equal: values[{i}] is {shape_str(v)}, those before it {shape_str(one)}",
                            "give tensors of one shape") from None
    if one is None:
        return None
    at = _new_axis(axis, one)
    return one[:at] + (N,) + one[at:]


@pack.grad
def _pack_grad(op, dy):
    return raw.Unpack(dy, num=op.get_attr("N"), axis=op.get_attr("axis"))


@op("Unpack", "value: T -> output: num*T")
def unpack(xp, value, *, num, axis=0):
    """The parts of a tensor along an axis, which they lose."""
    at = normalize_axis(axis, len(value.shape))
    if value.shape[at] != num:
        raise Complaint(f"dimension {at} has size {value.shape[at]}, not num={num}", "give num that size")
    pre = (slice(None),) * at
    return [value[(*pre, i)] for i in range(num)]


@unpack.on_device
def _unpack_device(xp, value, *, num, axis):
    from jax import lax

    at = normalize_axis(axis, len(value.shape))
    return [lax.index_in_dim(value, i, at, keepdims=False) for i in range(num)]


@unpack.shape
def _unpack_shape(value, num, axis):
    if value is None:
        return [None] * num
    at = normalize_axis(axis, len(value))
    if value[at] not in (None, num):
        raise Complaint(f"Dimension must be {num} but is {value[at]}: num differs from the size of axis {at}",
                        f"give num={value[at]}, or leave it out")
    return [value[:at] + value[at + 1 :]] * num


@unpack.grad
def _unpack_grad(op, *dys):
    return raw.Pack(dys, axis=op.get_attr("axis"))


def _concat_kernel(xp, values, axis):
    at = normalize_axis(int(axis.reshape(())), len(values[0].shape))
    _concat_shape([v.shape for v in values], at)
    return xp.concatenate(values, at)


def _concat_shape(values, axis):
    if isinstance(axis, tuple):
        if len(axis) != 1:
            raise Complaint("axis must be a scalar", "give one int")
        axis = axis[0]
    known = [v for v in values if v is not None]
    if not known:
        return None
    rank = len(known[0])
    if any(len(v) != rank for v in known):
        raise Complaint(f"Shapes must have one rank but are {', '.join(map(shape_str, values))}",
                        "tf.expand_dims the smaller ones, or tf.stack")
    if rank == 0:
        raise Complaint("Can't concatenate scalars", "use tf.stack instead")
    if axis is None:
        return (None,) * rank
    at = normalize_axis(axis, rank)
    sizes = [None if v is None else v[at] for v in values]
    rest = None
    for i, v in enumerate(values):
        if v is None:
            continue
        try:
            rest = merged(rest, v[:at] + (None,) + v[at + 1 :])
        except Complaint:
            raise Complaint(f"Dimensions other than {at} must be equal: values[{i}] is {shape_str(v)}, "
                            f"values[0] is {shape_str(values[0])}", "make all other sizes equal") from None
    return rest[:at] + (None if None in sizes else sum(sizes),) + rest[at + 1 :]


@op("ConcatV2", "values: N*T, axis: Tidx -> output: T", Tidx=INDEX, host=("axis",), shape=_concat_shape)
def concat_v2(xp, values, axis):
    """Tensors joined along an axis that they have."""
    return _concat_kernel(xp, values, axis)


@concat_v2.grad
def _concat_v2_grad(op, dy):
    return [*_concat_parts(dy, op.inputs[:-1], op.inputs[-1]), None]


def _concat_parts(dy, values, axis):
    """The parts of `dy` that belong to each of the concatenated `values`."""
    if len(values) == 1:
        return [dy]
    at = host_array(axis)
    if at is not None and values[0]._spec.shape is not None:
        at = normalize_axis(int(at), len(values[0]._spec.shape))
        sizes = [v._spec.shape[at] if v._spec.shape is not None else None for v in values]
        if None not in sizes:
            if len(set(sizes)) == 1:
                return raw.Split(np.int32(at), dy, num_split=len(sizes))
            return raw.SplitV(dy, np.asarray(sizes, np.int32), np.int32(at), num_split=len(sizes))
    elif axis.dtype is not int32:
        axis = raw.Cast(axis, DstT=int32)
    at = axis if at is None else np.int32(at)
    if at is axis:
        at = raw.FloorMod(axis, rank_of(values[0]))
    shapes = raw.ShapeN(list(values))
    offsets = raw.ConcatOffset(at, shapes)
    return [raw.Slice(dy, o, s) for o, s in zip(offsets, shapes, strict=True)]


def _concat_v1_shape(axis, values):
    return _concat_shape(values, axis)


@op("Concat", "concat_dim: int32, values: N*T -> output: T", host=("concat_dim",), shape=_concat_v1_shape)
def concat_v1_op(xp, axis, values):
    """Tensors joined along an axis that they have."""
    return _concat_kernel(xp, values, axis)


@concat_v1_op.grad
def _concat_v1_grad(op, dy):
    return [None, *_concat_parts(dy, op.inputs[1:], op.inputs[0])]


@op("ConcatOffset", "concat_dim: int32, shape: N*shape_type -> offset: N*shape_type", shape_type=INDEX,
    host=("concat_dim", "shape"))  # fmt: skip
def concat_offset(xp, axis, shapes):
    """Where each of the tensors with these shapes begins in their concatenation."""
    at = normalize_axis(int(axis), len(shapes[0]))
    offsets = []
    position = 0
    for s in shapes:
        offset = np.zeros_like(s)
        offset[at] = position
        position += int(s[at])
        offsets.append(offset)
    return offsets


@concat_offset.shape
def _concat_offset_shape(axis, shapes):
    return [None if s is None else (len(s),) for s in shapes]


concat_offset.grad(NOT_DIFFERENTIABLE)


@op("Split", "split_dim: int32, value: T -> output: num_split*T", host=("split_dim",))
def split_op(xp, axis, value, *, num_split):
    """The parts of equal size along an axis."""
    at = normalize_axis(int(axis.reshape(())), len(value.shape))
    _even(value.shape[at], num_split, at)
    return xp.split(value, num_split, at)


@split_op.on_device
def _split_device(xp, axis, value, *, num_split):
    at = normalize_axis(int(axis.reshape(())), len(value.shape))
    _even(value.shape[at], num_split, at)
    return _parts(value, [value.shape[at] // num_split] * num_split, at)


def _parts(value, sizes, at):
    from jax import lax

    stops = np.cumsum(sizes).tolist()
    return [lax.slice_in_dim(value, stop - n, stop, axis=at) for n, stop in zip(sizes, stops, strict=True)]


def _even(size, n, at):
    if n < 1:
        raise Complaint(f"num_split must be positive, not {n}", "give the number of parts")
    if size is not None and size % n:
        raise Complaint(f"dimension {at} of size {size} does not divide into {n} equal parts",
                        "give a divisor, or a list of sizes")


@split_op.shape
def _split_shape(axis, value, num_split):
    if value is None:
        return [None] * num_split
    if axis is None:
        return [(None,) * len(value)] * num_split
    at = normalize_axis(axis[0] if isinstance(axis, tuple) else axis, len(value))
    _even(value[at], num_split, at)
    size = None if value[at] is None else value[at] // num_split
    return [value[:at] + (size,) + value[at + 1 :]] * num_split


@split_op.grad
def _split_grad(op, *dys):
    return None, raw.ConcatV2(dys, op.inputs[0])


@op("SplitV", "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split*T", Tlen=INDEX,
    host=("size_splits", "split_dim"))  # fmt: skip
def split_v(xp, value, sizes, axis, *, num_split):
    """The parts of given sizes along an axis; one size may be -1."""
    at = normalize_axis(int(axis.reshape(())), len(value.shape))
    sizes = _all_sizes(tuple(sizes.tolist()), value.shape[at], at)
    return xp.split(value, np.cumsum(sizes)[:-1].tolist(), at)


@split_v.on_device
def _split_v_device(xp, value, sizes, axis, *, num_split):
    at = normalize_axis(int(axis.reshape(())), len(value.shape))
    return _parts(value, _all_sizes(tuple(sizes.tolist()), value.shape[at], at), at)


def _all_sizes(sizes, total, at):
    """The sizes with their -1 replaced, as far as they are known."""
    if None in sizes or total is None:
        return [None if s == -1 else s for s in sizes]
    given = sum(s for s in sizes if s != -1)
    if sizes.count(-1) > 1 or given > total or (-1 not in sizes and given != total):
        raise Complaint(f"sizes {list(sizes)} do not add up to {total}, the size of dimension {at}",
                        "make them add up, or let one of them be -1")
    return [total - given if s == -1 else s for s in sizes]


@split_v.shape
def _split_v_shape(value, sizes, axis, num_split):
    if value is None:
        return [None] * num_split
    if axis is None:
        return [(None,) * len(value)] * num_split
    at = normalize_axis(axis[0] if isinstance(axis, tuple) else axis, len(value))
    if sizes is None:
        return [value[:at] + (None,) + value[at + 1 :]] * num_split
    if len(sizes) != num_split:
        raise Complaint(f"size_splits has {len(sizes)} elements but num_split is {num_split}",
                        "give one size for each part")
    return [value[:at] + (s,) + value[at + 1 :] for s in _all_sizes(sizes, value[at], at)]


@split_v.grad
def _split_v_grad(op, *dys):
    return raw.ConcatV2(dys, op.inputs[2]), None, None


@op("Tile", "input: T, multiples: Tmultiples -> output: T", Tmultiples=INDEX, host=("multiples",))
def tile_op(xp, x, multiples):
    """The input repeated `multiples[i]` times along each axis i."""
    _tile_shape(x.shape, tuple(multiples.tolist()))
    return xp.tile(x, tuple(multiples.tolist()))


@tile_op.shape
def _tile_shape(x, multiples):
    if multiples is None:
        return None if x is None else (None,) * len(x)
    shape = with_rank(x, len(multiples))
    if any(m is not None and m < 0 for m in multiples):
        raise Complaint(f"Expected multiples >= 0, but got {list(multiples)}", "give multiples >= 0")
    return tuple([None if d is None or m is None else d * m for d, m in zip(shape, multiples, strict=True)])


@tile_op.grad
def _tile_grad(op, dy):
    x, multiples = op.inputs
    known = host_array(multiples)
    shape = x._spec.shape
    if known is not None and is_fully_defined(shape):
        # Axes that are not repeated need no split of their own.
        parts, summed = [], []
        for m, d in zip(known.tolist(), shape, strict=True):
            if m != 1:
                summed.append(len(parts))
                parts.append(m)
            parts.append(d)
        if not summed:
            return dy, None
        return raw.Sum(raw.Reshape(dy, np.asarray(parts, np.int32)), np.asarray(summed, np.int32)), None
    sizes = shape_of(x, multiples.dtype)
    parts = raw.Reshape(raw.Transpose(raw.Pack([multiples, sizes]), [1, 0]), [-1])
    return raw.Sum(raw.Reshape(dy, parts), raw.Range(0, raw.Size(parts), 2)), None
